'use strict'

const BASE_MS = 250
const LONGEST_MS = 60_000
const UNSERVED_MS = 1000 // the longest where no worker serves: clients wait

/**
 * The delay before the next try: 250 ms, doubled with each failure in a row, at most a minute.
 * @param {number} failures in a row so far, 0 or more @returns {number} milliseconds; 0 for no failure
 */
const backoffMs = failures => failures === 0 ? 0 : Math.min(LONGEST_MS, BASE_MS * 2 ** (failures - 1))

/** Tries that come ever more slowly while they fail. Times are ms by any clock that only goes forward. */
class Backoff {
  /** In a row. */
  failures = 0
  /** No next try before. */
  notBefore = 0
  /** The same, while no worker serves. */
  unservedNotBefore = 0

  /** @param {number} now */
  failed (now) {
    const delayMs = backoffMs(++this.failures)
    this.notBefore = now + delayMs
    this.unservedNotBefore = now + Math.min(UNSERVED_MS, delayMs)
  }

  succeeded () {
    this.failures = this.notBefore = this.unservedNotBefore = 0
  }
}

module.exports = { backoffMs, Backoff }
