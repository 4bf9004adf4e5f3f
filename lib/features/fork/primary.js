'use strict'

/**
 * The molds of a fleet, one a generation: each loads the app and then only forks. The old one ends with its last copy,
 * once the next stands still.
 *
 *     fork(generation) ─▶ loading ──frozen──▶ forks what has been asked for meanwhile, and what is asked for later
 *                            └── ends, refuses or takes too long: what has been asked for cannot be started; the
 *                                next call tries anew
 *
 * A mold that misses its deadline to fork, or to tell that a copy has ended, is killed. A generation
 * whose copies do not start, one after the other and none before, is spawned; what ends a copy that has started says
 * nothing of forking.
 */

const { RecycleError } = require('../../core/errors')
const { loadAddon } = require('../../native/addon')
const { MoldProcess } = require('./mold-process')
/** @import { Worker } from 'node:cluster' */
/** @import { WorkerProcess } from '../../primary/workers/process' */
/** @import { PrimaryPart } from '../interface' */

const MOST_FAILURES = 3

class Molds {
  /** Still alive. @type {Set<MoldProcess>} */
  #all = new Set()
  #generation = 0
  /**
   * Of the present generation: no copy has started yet, one has, or its workers are spawned.
   * @type {'untried' | 'proven' | 'given-up'}
   */
  #state = 'untried'
  /** Copies of it that did not start, before one has. */
  #failures = 0
  /** An older generation whose mold stays meanwhile: a newer one is on trial. @type {number | null} */
  #kept = null
  #isClosed = false

  /** @param {import('../../primary/parts').Parts} kernel @param {import('../../native/addon').Addon} addon */
  constructor (kernel, addon) {
    this.kernel = kernel
    this.addon = addon
  }

  /**
   * @param {number} generation @param {() => Worker} start runs cluster.fork() once
   * @returns {{ worker: Worker, forkedBy?: MoldProcess }} its process begins when it has been forked, or has begun
   *   where none is forked
   */
  fork (generation, start) {
    if (generation > this.#generation) [this.#generation, this.#state, this.#failures] = [generation, 'untried', 0]
    if (this.#isGivenUp(generation)) return { worker: start() }
    const forkedBy = this.#moldOf(generation)
    const worker = forkedBy.control.forkBy(start)
    forkedBy.awaits(worker)
    return { worker, forkedBy }
  }

  /** @param {number} generation @returns {boolean} it can be forked without loading the app again */
  has (generation) {
    return !this.#isGivenUp(generation) &&
      [...this.#all].some(mold => mold.generation === generation && mold.isFrozen && mold.why === null)
  }

  /** @param {number} generation */
  keep (generation) {
    this.#kept = generation
  }

  /** No other generation is forked from here on. @param {number} generation */
  settle (generation) {
    this.#kept = null
    if (!this.has(generation)) return // the next one's mold has the others retire
    if (generation !== this.#generation) [this.#generation, this.#state] = [generation, 'proven']
    for (const mold of this.#all) if (mold.generation !== generation) mold.retire()
  }

  /** A worker has died that had not started; see lifecycle.js. @param {WorkerProcess} process */
  failed ({ forkedBy, pid }) {
    if (forkedBy?.generation !== this.#generation || pid === null || this.#state !== 'untried') return
    if (++this.#failures < MOST_FAILURES) return
    this.#giveUp(`${MOST_FAILURES} forked workers in a row did not start`)
  }

  /** A worker has started. @param {WorkerProcess} process */
  succeeded ({ forkedBy }) {
    if (forkedBy?.generation === this.#generation && this.#state === 'untried') this.#state = 'proven'
  }

  /** @param {number} generation */
  #isGivenUp (generation) {
    return generation === this.#generation && this.#state === 'given-up'
  }

  /** Workers of the latest generation are spawned from here on. @param {string} why */
  #giveUp (why) {
    this.#state = 'given-up'
    this.kernel.record('fleet.warning', { warning: 'fork-failed', why })
    for (const mold of this.#all) if (mold.generation !== this.#kept) mold.retire()
  }

  /** Each ends with its last copy; one that loads the app yet, at once. */
  close () {
    this.#isClosed = true
    for (const mold of this.#all) mold.retire()
  }

  /**
   * @param {number} timeoutMs those that have not ended by then are killed
   * @returns {Promise<void>} resolves when none is left
   */
  async ended (timeoutMs) {
    const deadline = setTimeout(() => { for (const mold of this.#all) mold.end('it did not end with the fleet') },
      timeoutMs)
    await Promise.all([...this.#all].map(({ gone }) => gone))
    clearTimeout(deadline)
  }

  /** Another mold would not do better. @param {string} why */
  #refused (why) {
    if (this.kernel.fleet.serving().length > 0) return // what was to be forked has failed, and is tried again
    if (this.kernel.lifecycle.hasServed) this.#giveUp(`no worker can be forked any more: ${why}`)
    else this.kernel.abandon(new RecycleError('RECYCLE_FORK_REFUSED', { why }))
  }

  /** @param {number} generation */
  #moldOf (generation) {
    if (this.#isClosed) throw new Error('the fleet is stopping')
    const current = [...this.#all].find(mold => mold.generation === generation && mold.why === null)
    if (current) return current
    const mold = new MoldProcess(generation, this.kernel, this.addon)
    this.#all.add(mold)
    mold.on('frozen', (/** @type {number} */ readyMs) => {
      this.kernel.record('mold.ready', { pid: mold.pid, generation, readyMs })
      for (const other of this.#all) {
        if (other !== mold && other.generation <= generation && other.generation !== this.#kept) other.retire()
      }
    })
    mold.on('refused', why => this.#refused(why))
    mold.on('exit', (/** @type {import('../../primary/workers/process').Left} */ { code, signal }) => {
      this.#all.delete(mold)
      this.kernel.children.endOf({ id: mold.id, slot: null, pid: mold.pid })
      this.kernel.record('mold.exit', { pid: mold.pid, generation, code, signal, why: mold.why })
    })
    this.kernel.record('mold.spawn', { pid: mold.pid, generation })
    return mold
  }
}

/** @returns {null} it can fork @throws {RecycleError} RECYCLE_FORK_UNSUPPORTED */
function refuse () {
  const { missing } = loadAddon()
  if (missing !== null) {
    throw new RecycleError('RECYCLE_FORK_UNSUPPORTED', { option: '--fork mold', why: missing, instead: '--fork spawn' })
  }
  return null
}

/** @param {import('../../primary/parts').Parts} kernel @returns {PrimaryPart & { source: Molds }} */
function forkWorkers (kernel) {
  return { source: new Molds(kernel, /** @type {import('../../native/addon').Addon} */ (loadAddon().addon)) }
}

module.exports = { forkWorkers, refuse }
