'use strict'

/**
 * For how long the event loop of a worker has been blocked, by when it was heard last. While it cannot run for another
 * reason (a signal or a debugger has stopped it), its silence says nothing.
 */

class Silence {
  /** A silence is counted from here at the earliest. */
  #sparedAt = -Infinity
  /** Since when it has not been able to run. @type {number | null} */
  #stoppedSince = null

  /**
   * @param {number} at @param {{ heardAt: number, isStopped: boolean }} seen now
   * @returns {{ blockedMs: number, stoppedMs: number }}
   */
  look (at, { heardAt, isStopped }) {
    if (isStopped) {
      this.#sparedAt = at
      this.#stoppedSince ??= heardAt
    } else {
      this.#stoppedSince = null
    }
    return {
      blockedMs: Math.max(0, at - Math.max(heardAt, this.#sparedAt)),
      stoppedMs: this.#stoppedSince === null ? 0 : at - this.#stoppedSince
    }
  }

  /** A silence from before says nothing. @param {number} at now */
  beginAnew (at) {
    this.#sparedAt = at
  }
}

module.exports = { Silence }
