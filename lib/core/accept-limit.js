'use strict'

/**
 * The level: how many connections a worker takes before it stops accepting and leaves the queue to the others. It rises
 * when all are full, like water in connected loads, so the fullest worker is never far above the emptiest; and it
 * never keeps a client waiting for a worker that does not respond.
 *
 * Below the floor there is no level: starting and stopping to accept for every short connection would cost more than the
 * evenness is worth. What is uneven down there, spread() evens out by moving connections.
 */

const FLOOR = 64
const STEP = 1.15

/**
 * @typedef {object} Load
 * @property {number} connections
 * @property {boolean} isFull it has stopped accepting
 * @property {boolean} isAtCeiling it has no descriptors for more, whatever the level
 * @property {boolean} isResponsive it has been heard of lately
 */

/**
 * @param {number} level
 * @param {readonly Load[]} loads every worker that serves
 * @returns {number}
 */
function nextLimit (level, loads) {
  const responsive = loads.filter(v => v.isResponsive)
  if (responsive.every(v => v.isFull) && responsive.some(v => !v.isAtCeiling)) return Math.ceil(level * STEP)
  const mean = loads.reduce((sum, v) => sum + v.connections, 0) / Math.max(1, loads.length)
  const low = Math.max(FLOOR, Math.ceil(mean * STEP))
  return level > low * STEP && !loads.some(v => v.isFull) ? low : level
}

/**
 * How many of its idle connections each worker should give to its siblings, so that they are even. A worker that has more than
 * the mean gives, all at once: what the fullest alone gave would take a round for each of them.
 *
 * @param {readonly number[]} counts each worker's lasting connections: what is short-lived evens out by itself, and looking
 *   for those that might move among thousands that come and go would cost something at each response
 * @returns {number[]} one for each worker; all 0: they are even enough
 */
function spread (counts) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const most = Math.max(...counts)
  const isEven = most <= Math.max(mean + 1, mean * STEP) || most - Math.min(...counts) < 2
  return counts.map(count => isEven ? 0 : Math.max(0, Math.floor(count - mean)))
}

module.exports = { FLOOR, nextLimit, spread }
