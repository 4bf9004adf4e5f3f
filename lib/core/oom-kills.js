'use strict'

/**
 * Tells a worker that the kernel killed for want of memory from one that was killed otherwise: the kernel counts its
 * kills, and has counted before the process exits. A kill that no worker's exit follows was of another process of the
 * container, and is not a later worker's.
 */

const EXIT_MS = 5000 // a large process takes a while to exit

class OomKills {
  /** Since the first reading. */
  total = 0
  /** When each kill was seen that no exit has been put down to. @type {number[]} */
  #open = []
  /** @type {number | null} */
  #last = null

  /**
   * @param {number | null} counter the kernel's; null: it could not be read
   * @param {number} now ms, by any clock that only goes forward
   */
  observe (counter, now) {
    if (counter === null) return
    const grown = this.#last === null ? 0 : Math.max(0, counter - this.#last)
    this.#last = counter
    this.total += grown
    this.#open = this.#open.filter(seenAt => now - seenAt <= EXIT_MS)
    for (let i = 0; i < grown; i++) this.#open.push(now)
  }

  /** A process was killed by SIGKILL, and not by the primary. @returns {boolean} by the kernel, for want of memory */
  claim () {
    return this.#open.shift() !== undefined
  }
}

module.exports = { OomKills }
