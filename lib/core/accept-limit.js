'use strict'

/**
 * The limit: how many connections a worker accepts before it stops and leaves the queue to the others. It rises when all
 * responsive workers are full, so the fullest worker is never far above the emptiest, and no client waits for a worker
 * that does not respond.
 *
 * The limit is never below the floor: to stop and resume for every short connection would cost more than evenness is
 * worth. Below the floor, spread() evens out by moving connections.
 */

const FLOOR = 64
const STEP = 1.15
const BUSY = 0.8 // of its time

/**
 * @typedef {object} Load
 * @property {number} connections
 * @property {boolean} isFull the worker does not accept
 * @property {boolean} isAtCeiling it has no descriptors for more, whatever the limit
 * @property {boolean} isResponsive its last beat is recent
 */

/**
 * @param {number} limit
 * @param {readonly Load[]} loads of every worker that serves
 * @returns {number}
 */
function nextLimit (limit, loads) {
  const responsive = loads.filter(v => v.isResponsive)
  if (responsive.every(v => v.isFull) && responsive.some(v => !v.isAtCeiling)) return Math.ceil(limit * STEP)
  const mean = loads.reduce((sum, v) => sum + v.connections, 0) / Math.max(1, loads.length)
  const low = Math.max(FLOOR, Math.ceil(mean * STEP))
  return limit > low * STEP && !loads.some(v => v.isFull) ? low : limit
}

/**
 * Whether the workers that a rollout replaces leave new connections to those of the new generation: a client whose stream has been ended
 * comes back at once, and would be sent away again by the next worker. Not while the new ones have no time for more.
 *
 * @param {readonly { isStale: boolean, streams: number, elu: number | null }[]} loads of every worker that serves; `isStale`: it is to be
 *   replaced; `elu` null: nothing is known yet but what it did while it booted
 * @returns {boolean}
 */
function leavesToNew (loads) {
  const fresh = loads.filter(({ isStale }) => !isStale)
  const known = fresh.filter(({ elu }) => elu !== null)
  const haveTime = fresh.length > 0 && (known.length === 0 || known.some(({ elu }) => Number(elu) < BUSY))
  return haveTime && fresh.length < loads.length && loads.some(({ streams }) => streams > 0)
}

/**
 * How many of its idle connections each worker should give to its siblings. Every worker above the mean gives at the same
 * time: giving by the fullest alone would take a round for each worker.
 *
 * @param {readonly number[]} counts each worker's lasting connections: short ones even out by themselves, and to search
 *   thousands of them for idle ones would slow every response
 * @returns {number[]} one for each worker; all 0: the workers are even enough
 */
function spread (counts) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const most = Math.max(...counts)
  if (most <= Math.max(mean + 1, mean * STEP)) return forIdle(counts, mean)
  return counts.map(count => Math.max(0, Math.floor(count - mean)))
}

/**
 * A worker without any connection does nothing, however even the others are: each gets up to the mean, from the fullest.
 *
 * @param {readonly number[]} counts @param {number} mean
 * @returns {number[]}
 */
function forIdle (counts, mean) {
  const share = Math.max(1, Math.floor(mean))
  const gifts = counts.map(() => 0)
  for (let wanted = share * counts.filter(count => count === 0).length; wanted > 0; wanted--) {
    const left = counts.map((count, i) => count - gifts[i])
    const fullest = left.indexOf(Math.max(...left))
    if (left[fullest] <= share) break
    gifts[fullest]++
  }
  return gifts
}

module.exports = { FLOOR, leavesToNew, nextLimit, spread }
