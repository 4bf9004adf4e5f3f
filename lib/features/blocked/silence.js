'use strict'

/**
 * For how long the event loop of a worker has been blocked, by when it was heard last. While it cannot run for another reason (a signal or a
 * debugger has stopped it), its silence says nothing.
 */

class Silence {
  #sparedAt = -Infinity
  /** Since when it has not been able to run. @type {number | null} */
  #heldSince = null

  /**
   * @param {number} at
   * @param {{ heardAt: number, isHeld: boolean }} seen now
   * @returns {{ blockedMs: number, heldMs: number }}
   */
  look (at, { heardAt, isHeld }) {
    if (isHeld) {
      this.#sparedAt = at
      this.#heldSince ??= heardAt
    } else {
      this.#heldSince = null
    }
    return { blockedMs: Math.max(0, at - Math.max(heardAt, this.#sparedAt)), heldMs: this.#heldSince === null ? 0 : at - this.#heldSince }
  }
}

module.exports = { Silence }
