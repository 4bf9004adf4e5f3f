'use strict'

/**
 * Workers count from their own start, and a counter must never go back: it grows by what each worker's count has grown
 * by since it was last seen, whichever worker is in the slot.
 */
class Growth {
  /** By pid, then by what is counted. @type {Map<number, Map<string, number>>} */
  #seen = new Map()

  /**
   * @param {number} pid
   * @param {string} what
   * @param {number | undefined} count of this worker so far
   * @returns {number} by how much it has grown since the last call
   */
  of (pid, what, count = 0) {
    const seen = this.#seen.get(pid) ?? new Map()
    this.#seen.set(pid, seen)
    const before = seen.get(what) ?? 0
    if (!(count > before)) return 0
    seen.set(what, count)
    return count - before
  }

  /** The worker is gone, and its pid may come again. @param {number} pid */
  forget (pid) {
    this.#seen.delete(pid)
  }
}

module.exports = { Growth }
