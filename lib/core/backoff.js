'use strict'

const BASE_MS = 250
const LONGEST_MS = 60_000

/**
 * The delay before the next try: 250 ms, doubled with each failure in a row, at most a minute.
 *
 * @param {number} failures in a row so far, 0 or more
 * @returns {number} milliseconds; 0 for no failure
 */
function backoffMs (failures) {
  return failures === 0 ? 0 : Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(failures - 1, 20))
}

/** Tries that come ever more slowly while they fail. Times are ms by any clock that only goes forward. */
class Backoff {
  /** In a row. */
  failures = 0
  /** No next try before. */
  notBefore = 0

  /** @param {number} now */
  failed (now) {
    this.notBefore = now + backoffMs(++this.failures)
  }

  succeeded () {
    this.failures = 0
    this.notBefore = 0
  }
}

module.exports = { backoffMs, Backoff }
