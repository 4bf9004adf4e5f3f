'use strict'

/**
 * A rolling reload: which generation of workers is wanted, and whether its replacements come up. Pure.
 *
 * Each reload asks for a newer generation. One that comes while another is under way only raises what is wanted, so
 * overlapping reloads coalesce: no worker is replaced twice without need.
 */
class Rollout {
  /** Replacements in a row that may fail before the rollout is stopped. */
  static PATIENCE = 3

  /** Of workers that are spawned now. */
  generation = 0
  /** Workers older than this are to be replaced; null: no reload is under way. @type {number | null} */
  #wanted = null
  #failures = 0
  #stoppedAt = -1

  /**
   * @param {boolean} isStale some worker of the present generation has been spawned already, before this reload
   * @returns {number} the generation that workers must have for this reload to be over
   */
  begin (isStale) {
    if (isStale || this.wasStopped(this.generation)) this.generation++
    this.#wanted = this.generation
    this.#failures = 0
    return this.#wanted
  }

  /** @param {number} generation a worker's @returns {'reload' | null} */
  requested (generation) {
    return this.#wanted !== null && generation < this.#wanted ? 'reload' : null
  }

  succeeded () {
    this.#failures = 0
  }

  /** A replacement did not get ready. @returns {boolean} the rollout is stopped by it */
  failed () {
    if (this.#wanted === null || ++this.#failures < Rollout.PATIENCE) return false
    this.#stoppedAt = this.#wanted
    this.#wanted = null
    return true
  }

  /** @param {number} generation */
  wasStopped (generation) {
    return this.#stoppedAt >= generation
  }

  /** @param {number} generation */
  finish (generation) {
    if (this.#wanted === generation) this.#wanted = null
  }
}

module.exports = { Rollout }
