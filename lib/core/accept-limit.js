'use strict'

/**
 * The limit: how many connections a worker accepts before it stops and leaves the queue to the others. It rises when
 * all responsive workers are full, so the fullest worker is never far above the emptiest, and no client waits for a
 * worker that does not respond.
 *
 * The limit is never below the floor: to stop and resume for every short connection would cost more than evenness is
 * worth. Below the floor, workers even out by moving connections (sharing.js).
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

/** @param {number} limit @param {readonly Load[]} loads of every worker that serves @returns {number} */
function nextLimit (limit, loads) {
  const responsive = loads.filter(v => v.isResponsive)
  if (responsive.every(v => v.isFull) && responsive.some(v => !v.isAtCeiling)) return Math.ceil(limit * STEP)
  const mean = loads.reduce((sum, v) => sum + v.connections, 0) / Math.max(1, loads.length)
  const low = Math.max(FLOOR, Math.ceil(mean * STEP))
  return limit > low * STEP && !loads.some(v => v.isFull) ? low : limit
}

/**
 * Whether the workers that a rollout replaces leave new connections to those of the new generation: a client whose
 * stream has been ended comes back at once, and would be sent away again by the next worker. Not while the new ones
 * have no time for more.
 * @param {readonly { isStale: boolean, streams: number, elu: number | null }[]} loads of every worker that serves;
 *   `isStale`: it is to be replaced; `elu` null: nothing is known yet but what it did while it booted
 * @returns {boolean}
 */
function leavesToNew (loads) {
  const fresh = loads.filter(({ isStale }) => !isStale)
  const known = fresh.filter(({ elu }) => elu !== null)
  const haveTime = fresh.length > 0 && (known.length === 0 || known.some(({ elu }) => Number(elu) < BUSY))
  return haveTime && fresh.length < loads.length && loads.some(({ streams }) => streams > 0)
}

module.exports = { FLOOR, leavesToNew, nextLimit }
