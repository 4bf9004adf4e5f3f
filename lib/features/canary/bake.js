'use strict'

/**
 * A comparison of new code with that before, from its first worker to the verdict:
 *
 *     warm-up
 *       │ times to the response of the old workers
 *       ▼
 *     compared, and judged once a second
 *       │ the time is over
 *       ▼
 *     judged for good
 */

const { RecycleError } = require('../../core/errors')
const { Observed } = require('./observed')
const { thresholdsOf } = require('./times')
const { judge } = require('./verdict')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Services, Terms } from './primary' */

/**
 * @typedef {import('./verdict').Verdict & { isFinal: boolean, isGood?: boolean, sentence?: string }} Verdict `isFinal`:
 *   its time was over; `isGood`, `sentence`: what no figure has decided
 */

const TAKEN_BACK = 'a command has taken it back'
const LOOK_MS = 1000
const BLOCK_MS = 5000 // what fails together in some seconds, such as a backend, is in one or two of them
const LEAST_BLOCKS = 8 // a short comparison has shorter ones, for one or two say nothing of chance
const MOST_BLOCKS = 720
const WARM_UP_SHARE = 0.25
const LONGEST_WARM_UP_MS = 30_000 // by then new code is compiled, and its caches are as full as they get in such a time

class Bake {
  /**
   * `waiting`: for a reload that is under way.
   * @type {'waiting' | 'starting' | 'warming-up' | 'comparing' | 'promoting' | 'leaving'}
   */
  state
  /** The latest. @type {Verdict | null} */
  verdict = null
  /** Parts of the comparison. @type {Partial<Observed['sides'] & { service: import('./verdict').BothServices }>} */
  inputs = {}
  /** Of the new code, and of that before; -1: no worker of the new code serves yet. */
  generation = -1
  before = -1
  observed = new Observed()
  #sweeps
  /** @type {ReturnType<typeof thresholdsOf>} */
  #thresholds = null
  #begunAt = 0
  #until = 0
  /** By a command. @type {'go' | 'back' | null} */
  decided = null
  /** Ends the sleep under way. */
  #wake = () => {}

  /** @param {import('../../primary/parts').Parts} kernel @param {Services} services @param {Terms} terms */
  constructor (kernel, services, terms) {
    this.kernel = kernel
    this.services = services
    this.terms = terms
    this.state = kernel.fleet.rollout.isUnderWay ? 'waiting' : 'starting'
    this.#sweeps = new Sweeps(kernel, () => !this.isCounting || kernel.tenure.isOver)
    this.warmUpMs = Math.min(LONGEST_WARM_UP_MS, WARM_UP_SHARE * terms.bakeMs)
    const comparedMs = terms.bakeMs - this.warmUpMs
    this.blockMs = Math.max(Math.min(BLOCK_MS, comparedMs / LEAST_BLOCKS), comparedMs / MOST_BLOCKS)
  }

  /** Until the verdict; null: there is one, or it has not begun. */
  get leftMs () {
    return this.isCounting ? Math.max(0, this.#until - this.kernel.now()) : null
  }

  /** Workers that become ready are to count, too. */
  get isCounting () {
    return this.state === 'warming-up' || this.state === 'comparing'
  }

  /** The new code goes on, or back. */
  get isDecided () {
    return this.state === 'promoting' || this.state === 'leaving'
  }

  /** Plain data for status(). */
  describe () {
    const { state, generation, before, leftMs, terms, verdict } = this
    const rss = (/** @type {boolean} */ isFresh) =>
      mean(this.observed.workers(isFresh).map(({ sample }) => sample?.rssBytes ?? null))
    const { requests = { old: 0, fresh: 0 }, figures = [] } = verdict ?? {}
    return {
      state, generation, before, leftMs, ...terms, requests, rssBytes: { old: rss(false), fresh: rss(true) }, figures
    }
  }

  /** @param {'go' | 'back'} decided by a command */
  decide (decided) {
    this.decided = decided
    this.kernel.changed()
    this.#wake()
  }

  /**
   * Resolves when the code that the new one is to be compared with is that of all workers.
   * @throws {RecycleError} RECYCLE_REJECTED: a command does without it
   */
  async wait () {
    const { fleet: { rollout }, until } = this.kernel
    await until(() => !rollout.isUnderWay || this.decided === 'back')
    if (this.decided === 'back') throw new RecycleError('RECYCLE_REJECTED', { why: TAKEN_BACK })
    this.state = 'starting'
  }

  /**
   * @param {{ generation: number, before: number }} generations @returns {Promise<Verdict>} @throws what ends the fleet
   */
  async run (generations) {
    Object.assign(this, generations)
    const { bakeMs } = this.terms
    this.#until = this.kernel.now() + bakeMs
    this.#begin('warming-up')
    const early = await this.#look(this.#begunAt + this.warmUpMs)
    if (early) return early
    this.#thresholds = thresholdsOf(this.observed.sides.old.map(({ times }) => times))
    this.#begin('comparing')
    return await this.#look(this.#until) ?? this.#judge(true)
  }

  /** Has a worker count, from here on. @param {WorkerHandle} handle */
  connect (handle) {
    const isFresh = handle.generation === this.generation
    handle.send('observe', { thresholds: this.#thresholds?.[isFresh ? 'fresh' : 'old'] ?? null })
    this.observed.add(handle, isFresh)
  }

  /** @param {'warming-up' | 'comparing'} state */
  #begin (state) {
    this.state = state
    this.#begunAt = this.kernel.now()
    this.observed.clear()
    for (const worker of this.services.workers) this.connect(worker)
  }

  /** @param {number} until ms, by kernel.now() @returns {Promise<Verdict | null>} null: there is none by then */
  async #look (until) {
    for (let now = this.kernel.now(); now < until; now = this.kernel.now()) {
      if (this.decided === null) await this.#sleep(Math.min(LOOK_MS, until - now))
      this.kernel.tenure.throwIfOver()
      if (this.decided !== null) {
        return {
          ...this.#judge(false),
          isGood: this.decided === 'go',
          sentence: this.decided === 'go' ? 'a command has promoted it' : TAKEN_BACK
        }
      }
      const { failing } = this.kernel.reloading
      if (failing !== null) {
        return { ...this.#judge(false), isGood: false, sentence: `its workers do not stay up: ${failing}` }
      }
      this.#note()
      const verdict = this.#judge(false)
      if (verdict.verdict === 'bad') return verdict
    }
    return null
  }

  /** Not beyond a command, nor the end of the fleet. @param {number} ms @returns {Promise<void>} */
  #sleep (ms) {
    const { tenure } = this.kernel
    return new Promise(resolve => {
      this.#wake = () => {
        clearTimeout(timer)
        tenure.removeListener('over', this.#wake)
        resolve()
      }
      const timer = setTimeout(this.#wake, ms)
      tenure.on('over', this.#wake)
    })
  }

  /** Ends a block, and the first half, where it is time. */
  #note () {
    const now = this.kernel.now()
    if (this.state === 'comparing') {
      const share = (now - this.#begunAt) / (this.#until - this.#begunAt)
      if (share >= 0.5) this.observed.endHalf()
      this.#sweeps.look(share, { fresh: this.observed.workers(true), old: this.observed.workers(false) })
    }
    if (now >= this.#begunAt + (this.observed.blocks + 1) * this.blockMs) this.observed.endBlock()
  }

  /** @param {boolean} isFinal @returns {Verdict} */
  #judge (isFinal) {
    const isFresh = (/** @type {number} */ generation) => generation === this.generation
    const service = { old: this.services.sum(generation => !isFresh(generation)), fresh: this.services.sum(isFresh) }
    const inputs = { ...this.observed.sides, service }
    this.inputs = inputs
    return (this.verdict = { ...judge({ ...inputs, isFinal }), isFinal })
  }
}

/** @param {(number | null)[]} values @returns {number | null} */
function mean (values) {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : Math.round(known.reduce((sum, value) => sum + value, 0) / known.length)
}

/**
 * Has the workers of both codes collect their garbage at the same moments of a comparison, out of rotation: what is
 * left then is no garbage, and V8 by itself collects the old space of a worker too seldom to compare in minutes.
 */

const TASK = { type: /** @type {const} */ ('collect'), fields: {}, timeoutMs: 60_000 }
const AT = [0, 0.35, 0.7, 0.92] // of the comparison: the first two before its second half, in which each worker has two
const MOST_OLD = 6 // workers: more say little more
const LEAST_SERVING = 3 // one is away at a time
const LONGEST_MS = 2000 // to empty a worker; connections that cannot move, such as those with TLS, would keep it away

class Sweeps {
  #rounds = 0
  #isBusy = false
  #isWorthIt = true

  /** @param {import('../../primary/parts').Parts} kernel @param {() => boolean} isOver the comparison */
  constructor (kernel, isOver) {
    this.kernel = kernel
    this.isOver = isOver
  }

  /**
   * @param {number} share of the comparison that is over, 0 to 1
   * @param {{ fresh: WorkerHandle[], old: WorkerHandle[] }} workers
   */
  look (share, { fresh, old }) {
    if (this.#isBusy || this.#rounds === AT.length || share < AT[this.#rounds]) return
    while (share >= AT[this.#rounds]) this.#rounds++
    this.#collect([...fresh, ...old.slice(0, MOST_OLD)])
  }

  /** Collects in one worker after the other. @param {WorkerHandle[]} workers */
  async #collect (workers) {
    const { rotation, fleet, features, now } = this.kernel
    this.#isBusy = true
    for (const handle of workers) {
      if (!this.#isWorthIt || features.hasSessions || this.isOver() || fleet.serving().length < LEAST_SERVING) break
      const began = now()
      await rotation.take(handle, TASK)
      this.#isWorthIt = now() - began < LONGEST_MS
    }
    this.#isBusy = false
  }
}

module.exports = { Bake, AT, Sweeps }
