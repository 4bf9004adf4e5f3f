'use strict'

/** The time from the verdict on a worker to the first response of its replacement, seen by two clients. */

const http = require('node:http')
const { once } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const { temporaryFolder } = require('./folder')
const { median } = require('./statistics')
const { supervise } = require('../../lib')
const { freePort } = require('../../lib/tools/drill/target')

const CLIENTS = 2
const PAUSE_MS = 1

/**
 * @param {string} app that answers with its pid
 * @param {Record<string, any>} options of supervise()
 * @param {number} recycles
 */
async function timeFirstBytes (app, options, recycles) {
  const folder = temporaryFolder()
  process.env.XDG_CACHE_HOME = folder // each measurement starts without a compile cache
  const port = await freePort()
  process.env.PORT = String(port)
  const fleet = supervise({ app, workers: 1, stopLinger: 0, log: 'silent', ...options })
  /** The time of each event, by event and pid. @type {Map<string, number>} */
  const at = new Map()
  /** @type {number[]} */
  const boots = []
  fleet.on('event', (/** @type {Record<string, any>} */ { event, pid, readyMs }) => {
    at.set(`${event} ${pid}`, performance.now())
    if (event === (options.standby ? 'worker.standby' : 'worker.ready')) boots.push(Number(readyMs))
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
    const standby = () => fleet.status().workers.some(worker => worker.state === 'standby')
    while (options.standby && !standby()) await once(fleet, 'event')
    const { pid, oldPid, rssAfter } = await fleet.recycle(0)
    const condemnedAt = /** @type {number} */ (at.get(`worker.condemn ${oldPid}`))
    return {
      firstByteMs: await clients.heard(Number(pid)) - condemnedAt,
      readyMs: /** @type {number} */ (at.get(`worker.ready ${pid}`)) - condemnedAt,
      rssMiB: Number(rssAfter) / 1024 ** 2
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

module.exports = { timeFirstBytes }
