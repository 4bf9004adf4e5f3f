'use strict'

/**
 * The molds of a fleet, one a generation: each loads the app and then only forks. The old one ends with its last copy, once the
 * next stands still.
 *
 *     fork(generation) ─▶ loading ──frozen──▶ forks what has been asked for meanwhile, and what is asked for later
 *                            └── ends, refuses or takes too long: what has been asked for cannot be started; the next call tries anew
 *
 * One that does not fork in time, or does not tell that a copy has ended, hangs, and is ended as well. A generation whose copies do not
 * start, one after the other and none before, is spawned; what ends a copy that has started says nothing of forking.
 */

const { EventEmitter } = require('node:events')
const { now } = require('../clock')
const { guardChannel } = require('./channel-guard')
const { mark } = require('./children')

/** V8 and Node then keep no thread that works while the app's does: a copy would lack it. */
const MOLD_FLAGS = ['--single-threaded', '--v8-pool-size=0']
const MOST_FAILURES = 3

/** @typedef {import('node:cluster').Worker} Worker @typedef {(control: number, env: Record<string, string>, generation: number) => Worker} Start */

/** Emits `event` with the journal's event and its fields, `refused` with the reason, and `gone` ({ id, slot: null, pid }) when a mold is. */
class Molds extends EventEmitter {
  /** An older generation whose mold stays meanwhile: a newer one is on trial. @type {number | null} */
  kept = null
  /** Still alive. @type {Set<Mold>} */
  #all = new Set()
  /** Copies of the present generation that did not start; -Infinity: one has; Infinity: its workers are spawned. */
  #failures = 0
  #generation = 0
  #isClosed = false

  /** @param {import('../../native/addon').Addon} addon @param {{ readyTimeoutMs: number }} options @param {Start} start starts a mold */
  constructor (addon, { readyTimeoutMs }, start) {
    super()
    this.addon = addon
    this.readyTimeoutMs = readyTimeoutMs
    this.start = start
  }

  /**
   * @param {number} generation
   * @param {() => Worker} start runs cluster.fork() once
   * @returns {{ worker: Worker, forkedBy?: Mold }} its process begins when it has been forked, or has begun where none is forked
   */
  fork (generation, start) {
    if (generation > this.#generation) [this.#generation, this.#failures] = [generation, 0]
    if (this.#isGivenUp(generation)) return { worker: start() }
    const forkedBy = this.#moldOf(generation)
    const worker = forkedBy.control.forkBy(start)
    forkedBy.awaits(worker)
    return { worker, forkedBy }
  }

  /** @param {number} generation @returns {boolean} it can be forked without loading the app again */
  has (generation) {
    return !this.#isGivenUp(generation) && [...this.#all].some(mold => mold.generation === generation && mold.isFrozen && mold.why === null)
  }

  /** No other generation is forked from here on. @param {number} generation */
  settle (generation) {
    this.kept = null
    if (!this.has(generation)) return // the next one's mold has the others retire
    if (generation !== this.#generation) [this.#generation, this.#failures] = [generation, -Infinity]
    for (const mold of this.#all) if (mold.generation !== generation) mold.retire()
  }

  /** A worker has died that had not started; see lifecycle.js. @param {import('./process').WorkerProcess} process */
  failed ({ forkedBy, pid }) {
    if (forkedBy?.generation !== this.#generation || pid === null || ++this.#failures !== MOST_FAILURES) return
    this.giveUp(`${MOST_FAILURES} forked workers in a row did not start`)
  }

  /** A worker has started. @param {import('./process').WorkerProcess} process */
  succeeded ({ forkedBy }) {
    if (forkedBy?.generation === this.#generation && this.#failures < Infinity) this.#failures = -Infinity
  }

  /** @param {number} generation */
  #isGivenUp (generation) {
    return generation === this.#generation && this.#failures === Infinity
  }

  /** Workers of the latest generation are spawned from here on. @param {string} why */
  giveUp (why) {
    this.#failures = Infinity
    this.#record('fleet.warning', { warning: 'fork-failed', why })
    for (const mold of this.#all) if (mold.generation !== this.kept) mold.retire()
  }

  /** Each ends with its last copy; one that loads the app yet, at once. */
  close () {
    this.#isClosed = true
    for (const mold of this.#all) mold.retire()
  }

  /** @param {number} timeoutMs those that have not ended by then are killed @returns {Promise<void>} resolves when none is left */
  async ended (timeoutMs) {
    const deadline = setTimeout(() => { for (const mold of this.#all) mold.end('it did not end with the fleet') }, timeoutMs)
    await Promise.all([...this.#all].map(({ gone }) => gone))
    clearTimeout(deadline)
  }

  /** @param {string} event @param {Record<string, any>} fields */
  #record (event, fields) {
    this.emit('event', event, fields)
  }

  /** @param {number} generation */
  #moldOf (generation) {
    if (this.#isClosed) throw new Error('the fleet is stopping')
    const current = [...this.#all].find(mold => mold.generation === generation && mold.why === null)
    if (current) return current
    const mold = new Mold(this.addon, generation, this)
    this.#all.add(mold)
    mold.on('frozen', readyMs => {
      this.#record('mold.ready', { pid: mold.pid, generation, readyMs })
      for (const other of this.#all) if (other !== mold && other.generation <= generation && other.generation !== this.kept) other.retire()
    })
    mold.on('refused', why => this.emit('refused', why))
    mold.on('exit', ({ code, signal }) => {
      this.#all.delete(mold)
      this.emit('gone', { id: mold.id, slot: null, pid: mold.pid })
      this.#record('mold.exit', { pid: mold.pid, generation, code, signal, why: mold.why })
    })
    this.#record('mold.spawn', { pid: mold.pid, generation })
    return mold
  }
}

/** Emits `frozen` with the time that it took, `refused` with the reason, and `exit`. */
class Mold extends EventEmitter {
  /** Why the mold cannot be forked from, or no longer. @type {string | null} */
  why = null
  isFrozen = false

  /** @param {import('../../native/addon').Addon} addon @param {number} generation @param {{ start: Start, readyTimeoutMs: number }} how */
  constructor (addon, generation, { start, readyTimeoutMs }) {
    super()
    this.generation = generation
    this.readyTimeoutMs = readyTimeoutMs
    const { MoldControl } = require('../../mold/forked-process') // loaded only for `--fork mold`
    const control = this.control = new MoldControl(addon)
    const spawnedAt = now()
    const { id, env } = mark()
    this.id = id
    try {
      this.worker = start(control.inherited, env, generation)
    } catch (error) {
      control.socket.destroy()
      throw error
    } finally {
      control.started()
    }
    guardChannel(this.worker.process, () => {}) // what its app sends is of no use here
    this.pid = this.worker.process.pid ?? null
    const deadline = setTimeout(() => {
      if (!control.hasListened) return this.end(`its mold did not listen within ${readyTimeoutMs} ms`)
      this.#refuse(`the app could not be warmed up within ${readyTimeoutMs} ms; one that gets ready in listen's callback answers no request earlier, and takes --warm 0`)
    }, readyTimeoutMs)
    control.once('frozen', () => {
      clearTimeout(deadline)
      this.isFrozen = true
      this.emit('frozen', now() - spawnedAt)
    })
    control.once('refused', why => this.#refuse(why))
    control.once('silent', ms => {
      this.why = `its mold did not tell within ${ms} ms that a process had ended` // whether it was to retire or not
      this.end(this.why)
    })
    /** @type {Promise<void>} */
    this.gone = new Promise(resolve => {
      const gone = (/** @type {number | null} */ code, /** @type {string | null} */ signal, /** @type {string} */ how) => {
        clearTimeout(deadline)
        this.why ??= `its mold ${how}`
        control.socket.destroy()
        this.emit('exit', { code, signal })
        resolve()
      }
      this.worker.once('exit', (code, signal) => gone(code, signal, signal ? `was killed by ${signal}` : `exited with code ${code}`))
      this.worker.once('error', error => { if (this.pid === null) gone(null, null, `could not be started (${error.message})`) })
    })
  }

  /** The worker is to be forked at once, or when the mold is ready for it. @param {Worker} worker */
  awaits (worker) {
    const begin = () => {
      const ms = this.readyTimeoutMs
      const deadline = setTimeout(() => this.end(`its mold did not fork within ${ms} ms`), ms)
      for (const event of ['forked', 'error', 'exit']) worker.process.once(event, () => clearTimeout(deadline))
    }
    if (this.isFrozen) begin()
    else this.once('frozen', begin)
  }

  /** The mold ends with its last copy. */
  retire () {
    if (!this.isFrozen) return this.end('the fleet is stopping, or its generation is out of date')
    this.why ??= 'it has retired'
    this.control.retire()
  }

  /** Why a process could not be forked; the mold's own end may be noticed later. @param {Error} error @returns {Promise<string>} */
  async failure (error) {
    if (this.control.isUp) return error.message
    await this.gone
    return String(this.why)
  }

  /** @param {string} why another one would not do better */
  #refuse (why) {
    this.end(why)
    this.emit('refused', why)
  }

  /** @param {string} why */
  end (why) {
    this.why ??= why
    this.worker.process.kill('SIGKILL')
  }
}

module.exports = { MOLD_FLAGS, Molds }
