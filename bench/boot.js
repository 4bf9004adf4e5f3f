'use strict'

/**
 * The time until a replacement serves: from the verdict (the journal's `worker.condemn`) to the first response of the new
 * pid. There is one worker, so that no other can answer, and two clients that open a connection for each request.
 *
 *     npm run bench:boot -- [--rounds 5] [--recycles 5] [--quick]
 */

const http = require('node:http')
const module_ = require('node:module')
const path = require('node:path')
const { once } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const { temporaryFolder } = require('./support/folder')
const { openBench } = require('./support/rounds')
const { median } = require('./support/statistics')
const { supervise } = require('../lib')
const { freePort } = require('../lib/drill/target')

const CLIENTS = 2
const PAUSE_MS = 1

/** @type {Record<string, Record<string, any>>} */
const VARIANTS = {
  plain: { compileCache: false },
  ...('flushCompileCache' in module_ ? { 'compile cache': { compileCache: true } } : {}),
  '--standby 1': { compileCache: false, standby: 1 }
}

const bench = openBench({ name: 'boot', options: { recycles: '5' }, quick: { recycles: '1' } })
const recycles = Number(bench.values.recycles)

bench.run({
  groups: Object.entries({ 'light app': 'pid.js', 'heavy app': 'heavy.js' }).map(([name, app]) => ({
    name,
    subjects: Object.fromEntries(Object.entries(VARIANTS).map(([variant, options]) => [variant, () => measure(path.join(__dirname, 'apps', app), options)])),
    beside: ['plain']
  })),
  columns: [
    { key: 'firstByteMs', title: 'verdict → first byte, ms', digits: 1, ratio: true, less: true },
    { key: 'longestMs', title: 'longest, ms', digits: 1, less: true },
    { key: 'readyMs', title: 'verdict → ready, ms', digits: 1, less: true },
    { key: 'bootMs', title: 'a process boots in, ms', digits: 1, less: true },
    { key: 'rssMiB', title: 'RSS of a fresh worker, MiB', digits: 1, less: true },
    { key: 'failed', title: 'failed', digits: 0, total: true }
  ],
  goals: [
    { subject: '--standby 1', key: 'firstByteMs', atMost: 50 },
    { key: 'failed', atMost: 0 }
  ],
  plot: { key: 'firstByteMs', title: 'Verdict → first byte of the replacement, ms' },
  note: 'One worker; medians over the recycles of a round. With --standby the next standby had booted before each recycle.'
})

/** @param {string} app @param {Record<string, any>} options */
async function measure (app, options) {
  const folder = temporaryFolder()
  process.env.XDG_CACHE_HOME = folder // each measurement starts without a compile cache
  const port = await freePort()
  process.env.PORT = String(port)
  const fleet = supervise({ app, workers: 1, stopLinger: 0, log: 'silent', ...options })
  /** The time of each event, by event and pid. @type {Map<string, number>} */
  const at = new Map()
  /** @type {number[]} */
  const boots = []
  fleet.on('event', ({ event, pid, readyMs }) => {
    at.set(`${event} ${pid}`, performance.now())
    if (event === (options.standby ? 'worker.standby' : 'worker.ready')) boots.push(readyMs)
  })
  await fleet.ready()
  const clients = new Clients(port)
  const runs = []
  try {
    await recycle() // the first recycle only fills the caches
    boots.length = 0
    for (let i = 0; i < recycles; i++) runs.push(await recycle())
  } finally {
    await clients.stop()
    await fleet.stop({ now: true })
  }
  return {
    firstByteMs: median(runs.map(run => run.firstByteMs)),
    longestMs: Math.max(...runs.map(run => run.firstByteMs)),
    readyMs: median(runs.map(run => run.readyMs)),
    bootMs: median(boots),
    rssMiB: median(runs.map(run => run.rssMiB)),
    failed: clients.failed,
    runs: runs.map(run => run.firstByteMs)
  }

  async function recycle () {
    const standby = () => fleet.status().workers.some((/** @type {any} */ worker) => worker.state === 'standby')
    while (options.standby && !standby()) await once(fleet, 'event')
    const { pid, oldPid, rssAfter } = await fleet.recycle(0)
    const condemnedAt = /** @type {number} */ (at.get(`worker.condemn ${oldPid}`))
    return {
      firstByteMs: await clients.heard(pid) - condemnedAt,
      readyMs: /** @type {number} */ (at.get(`worker.ready ${pid}`)) - condemnedAt,
      rssMiB: rssAfter / 1024 ** 2
    }
  }
}

/** Two clients that send requests all the time, and record the first response of each pid. */
class Clients {
  failed = 0
  #isStopping = false
  /** @type {Map<number, number>} */
  #firstAt = new Map()

  /** @param {number} port */
  constructor (port) {
    this.port = port
    this.done = Array.from({ length: CLIENTS }, () => this.#run())
  }

  /** @param {number} pid @returns {Promise<number>} performance.now() at its first response's first byte */
  async heard (pid) {
    while (!this.#firstAt.has(pid)) await setTimeout(PAUSE_MS)
    return /** @type {number} */ (this.#firstAt.get(pid))
  }

  async stop () {
    this.#isStopping = true
    await Promise.all(this.done)
  }

  async #run () {
    while (!this.#isStopping) {
      await new Promise(resolve => http.get({ host: '127.0.0.1', port: this.port, agent: false }, response => {
        const now = performance.now()
        response.once('data', pid => { if (!this.#firstAt.has(Number(pid))) this.#firstAt.set(Number(pid), now) })
        response.once('end', resolve)
      }).once('error', () => {
        this.failed++
        resolve(undefined)
      }))
      await setTimeout(PAUSE_MS)
    }
  }
}
