'use strict'

/**
 * A long run of the hand-off: `npm run soak [requests] [recycles] [every] [think]`, by default 1,000,000 requests over
 * at least 200 recycles on 200 keep-alive connections. `every`: a recycle begins so many milliseconds after the one
 * before, by default 0, at once; `npm run soak 0 600 1000` is ten minutes with a recycle a second. `think`: so long
 * each client waits between two requests, by default half of them 50 ms and half not at all;
 * `npm run soak 0 1000 0 1000` is a thousand recycles in a row at 200 requests a second.
 *
 * The fleet is `recycle` in a process of its own, and so are the clients. It fails on one failed request, one
 * reconnect, one account that does not add up, or, from 500 recycles on, if the primary grows by more than FLAT: its
 * memory and descriptors are read at each recycle, and their slopes are printed with their standard errors. SIGINT or
 * SIGTERM ends it early.
 */

const { fork } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connect } = require('../lib/control/client')
const { startCli, sumOfEnds, FIXTURES } = require('./support/fleet')
const { Load } = require('./support/load')

const CONNECTIONS = 200
const THINK_MS = 50
const WORKERS = 4
const FLAT = { rssKib: 16, descriptors: 0.01 } // per recycle
const JUDGED_FROM = 500 // recycles; in the first 200 the primary was seen to rise by 18 MiB, and to fall by 12 again

if (process.argv[2] === 'client') client(Number(process.argv[3]), process.argv[4] ? [Number(process.argv[4])] : [0, THINK_MS])
else main(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 200), Number(process.argv[4] ?? 0))

/** @param {number} port @param {number[]} thinks of equal shares of the clients */
function client (port, thinks) {
  const loads = thinks.map(thinkMs => new Load({ port, connections: CONNECTIONS / thinks.length, thinkMs }))
  const timer = setInterval(() => process.send?.({ requests: sum(loads, 'requests') }), 200)
  process.once('message', async () => {
    clearInterval(timer)
    const counts = await Promise.all(loads.map(load => load.stop()))
    process.send?.({
      requests: sum(counts, 'requests'),
      failures: counts.flatMap(c => c.failures),
      sockets: sum(counts, 'sockets'),
      isFinal: true
    })
    process.disconnect()
  })
}

/** @param {number} requests @param {number} recycles @param {number} everyMs */
async function main (requests, recycles, everyMs) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'soak-'))
  const socket = path.join(folder, 'control')
  const { port, child, events, exited } = await startCli({ teardown () {} }, ['-w', String(WORKERS), '-i', '200ms', '--control', socket, path.join(FIXTURES, 'plain.js')])
  await events.until('worker.ready', { count: WORKERS })
  const control = await connect(socket)
  /** @type {Record<string, any>[]} */
  const accounts = []
  events.on('line', line => { if (line.event === 'recycled') accounts.push(line) })

  const began = Date.now()
  const clients = fork(__filename, ['client', String(port), ...process.argv.slice(5)], { detached: true })
  let last = { requests: 0 }
  clients.on('message', counts => { last = counts })
  /** @type {[number, number][]} */
  const rss = []
  /** @type {[number, number][]} */
  const descriptors = []
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())
  for (let i = 0; !ending.signal.aborted && (last.requests < requests || accounts.length < recycles); i++) {
    await Promise.all([control.call('recycle', { target: i % WORKERS }), sleep(everyMs)])
    rss.push([i, rssKib(child.pid)])
    descriptors.push([i, fs.readdirSync(`/proc/${child.pid}/fd`).length])
    if (process.stderr.isTTY) process.stderr.write(`\r${last.requests} requests, ${accounts.length} recycles `)
  }
  clients.send('stop')
  await new Promise(resolve => clients.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
  control.close()
  fs.rmSync(folder, { recursive: true })

  const drains = accounts.map(a => a.drainMs).sort((a, b) => a - b)
  const wrong = accounts.filter(a => a.cut > 0 || a.unacked > 0 || a.unaccounted > 0 || sumOfEnds(a) !== a.connections)
  const slopes = { rss: slope(rss), descriptors: slope(descriptors) }
  const figures = {
    node: process.version,
    seconds: Math.round((Date.now() - began) / 1000),
    requests: last.requests,
    failed: last.failures.length,
    reconnects: last.sockets - CONNECTIONS,
    recycles: accounts.length,
    moved: accounts.reduce((total, a) => total + a.moved, 0),
    accountsThatDoNotAddUp: wrong.length,
    primary: {
      rssKibPerRecycle: shown(slopes.rss),
      descriptorsPerRecycle: shown(slopes.descriptors),
      rssMib: rss.map(([, kib]) => Math.round(kib / 1024)).filter((_, i) => (i + 1) % Math.ceil(rss.length / 8) === 0),
      descriptors: descriptors.at(-1)?.[1]
    },
    drainMs: { median: drains[drains.length >> 1], longest: drains.at(-1) }
  }
  console.log(JSON.stringify(figures, null, 2))
  for (const failure of last.failures.slice(0, 20)) console.error(failure)
  const isSteep = rss.length >= JUDGED_FROM &&
    (slopes.rss.perRecycle > FLAT.rssKib || slopes.descriptors.perRecycle > FLAT.descriptors)
  process.exitCode = figures.failed || figures.reconnects || wrong.length || isSteep ? 1 : 0
}

/**
 * By least squares, without the first quarter, in which a process grows into its work.
 *
 * @param {[number, number][]} points
 * @returns {{ perRecycle: number, error: number }} `error`: the standard error
 */
function slope (points) {
  const kept = points.slice(points.length >> 2)
  const mean = (/** @type {(point: [number, number]) => number} */ of) =>
    kept.reduce((sum, point) => sum + of(point), 0) / kept.length
  const [x, y] = [mean(([x]) => x), mean(([, y]) => y)]
  const spread = mean(point => (point[0] - x) ** 2)
  const perRecycle = mean(point => (point[0] - x) * (point[1] - y)) / spread
  const error = Math.sqrt(mean(point => (point[1] - y - perRecycle * (point[0] - x)) ** 2) /
    (spread * (kept.length - 2)))
  return { perRecycle, error }
}

/** @param {{ perRecycle: number, error: number }} slope */
function shown ({ perRecycle, error }) {
  return `${perRecycle.toFixed(3)} ± ${error.toFixed(3)}`
}

/** @param {number} pid */
function rssKib (pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
}

/** @param {Record<string, any>[]} list @param {string} key */
function sum (list, key) {
  return list.reduce((total, item) => total + item[key], 0)
}
