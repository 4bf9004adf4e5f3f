'use strict'

/**
 * The ceiling: how many connections a process has descriptors for. A reserve is kept for files and sockets that the app
 * opens between two counts. It is at most half of the free descriptors, so that a process with few of them still
 * serves.
 */

const RESERVE = 0.1 // of the limit
const RESERVE_MIN = 64

/**
 * @param {number} limit descriptors that the process may open @param {number} open descriptors in use
 * @param {number} connections those of them that are connections @returns {number} connections, 0 or more
 */
function ceilingOf (limit, open, connections) {
  const room = limit - Math.max(0, open - connections)
  const reserve = Math.max(RESERVE_MIN, Math.ceil(RESERVE * limit))
  return Math.max(0, room - Math.min(reserve, Math.ceil(room / 2)))
}

module.exports = { ceilingOf }
