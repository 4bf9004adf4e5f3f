'use strict'

/**
 * What a fleet keeps of what has passed: `npm run growth [recycles] [fleet]`, by default 1,000 and each of FLEETS.
 * Beside the recycles there are a fiftieth as many reloads, a fifth as many scalings, and 500 times as many
 * connections, of one request each. Before and after each kind of deed the primary collects, by its inspector, and
 * tells what is alive, its RSS and descriptors; beside them those of the mold, and of a worker that is as old as the
 * fleet. It fails where the primary keeps more than MOST_BYTES a recycle, or a process has more descriptors than
 * before.
 */

const { fork } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const inspector = require('node:inspector')
const os = require('node:os')
const path = require('node:path')
const v8 = require('node:v8')
const { setTimeout: passed } = require('node:timers/promises')
const { supervise } = require('..')
const { freePort, FIXTURES } = require('./support/fleet')

/** @type {Record<string, Record<string, any>>} */
const FLEETS = {
  spawned: {},
  forked: { fork: 'mold' },
  'every feature': {
    standby: 1, health: '/', memoryByRoute: true, sticky: 'cookie:sid', maxRss: '900MiB', onBudget: 'collect', maxHeap: '90%', maxFds: '90%', maxLag: '30s', replayAfter: '1s', admin: 0
  }
}
const WORKERS = 2
const OLD = 0 // its worker is not recycled
const MOST_BYTES = 100 // a recycle
/** The live page has the latest 500 recycles and ten minutes of figures, --sticky the latest sessions. */
const BOUNDED_BYTES = 1_000_000
const NOISE_BYTES = 150_000 // of a whole run: functions that are called for the first time, tables that grow
const SETTLE_MS = 500 // what has ended is closed in turns of the event loop, and by timers
const LOOKS = 4 // of which the least counts
const CLIENTS = 8

if (process.argv[2] === 'clients') clients(Number(process.argv[3]), Number(process.argv[4]))
else if (process.argv[4] === 'alone') measure(process.argv[3], Number(process.argv[2]), process.argv[5])
else main(Number(process.argv[2] ?? 1000), process.argv[3])

/** Each fleet in a process of its own. @param {number} recycles @param {string} [only] */
async function main (recycles, only) {
  for (const name of only ? [only] : Object.keys(FLEETS)) {
    const code = await new Promise(resolve => fork(__filename, [String(recycles), name, 'alone']).once('exit', resolve))
    if (code !== 0) process.exitCode = 1
  }
}

/** @param {string} fleet @param {number} recycles @param {string} [only] kind of deed */
async function measure (fleet, recycles, only) {
  // Code that is compiled meanwhile would be counted
  for (const flag of ['--no-opt', '--no-sparkplug', '--no-flush-bytecode']) v8.setFlagsFromString(flag)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'growth-'))
  const port = await freePort()
  process.env.PORT = String(port)
  const supervisor = supervise({
    app: path.join(FIXTURES, 'plain.js'), workers: WORKERS, interval: '200ms', stopLinger: '20ms', journal: path.join(folder, 'journal'), control: path.join(folder, 'control'), ...FLEETS[fleet]
  })
  let mold = null
  supervisor.on('event', (/** @type {any} */ line) => { if (line.event === 'mold.ready') mold = line.pid })
  await supervisor.ready()
  const oldPid = supervisor.status().workers.find((/** @type {any} */ worker) => worker.slot === OLD).pid
  const session = new inspector.Session()
  session.connect()
  const post = (/** @type {any} */ method) =>
    new Promise(resolve => session.post(method, (_, result) => resolve(result)))

  async function look () {
    let liveBytes = Infinity
    for (let i = 0; i < LOOKS; i++) {
      await passed(SETTLE_MS)
      // The second takes what the first has finalized
      for (let i = 0; i < 2; i++) await post('HeapProfiler.collectGarbage')
      const { usedSize } = /** @type {any} */ (await post('Runtime.getHeapUsage'))
      liveBytes = Math.min(liveBytes, usedSize)
    }
    return { primary: { liveBytes, ...footprint(process.pid) }, oldWorker: await oldWorker(), mold: footprint(mold) }
  }

  async function oldWorker () {
    if (footprint(oldPid) === null) return null // a reload has replaced it
    const { heapUsedAfter } = await supervisor.gc(OLD)
    await passed(SETTLE_MS) // back in rotation it opens its listening sockets again
    return { liveBytes: heapUsedAfter, ...footprint(oldPid) }
  }

  const deeds = {
    recycle: { count: recycles, run: () => supervisor.recycle(1) },
    connection: { count: recycles * 500, run: null },
    scaling: {
      count: 2 * Math.ceil(recycles / 10), run: (/** @type {number} */ i) => supervisor.scale(WORKERS + 1 - i % 2)
    },
    reload: { count: Math.ceil(recycles / 50), run: () => supervisor.reload() }
  }
  for (let i = 0; i < Math.max(10, recycles / 10); i++) await supervisor.recycle(1) // what a process makes once
  const grown = []
  for (const [deed, { count, run }] of Object.entries(deeds).filter(([deed]) => !only || deed === only)) {
    if (run === null) await connections(port, 1000)
    else for (let i = 0; i < 2; i++) await run(i)
    const before = await look()
    if (run === null) await connections(port, count)
    else for (let i = 0; i < count; i++) await run(i)
    const after = await look()
    for (const name of /** @type {const} */ (['primary', 'oldWorker', 'mold'])) {
      const [a, b] = /** @type {any} */ ([before[name], after[name]])
      if (a && b && !(name === 'mold' && deed === 'reload')) grown.push({ fleet, deed, count, process: name, ...Object.fromEntries(Object.keys(a).map(figure => [figure, b[figure] - a[figure]])) })
    }
  }
  await supervisor.stop()
  session.disconnect()
  fs.rmSync(folder, { recursive: true })

  for (const one of grown) console.log(JSON.stringify(one))
  const bad = grown.filter(({ process, deed, count, liveBytes = 0, descriptors }) => descriptors > 0 || (process === 'primary' && deed === 'recycle' && liveBytes > NOISE_BYTES + MOST_BYTES * count + (fleet === 'every feature' ? BOUNDED_BYTES : 0)))
  if (bad.length > 0) process.exitCode = 1
}

/**
 * @param {number | null} pid
 * @returns {{ rssBytes: number, descriptors: number } | null} null: it has exited, or there is none
 */
function footprint (pid) {
  try {
    const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
    return { rssBytes: rssKib * 1024, descriptors: fs.readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return null
  }
}

/** In a process of its own: what clients keep is not the primary's. @param {number} port @param {number} count */
function connections (port, count) {
  return new Promise((resolve, reject) => fork(__filename, ['clients', String(port), String(count)], { execArgv: [] })
    .once('exit', code => code === 0 ? resolve(undefined) : reject(new Error('a connection failed'))))
}

/** @param {number} port @param {number} count */
async function clients (port, count) {
  let left = count
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => http.get({ port, host: '127.0.0.1', agent: false }, response => response.resume().once('end', resolve)).once('error', reject))
    }
  }))
}
