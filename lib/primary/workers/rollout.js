'use strict'

/**
 * Which code the fleet's workers are to run, by the number of its generation, and whether replacements come up. Pure.
 *
 * Each reload asks for a newer generation. One that comes while another is under way only raises what is wanted, so
 * overlapping reloads coalesce: no worker is replaced twice without need. New code can be tried first, in slots of its
 * own. Where the replacements of a reload fail, workers that are spawned run the code before, as long as they can:
 *
 *     try() ─▶ on trial ─┬─ promote() ─▶ all are to run it ─▶ finish()
 *                        └─ reject()  ─▶ its slots close
 */
class Rollout {
  /** Replacements in a row that may fail before the rollout is stopped. */
  static PATIENCE = 3

  /** Of workers that are spawned now, but for those on trial. */
  generation = 0
  /** The generation of the latest reload that was finished. */
  proven = 0
  /** The highest so far. */
  latest = 0
  /** Workers older than this are to be replaced; null: no reload is under way. @type {number | null} */
  #wanted = null
  #failures = 0
  #stoppedAt = -1
  /**
   * The latest reload, where replacements that failed have stopped it; `why` the last one did; `isReplaced`: the code
   * before is there no more, and workers that are spawned run the new one.
   * @type {{ readonly generation: number, readonly failures: number, readonly why: string, readonly isReplaced: boolean
   *   } | null}
   */
  stopped = null
  /** The latest code was on trial and is rejected, and no worker runs it. */
  wasRejected = false
  /**
   * New code, and the slots that run it beside the fleet's.
   * @type {{ readonly generation: number, readonly slots: readonly number[] } | null}
   */
  trial = null

  /**
   * Another primary has had workers of this generation: what this one runs is later. Once it has workers of its own,
   * the next one is.
   * @param {number} generation @param {boolean} [hasWorkers]
   */
  follow (generation, hasWorkers = false) {
    this.latest = Math.max(this.latest, generation)
    if (!hasWorkers) this.generation = this.proven = ++this.latest
  }

  /**
   * @param {boolean} isStale some worker of the present generation has been spawned already, before this reload
   * @returns {number} the generation that workers must have for this reload to be over
   */
  begin (isStale) {
    if (isStale || this.wasStopped(this.generation)) this.generation = ++this.latest
    return this.#want(this.generation)
  }

  /**
   * Workers are to run the code before; that on trial, if it has been promoted, leaves.
   * @returns {number} the generation that workers must have for it to be over
   */
  goBack () {
    this.trial = null
    return this.begin(true)
  }

  /** Workers are being replaced by those of a reload. */
  get isUnderWay () {
    return this.#wanted !== null
  }

  /** New code runs beside the fleet's, and is neither promoted nor rejected. */
  get isOnTrial () {
    return this.trial !== null && this.trial.generation !== this.generation
  }

  /** @param {readonly number[]} slots that there are not yet @returns {number} the generation of the code on trial */
  try (slots) {
    this.trial = { generation: ++this.latest, slots }
    this.stopped = null
    this.wasRejected = false
    return this.trial.generation
  }

  /**
   * @returns {number} the generation that workers must have for the reload to be over; the slots of the trial stay
   *   until then
   */
  promote () {
    this.generation = /** @type {NonNullable<typeof this.trial>} */ (this.trial).generation
    return this.#want(this.generation)
  }

  /**
   * @param {boolean} isReplaced the code before is there no more: workers that are spawned from here on run the
   *   rejected code
   */
  reject (isReplaced) {
    const { generation } = /** @type {NonNullable<typeof this.trial>} */ (this.trial)
    this.#stoppedAt = generation
    this.wasRejected = !isReplaced
    if (isReplaced) this.generation = generation
    this.trial = null
  }

  /** @param {number | null} slot null: a standby's @returns {number} the generation that its worker is to be of */
  of (slot) {
    return slot !== null && this.trial?.slots.includes(slot) ? this.trial.generation : this.generation
  }

  /** @param {number} generation a worker's @returns {'reload' | null} */
  requested (generation) {
    return this.#wanted !== null && generation < this.#wanted ? 'reload' : null
  }

  succeeded () {
    this.#failures = 0
  }

  /**
   * @param {string} why a replacement did not get ready
   * @param {(before: number, wanted: number) => boolean} [canGoBack] workers can be started by the code before
   * @returns {boolean} the rollout is stopped by it
   */
  failed (why, canGoBack = () => false) {
    if (this.#wanted === null || ++this.#failures < Rollout.PATIENCE) return false
    const generation = this.#stoppedAt = this.#wanted
    const isReplaced = !canGoBack(this.proven, generation)
    this.stopped = { generation, failures: this.#failures, why, isReplaced }
    if (!isReplaced) this.generation = this.proven
    this.#wanted = this.trial = null
    return true
  }

  /** @param {number} generation */
  wasStopped (generation) {
    return this.#stoppedAt >= generation
  }

  /** @param {number} generation */
  finish (generation) {
    this.proven = Math.max(this.proven, generation)
    if (this.#wanted === generation) this.#wanted = this.trial = null
  }

  /** @param {number} generation */
  #want (generation) {
    this.#wanted = generation
    this.#failures = 0
    this.stopped = null
    this.wasRejected = false
    return generation
  }
}

module.exports = { Rollout }
