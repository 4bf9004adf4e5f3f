'use strict'

// node examples/capacity: logs idle clients in until something gives, by heap limit and buffer of each connection; then
// a storm of logins, against one process and against a fleet. See README.md beside this file.
const fs = require('node:fs')
const os = require('node:os')
const { parseArgs } = require('node:util')
const bytes = require('bytes')
const ms = require('ms')
const { fill } = require('./capacity')
const { availableBytes, clientProcesses, readLimits, OWN_DESCRIPTORS } = require('./limits')
const { outcome, storm } = require('./storm')

const USAGE = 'usage: node examples/capacity [--heap 128MiB,1GiB,…] [--buffer 128KiB,8KiB,0] [--descriptors <n>] [--storm <clients>] [--pings <time>] [--max-rss <size>] [--workers <n>] [--only table|storm] [--json <file>] [--quick]'
const FULL = { heap: '128MiB,1GiB,2GiB,16GiB', buffer: '128KiB,8KiB,0', storm: '20000', pings: '2m', 'max-rss': '100MiB', workers: 'auto' }
const QUICK = { heap: '8MiB,1GiB', buffer: '8KiB', descriptors: '2500', storm: '600', pings: '500ms', 'max-rss': '100MiB', workers: '2' }
/** What was published in 2009; that of 8 KiB without its heap limit. @type {Record<string, Record<string, string>>} */
const PUBLISHED = { '128MiB': { '128KiB': '800' }, '1GiB': { '128KiB': '6,000' }, '2GiB': { '128KiB': '12,000', '8KiB': '64,000' } }

/** @typedef {ReturnType<typeof readArgs>} Plan */

/** @param {string[]} args */
function readArgs (args) {
  const text = { type: /** @type {const} */ ('string') }
  const { values } = parseArgs({ args, options: { heap: text, buffer: text, descriptors: text, storm: text, pings: text, 'max-rss': text, workers: text, only: text, json: text, quick: { type: 'boolean' } } })
  const chosen = { ...values.quick ? QUICK : FULL, ...values }
  const machineBytes = os.totalmem() * 0.9
  const plan = {
    heaps: sizes('--heap', chosen.heap).map(heap => Math.min(heap, Math.floor(machineBytes))),
    buffers: sizes('--buffer', chosen.buffer),
    descriptors: chosen.descriptors === undefined ? Infinity : count('--descriptors', chosen.descriptors),
    storm: count('--storm', chosen.storm),
    pingsMs: ms(/** @type {ms.StringValue} */ (chosen.pings)),
    maxRss: chosen['max-rss'],
    workers: chosen.workers,
    only: chosen.only,
    json: chosen.json
  }
  if (!(plan.pingsMs > 0)) throw new Error(`--pings takes a time such as 2m: ${chosen.pings}`)
  if (plan.only !== undefined && !['table', 'storm'].includes(plan.only)) throw new Error(`--only takes table or storm: ${plan.only}`)
  return plan
}

/** @param {string} flag @param {string} list */
function sizes (flag, list) {
  return list.split(',').map(text => {
    const size = bytes.parse(text.replace(/iB$/, 'B'))
    if (size === null || size < 0) throw new Error(`${flag} takes sizes such as 128MiB,1GiB: ${text}`)
    return size
  })
}

/** @param {string} flag @param {string} text */
function count (flag, text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${flag} takes a whole number: ${text}`)
  return Number(text)
}

/** @param {string} line */
function say (line) {
  process.stdout.write(`${line}\n`)
}

const whole = (/** @type {number} */ number) => Math.round(number).toLocaleString('en')
const mib = (/** @type {number} */ size) => whole(size / 1024 ** 2)
const size = (/** @type {number} */ value) => value === 0 ? 'none' : bytes.format(value, { unitSeparator: '', decimalPlaces: 1 })?.replace('B', 'iB') ?? ''

/** @param {import('./capacity').Cell['foreseen']} foreseen @param {string} cause */
function at (foreseen, cause) {
  const clients = foreseen?.find(limit => limit.cause === cause)?.clients
  return clients === undefined ? '' : whole(clients)
}

/** @param {Plan} plan @param {import('./limits').Limits} limits @param {number} cpus */
async function table ({ heaps, buffers }, limits, cpus) {
  const cells = []
  for (const bufferBytes of buffers) {
    for (const heapLimitBytes of heaps) {
      const name = `heap ${size(heapLimitBytes)}, buffer ${size(bufferBytes)}`
      const cell = await fill({ heapLimitBytes, bufferBytes }, limits, cpus, ([first, ...others]) => say(`${name}: ${first.cause} will give, at about ${whole(first.clients)} clients (${others.map(({ cause, clients }) => `${cause} at ${whole(clients)}`).join(', ')})`))
      say(`${name}: ${whole(cell.clients)} clients; ${cell.gave} gave (heap ${mib(cell.heapUsedBytes)} MiB, off-heap buffers ${mib(cell.buffersBytes)}, RSS ${mib(cell.residentBytes)}; ${whole(cell.descriptors)} descriptors)`)
      cells.push(cell)
    }
  }
  say('')
  say('| heap limit | buffer | clients | what gave | foreseen: descriptors | heap | memory | heap MiB | off-heap buffers MiB | RSS MiB | descriptors | published |')
  say('|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|')
  for (const {
    heapLimitBytes, bufferBytes, clients, gave, foreseen, heapUsedBytes, buffersBytes, residentBytes, descriptors
  } of cells) {
    const [heap, buffer] = [size(heapLimitBytes), size(bufferBytes)]
    say(`| ${[heap, buffer, whole(clients), gave, ...['descriptors', 'heap', 'memory'].map(cause => at(foreseen, cause)), mib(heapUsedBytes), mib(buffersBytes), mib(residentBytes), whole(descriptors), PUBLISHED[heap]?.[buffer] ?? ''].join(' | ')} |`)
  }
  return cells
}

/** @param {Plan} plan @param {import('./limits').Limits} limits @param {number} cpus */
async function storms ({ storm: clients, buffers, pingsMs, maxRss, workers }, limits, cpus) {
  const bufferBytes = buffers.includes(8192) ? 8192 : buffers[0]
  const most = limits.descriptors - OWN_DESCRIPTORS
  say(`\nA storm of ${whole(clients)} logins at once, with a buffer of ${size(bufferBytes)} each; then a ping of each within ${ms(pingsMs)}.`)
  say(clients > most
    ? `One process has descriptors for about ${whole(most)} clients: it will shed the others. A fleet shares them out.`
    : `One process has descriptors for about ${whole(most)} clients, which is enough.`)
  if (clients > limits.backlog) say(`${whole(limits.backlog)} connections can wait to be accepted: beyond that the kernel has clients try again, after 1 s, 3 s and 7 s.`)
  const results = []
  for (const budget of [null, maxRss]) {
    const result = await storm({ clients, bufferBytes, pingsMs, maxRss: budget, workers }, limits, cpus)
    const { recycles = 0, cut = 0, crashes = 0 } = result.fleet ?? {}
    say(`${result.subject}: ${outcome(result)}${result.fleet ? `, over ${whole(recycles)} recycles with ${whole(cut)} cut${crashes > 0 ? `, and ${whole(crashes)} crashes` : ''}` : ''}`)
    results.push(result)
  }
  say('')
  say('| server | logged in | over s | login ms: min | p50 | p99 | max | ping ms: min | p50 | p99 | max | outcome |')
  say('|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|')
  for (const result of results) {
    const { subject, loggedIn, overMs, login, ping } = result
    const four = (/** @type {import('./storm').Times} */ times) => times ? [times.min, times.p50, times.p99, times.max].map(time => time < 10 ? time.toFixed(1) : whole(time)) : ['', '', '', '']
    say(`| ${[subject, whole(loggedIn), (overMs / 1000).toFixed(1), ...four(login), ...four(ping), outcome(result)].join(' | ')} |`)
  }
  return results
}

async function main () {
  const plan = readArgs(process.argv.slice(2))
  const limits = readLimits()
  const cpus = os.availableParallelism()
  limits.descriptors = Math.min(limits.descriptors, plan.descriptors)
  say(`Limits: ${whole(limits.descriptors)} descriptors a process, ${whole(limits.ports)} ports an address, ${whole(availableBytes() / 1024 ** 2)} MiB of memory available, ${cpus} CPUs.`)
  const processes = clientProcesses(Math.max(limits.descriptors, plan.storm), limits, cpus)
  say(`So: at most ${whole(limits.descriptors - OWN_DESCRIPTORS)} clients of one server process, and ${processes.length} client processes, each on an address of its own.\n`)
  const cells = plan.only === 'storm' ? [] : await table(plan, limits, cpus)
  const results = plan.only === 'table' ? [] : await storms(plan, limits, cpus)
  if (plan.json) fs.writeFileSync(plan.json, JSON.stringify({ limits, cells, storms: results }, null, 2))
}

main().catch(error => {
  process.stderr.write(`capacity: ${error.message}\n${/^--|ption/.test(error.message) ? `${USAGE}\n` : ''}`)
  process.exit(2)
})
