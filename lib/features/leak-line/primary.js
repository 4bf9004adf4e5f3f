'use strict'

/**
 * `recycle leak`, and `--leak-report`: studies of a worker, one at a time; see study.js. By `--leak-report` one begins
 * by itself when a worker that was not up for an hour is condemned for its memory, once a day at most.
 */

const { RecycleError, badOption, notDone } = require('../../core/errors')
const { pick } = require('../../core/fields')
const { worst } = require('./outcome')
const { sayPlace } = require('./place')
const { Study, NAME } = require('./study')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const DEFAULT_MS = 60_000
const LEAST_MS = 2000
const MOST_MS = 60 * 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SHARE_OF_LIFE = 0.7 // of a worker's time until it is condemned: the profiled one has the same budget
const MOST_TRIES = 5 // in a day, where a study has said nothing
const SHOWN = /** @type {const} */ (['t', 'slot', 'pid', 'by', 'tookMs', 'why', 'verdict', 'requests', 'bytes',
  'mostPerRequest', 'outside', 'found']) // of the journal's line

class LeakStudies {
  /** @type {Study | null} */
  #study = null
  /** The journal's `leak.end`. @type {Pick<Awaited<ReturnType<Study['run']>>, typeof SHOWN[number]> | null} */
  #latest = null
  /** When the first study of the day began by itself: ms, by kernel.now(). */
  #begunAt = -Infinity
  /** Studies since then that have said nothing. */
  #tries = 0

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
  }

  /** @type {import('./feature').Commands} */
  commands = {
    leak: async (slot, { forMs = DEFAULT_MS, isWhole = false, signal } = {}) => {
      if (!(Number.isInteger(forMs) && forMs >= LEAST_MS && forMs <= MOST_MS)) {
        throw badOption('forMs', forMs, `a whole number of milliseconds from ${LEAST_MS} to ${MOST_MS}`)
      }
      return this.#run(slot, { forMs, isWhole, by: 'requested' }, signal)
    }
  }

  beforeRecycle = {
    /** @param {WorkerHandle} handle */
    stateOf: handle => this.#study?.stateOf(handle) ?? null,
    run: async () => { await this.#study?.readLast() }
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    if (handle.terms.variant?.feature === NAME) {
      if (this.#study && !this.#study.isOver) this.#study.seat(handle)
      else handle.once('ready', () => { this.kernel.commands.recycle(Number(handle.slot)).catch(() => {}) })
    } else if (this.kernel.options.leakReport) {
      handle.once('leaving', () => this.#onLeaving(handle))
    }
  }

  /** @returns plain data for status() */
  describe () {
    return { study: this.#study?.describe() ?? null, latest: this.#latest }
  }

  /** @param {WorkerHandle} handle that is condemned for its memory @returns {string | null} what leaks */
  causeOf (handle) {
    const found = this.#latest && worst(this.#latest)
    return found && handle.condemnation.row?.isOfMemory ? `${sayPlace(found.at)} leaks` : null
  }

  async bequeath () {
    return this.#latest === null && this.#begunAt === -Infinity
      ? null
      : JSON.stringify({ latest: this.#latest, agoMs: this.kernel.now() - this.#begunAt })
  }

  /** @param {string} text */
  inherit (text) {
    const { latest, agoMs } = JSON.parse(text)
    this.#latest = latest
    this.#begunAt = agoMs === null ? -Infinity : this.kernel.now() - agoMs // JSON has no Infinity
  }

  /** @param {number} slot @param {Study['how']} how @param {AbortSignal} [signal] */
  async #run (slot, how, signal) {
    const refuse = (/** @type {string} */ why) => notDone(slot, 'the study', why)
    if (this.#study) throw refuse(`slot ${this.#study.slot} is under study`)
    if (this.kernel.fleet.serving().length < 2) throw refuse('no other worker serves, and one must while it is read')
    const study = this.#study = new Study(this.kernel, slot, how)
    try {
      const result = await study.run(signal)
      this.#latest = pick(result, SHOWN)
      return result
    } finally {
      this.#study = null
    }
  }

  /** @param {WorkerHandle} handle */
  #onLeaving ({ slot, condemnation: { row }, upSince }) {
    const { now, tenure } = this.kernel
    const upMs = upSince === null ? Infinity : now() - upSince
    const isDue = now() - this.#begunAt >= DAY_MS || (this.#tries > 0 && this.#tries < MOST_TRIES)
    if (slot === null || !row?.isOfMemory || upMs >= HOUR_MS || !isDue || this.#study ||
      !tenure.isSole) return
    if (now() - this.#begunAt >= DAY_MS) [this.#begunAt, this.#tries] = [now(), 0]
    this.#tries++
    const forMs = Math.round(Math.min(DEFAULT_MS, Math.max(LEAST_MS, SHARE_OF_LIFE * upMs)))
    this.#run(slot, { forMs, isWhole: false, by: 'budget' }).then(({ verdict }) => {
      if (verdict !== 'few' && verdict !== 'unread') this.#tries = 0
    }, error => {
      if (!(error instanceof RecycleError)) throw error
    })
  }
}

module.exports = { LeakStudies }
