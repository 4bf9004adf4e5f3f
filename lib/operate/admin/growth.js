'use strict'

/** Turns counts of workers, which begin at 0 with each worker, into increments for counters that never decrease. */
class Growth {
  /** By pid, then by name of the count. @type {Map<number, Map<string, number>>} */
  #seen = new Map()

  /**
   * @param {number} pid @param {string} what @param {number | undefined} count of this worker so far
   * @returns {number} the increment since the last call
   */
  of (pid, what, count = 0) {
    const seen = this.#seen.get(pid) ?? new Map()
    this.#seen.set(pid, seen)
    const before = seen.get(what) ?? 0
    if (!(count > before)) return 0
    seen.set(what, count)
    return count - before
  }

  /** By pid, of the workers. @returns {Record<string, Record<string, number>>} */
  get seen () {
    return Object.fromEntries([...this.#seen].filter(([pid]) => pid > 0)
      .map(([pid, counts]) => [pid, Object.fromEntries(counts)]))
  }

  /** Another primary has had these workers, and has counted that. @param {ReturnType<() => Growth['seen']>} seen */
  goOn (seen) {
    for (const [pid, counts] of Object.entries(seen)) this.#seen.set(Number(pid), new Map(Object.entries(counts)))
  }

  /** The worker is gone, and the system may reuse its pid. @param {number} pid */
  forget (pid) {
    this.#seen.delete(pid)
  }
}

module.exports = { Growth }
