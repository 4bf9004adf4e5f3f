'use strict'

/** The drill's side of the load: starts the processes that send requests, and merges their reports. */

const { EventEmitter } = require('node:events')
const { fork } = require('node:child_process')
const path = require('node:path')
const { formatTime } = require('../../core/units')
const { Histogram } = require('../report/histogram')
const { latencyOf, mergeTicks } = require('./tally')
/** @import { Tick } from './tally' */

const LOAD_PROCESS = path.join(__dirname, 'load-process.js')

const ANSWER_MS = 5000

/** A drill cannot go on. */
class Broken extends Error {}

/** Emits `line` with each `client.tick` and `client.drop`, and `died` if a process exits early. */
class Load extends EventEmitter {
  requests = 0
  dropped = 0
  sockets = 0
  /** Drops by error. @type {Map<string, number>} */
  errors = new Map()
  /** Drops that are a wrong status, by the status. @type {Map<number, number>} */
  statuses = new Map()
  #latency = new Histogram()
  /** Buckets that some process has not reported yet, by their start. @type {Map<number, Tick>} */
  #ticks = new Map()
  /** @type {Process[]} */
  #processes = []

  /**
   * @param {import('./client').Plan & { connections: number, rate: number | null }} plan
   * @param {number} processes among which connections and rate are divided
   */
  constructor ({ connections, rate, body, ...plan }, processes) {
    super()
    /** How long a process may take to answer: it may wait for its last requests. */
    this.patienceMs = plan.timeoutMs + ANSWER_MS
    this.plans = Array.from({ length: processes }, (_, i) => {
      const share = Math.floor(connections / processes) + (i < connections % processes ? 1 : 0)
      return {
        ...plan, body: body?.toString('base64') ?? null, connections: share,
        rate: rate === null ? null : rate * share / connections
      }
    })
  }

  /** Resolves when every process is ready. */
  async open () {
    this.#processes = this.plans.map(() => new Process(this))
    await this.#all('up', (process, i) => process.say('plan', { plan: this.plans[i] }))
  }

  start () {
    for (const process of this.#processes) process.say('start')
  }

  /** Resolves when every client knows that the fleet may stop. */
  async announceStop () {
    await this.#all('warned', process => process.say('stopping'))
  }

  /** Resolves when every request that was sent is answered or dropped, and counted. */
  async end () {
    await this.#all('done', process => process.say('end'))
    this.kill()
  }

  kill () {
    for (const { child } of this.#processes) child.kill('SIGKILL')
  }

  /** Of all requests answered so far, ms. */
  get p99Ms () {
    return this.#latency.percentiles([0.99])[0]
  }

  /** @param {string} answer @param {(process: Process, i: number) => void} command */
  async #all (answer, command) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    const isLate = new Promise((resolve, reject) => {
      timer = setTimeout(() => { // it was stopped, or its event loop is stuck
        reject(new Broken(`a load process stands still: it has not answered for ${formatTime(this.patienceMs)}`))
      }, this.patienceMs)
    })
    const answered = Promise.all(this.#processes.map((process, i) => {
      command(process, i)
      return process.answered(answer)
    }))
    await Promise.race([answered, isLate]).finally(() => clearTimeout(timer))
  }

  /** @param {{ ticks: Tick[], drops: import('./client').Drop[] }} report */
  take ({ ticks, drops }) {
    this.#latency.merge(latencyOf(ticks))
    for (const tick of ticks) {
      const before = this.#ticks.get(tick.t)
      this.#ticks.set(tick.t, before ? mergeTicks(before, tick) : tick)
      this.requests += tick.requests
      this.dropped += tick.dropped
    }
    for (const drop of drops) {
      this.errors.set(drop.error, (this.errors.get(drop.error) ?? 0) + 1)
      if (drop.error === 'status' && drop.status !== null) {
        this.statuses.set(drop.status, (this.statuses.get(drop.status) ?? 0) + 1)
      }
      this.emit('line', { v: 1, event: 'client.drop', ...drop })
    }
    const reported = Math.min(...this.#processes.map(({ reportedBefore }) => reportedBefore))
    for (const [t, tick] of [...this.#ticks].sort(([a], [b]) => a - b)) {
      if (t >= reported) break
      this.#ticks.delete(t)
      this.emit('line', { v: 1, event: 'client.tick', ...tick })
    }
  }
}

/** A process of the load. */
class Process {
  /** Buckets that start before this have been reported. */
  reportedBefore = -Infinity
  /** @type {Set<string>} */
  #said = new Set()
  #events = new EventEmitter()

  /** @param {Load} load */
  constructor (load) {
    this.child = fork(LOAD_PROCESS, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.child.on('message', (/** @type {any} */ message) => {
      if (message.type === 'ticks') {
        this.reportedBefore = message.before ?? Infinity
        load.take(message)
      }
      if (message.type === 'done') load.sockets += message.sockets
      this.#said.add(message.type)
      this.#events.emit(message.type)
    })
    this.child.on('error', () => {}) // it died before a message was sent; its exit follows
    this.child.on('exit', (code, signal) => {
      if (!this.#said.has('done')) load.emit('died', signal ?? `code ${code}`)
    })
  }

  /** @param {string} type @param {Record<string, unknown>} [fields] */
  say (type, fields) {
    if (this.child.connected) this.child.send({ type, ...fields })
  }

  /** @param {string} type @returns {Promise<void>} resolves when the process has sent this message */
  async answered (type) {
    if (!this.#said.has(type)) await new Promise(resolve => this.#events.once(type, resolve))
  }
}

module.exports = { Load, Broken }
