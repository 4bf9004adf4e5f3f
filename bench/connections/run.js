'use strict'

/**
 * One run: hub, fleet and clients are started; the clients connect, all at once; sprites flow; every worker is
 * replaced; then no sprite is thrown any more, and what is still on its way arrives.
 */

const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { freePort } = require('../../lib/tools/drill/target')
const { percentiles } = require('../support/statistics')
const { Child } = require('./child')
const { kernelMemory, pssOf } = require('./memory')

const AT_ONCE = 3000 // connections being opened, of all clients: below the backlog
const LOOK_MS = 250
const PROBE_MS = 6000
const SLOWEST_MS = 1000 // p99 of a rate that the machine carries
const CARRIED = 0.95
const STEP = 1.5
const LONGEST_QUIET_MS = 60_000
const LONGEST_QUIET_OF_CLUSTER_MS = 10_000 // a connection that it has passed to a worker that dies is never answered

class Run {
  /** What each process has said of its event loop since the last look. @type {Map<number, number>} */
  #stalls = new Map()
  /** @type {Map<number, number>} */
  #heaps = new Map()
  /** In the fullest worker, at its worst. */
  #fullest = 0
  /** Of the sprites since the last #reset(). @type {number[]} */
  #latencies = []
  #isWatched = false

  /**
   * @param {object} how
   * @param {'recycle' | 'cluster'} how.kind
   * @param {number} how.clients
   * @param {number} how.workers
   * @param {number} how.clientsAProcess
   * @param {string} how.folder for the hub's socket
   * @param {number} how.settleMs for what follows a change by itself
   * @param {(text: string) => void} how.say
   */
  constructor (how) {
    this.how = how
  }

  async start () {
    const { kind, clients, workers, clientsAProcess, folder } = this.how
    const socket = path.join(folder, `${kind}-${clients}.sock`)
    const port = await freePort()
    this.hub = new Child('hub.js', [socket])
    await this.hub.next()
    // Without TCP keep-alive: the packets of 250,000 idle connections overflow the queue of the loopback interface
    // (netdev_max_backlog), and the kernel gives up those whose packets were dropped ten times.
    this.fleet = new Child('fleet.js', [kind, workers], { SPRITES_HUB: socket, PORT: String(port), SPRITES_KEEPALIVE: '0' })
    this.fleet.process.on('message', message => this.#hear(/** @type {any} */ (message)))
    await this.fleet.next(({ ready }) => ready)
    const count = Math.ceil(clients / clientsAProcess)
    const share = (/** @type {number} */ i) => Math.floor(clients * (i + 1) / count) - Math.floor(clients * i / count)
    this.clients = Array.from({ length: count }, (_, i) => new Child('clients.js', [port, `127.0.0.${i + 1}`, share(i)]))
    await Promise.all(this.clients.map(child => child.next()))
    await sleep(this.how.settleMs)
    this.before = this.#memory()
  }

  /** @returns {Promise<Record<string, number>>} */
  async storm () {
    const began = performance.now()
    const atOnce = Math.max(1, Math.floor(Math.min(AT_ONCE, this.how.clients) / this.#clients.length))
    for (const child of this.#clients) child.process.send({ connect: atOnce })
    let joined = 0
    for (; joined < this.how.clients; this.how.say(`${joined} connected`)) {
      await sleep(LOOK_MS)
      ;({ joined } = await this.#counts())
    }
    const seconds = (performance.now() - began) / 1000
    await this.#until(async () => (await this.#ofHub()).parked >= this.how.clients, 'parked')
    await sleep(this.how.settleMs)
    return { connectionsPerSecond: joined / seconds }
  }

  /** The highest rate that is carried, from the wished one down. @param {number} wished sprites a second */
  async findRate (wished) {
    for (let rate = wished; ; rate /= STEP) {
      this.#setRate(rate)
      await sleep(PROBE_MS / 3)
      await this.#reset()
      const before = (await this.#counts()).received
      const began = performance.now()
      await sleep(PROBE_MS)
      const { received } = await this.#counts()
      const carried = (received - before) / (performance.now() - began) * 1000
      const { p99 } = percentiles(this.#latencies)
      this.how.say(`${Math.round(rate)} sprites/s: ${Math.round(carried)} arrive, p99 ${Math.round(p99)} ms`)
      if ((carried >= CARRIED * rate && p99 <= SLOWEST_MS) || rate < 10) return rate
      this.#setRate(0)
      await this.#quiet()
    }
  }

  /** @param {number} rate @param {number} seconds */
  async flow (rate, seconds) {
    this.#setRate(rate)
    await this.#reset()
    await sleep(seconds * 1000)
    await this.#counts()
    const { p50, p99 } = percentiles(this.#latencies)
    const { stallMs } = await this.#ofHub()
    return {
      spritesPerSecond: this.#latencies.length / seconds,
      p50,
      p99,
      stallMs: Math.max(...this.#stalls.values()),
      hubStallMs: stallMs,
      ...this.#perConnection()
    }
  }

  /** Every worker is replaced, while sprites flow. */
  async replace () {
    await this.#reset()
    this.#fullest = 0
    this.#isWatched = true
    const began = performance.now()
    const { replaced } = await /** @type {Child} */ (this.fleet).ask('replace', message => message.replaced)
    const seconds = (performance.now() - began) / 1000
    this.#setRate(0)
    const quietMs = await this.#quiet()
    this.#isWatched = false
    const after = await this.#counts()
    const { p50, p99, max } = percentiles(this.#latencies)
    const { thrown, kept, stallMs } = await this.#ofHub()
    return {
      ...replaced,
      replaceSeconds: seconds,
      quietMs,
      dropped: after.dropped,
      reconnects: after.reconnects,
      failures: after.failures,
      lost: thrown - kept - after.received + after.missing,
      kept,
      repeated: after.repeated,
      replaceP50: p50,
      replaceP99: p99,
      replaceMax: max,
      replaceStallMs: Math.max(...this.#stalls.values()),
      replaceHubStallMs: stallMs,
      fullestByMean: this.#fullest ? this.#fullest / (this.how.clients / this.how.workers) : undefined
    }
  }

  /** The worker that has most is killed. @returns {Promise<Record<string, number>>} */
  async kill () {
    await this.#reset()
    const before = await this.#counts()
    const { killed: { connections, moved, replayed, ...ends } } = await /** @type {Child} */ (this.fleet).ask('kill', message => message.killed)
    const quietMs = await this.#quiet()
    const after = await this.#counts()
    return {
      killed: connections,
      killMoved: moved,
      killReplayed: replayed,
      killCut: ends.answered + ends.cut,
      parkedSeconds: quietMs / 1000,
      killDropped: after.dropped - before.dropped,
      killReconnects: after.reconnects - before.reconnects
    }
  }

  async stop () {
    await Promise.all((this.clients ?? []).map(child => child.stop({ stop: true })))
    await this.fleet?.stop('stop')
    if (this.hub?.process.connected) this.hub.process.disconnect()
    await this.hub?.gone
  }

  get #clients () {
    return /** @type {Child[]} */ (this.clients)
  }

  /** @param {any} message */
  #hear ({ of, pid, heapBytes, stallMs, connections }) {
    if (of === 'worker') this.#heaps.set(pid, heapBytes)
    if (of) this.#stalls.set(pid, Math.max(stallMs, this.#stalls.get(pid) ?? 0))
    if (!connections || !this.#isWatched) return
    this.#fullest = Math.max(this.#fullest, ...connections)
  }

  #memory () {
    return { pss: pssOf([this.fleet?.pid ?? 0, ...this.#heaps.keys()]), heap: this.#heap(), ...kernelMemory() }
  }

  #heap () {
    return [...this.#heaps.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  #perConnection () {
    const before = /** @type {Record<string, number>} */ (this.before)
    const now = /** @type {Record<string, number>} */ (this.#memory())
    const per = (/** @type {string} */ key) => (now[key] - before[key]) / this.how.clients
    return { pssBytes: per('pss'), heapBytes: per('heap'), socketBufferBytes: per('bufferBytes'), slabBytes: per('slabBytes'), kernelSockets: now.sockets }
  }

  /** @param {number} rate of all */
  #setRate (rate) {
    for (const child of this.#clients) child.process.send({ rate: rate / this.#clients.length })
  }

  async #reset () {
    await Promise.all([this.#counts(), this.#ofHub()])
    this.#stalls.clear()
    this.#latencies = []
  }

  async #ofHub () {
    return /** @type {Child} */ (this.hub).ask('counts')
  }

  /** The sums over the client processes. @returns {Promise<Record<string, any>>} */
  async #counts () {
    const all = await Promise.all(this.#clients.map(child => child.ask({ counts: true })))
    const sum = (/** @type {string} */ key) => all.reduce((sum, counts) => sum + counts[key], 0)
    /** @type {Record<string, number>} */
    const failures = {}
    for (const counts of all) {
      for (const [what, count] of Object.entries(counts.failures)) {
        failures[what] = (failures[what] ?? 0) + Number(count)
      }
    }
    const numbers = Object.fromEntries(['opened', 'joined', 'received', 'repeated', 'missing', 'dropped', 'reconnects', 'waiting'].map(key => [key, sum(key)]))
    for (const { latencies } of all) for (const latency of latencies) this.#latencies.push(latency)
    return { ...numbers, failures }
  }

  /** Until everything that was thrown has arrived. @returns {Promise<number>} how long it took, ms */
  async #quiet () {
    const began = performance.now()
    await this.#until(async () => {
      const [{ waiting }, { kept, parked }] = await Promise.all([this.#counts(), this.#ofHub()])
      return waiting === 0 && kept === 0 && parked >= this.how.clients
    }, 'quiet', this.how.kind === 'cluster' ? LONGEST_QUIET_OF_CLUSTER_MS : LONGEST_QUIET_MS)
    return performance.now() - began
  }

  /** @param {() => Promise<boolean>} isSo @param {string} what @param {number} [longestMs] */
  async #until (isSo, what, longestMs = LONGEST_QUIET_MS) {
    const began = performance.now()
    while (!await isSo()) {
      if (performance.now() - began > longestMs) return this.how.say(`not ${what} within ${longestMs} ms`)
      await sleep(LOOK_MS)
    }
  }
}

module.exports = { Run }
