'use strict'

/**
 * The ceiling: how many connections a process has descriptors for. A reserve is kept for what the app opens between two
 * counts. Where little is left it is half of what is left, so that a process with few descriptors serves all the same.
 */

const RESERVE = 0.1 // of the limit, at least …
const RESERVE_MIN = 64 // … as many

/**
 * @param {number} limit descriptors that the process may have
 * @param {number} open how many it has
 * @param {number} connections how many of those are connections
 * @returns {number} connections, 0 or more
 */
function ceilingOf (limit, open, connections) {
  const room = limit - Math.max(0, open - connections)
  const reserve = Math.max(RESERVE_MIN, Math.ceil(RESERVE * limit))
  return Math.max(0, room - Math.min(reserve, Math.ceil(room / 2)))
}

module.exports = { ceilingOf }
