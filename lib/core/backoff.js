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

module.exports = { backoffMs }
