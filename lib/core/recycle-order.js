'use strict'

/**
 * Which condemned workers to recycle next. The largest goes first, except that a worker which has waited long goes
 * before larger ones. Surge and unavailability limit how many recycle at once. A recycle counts from the spawn of the
 * replacement until the old worker has exited.
 *
 * @typedef {object} Candidate a condemned worker whose recycle has not begun
 * @property {number} slot
 * @property {number} bytes its size at the verdict
 * @property {number} since when it was condemned: ms, by any clock that only goes forward
 * @property {number} notBefore the end of its backoff: ms, by the same clock
 *
 * @typedef {object} Capacity
 * @property {number} workers the intended number of workers
 * @property {number} ready workers that are ready
 * @property {number} surging recycles whose replacement runs beside the old worker, and standbys that are not ready to
 *   take over
 * @property {number} maxSurge processes that may run beside the fleet; ready standbys do not count
 * @property {number} maxUnavailable
 *
 * @typedef {{ slot: number, how: 'surge' | 'drain-first' }} Turn
 */

const PATIENCE_MS = 10_000

/**
 * @param {readonly Candidate[]} condemned @param {Capacity} capacity @param {number} now ms, by the same clock
 * @returns {Turn[]} the recycles to begin now, in order
 */
function nextRecycles (condemned, capacity, now) {
  let { surging, ready } = capacity
  /** @type {Turn[]} */
  const turns = []
  const longWait = (/** @type {Candidate} */ c) => now - c.since >= PATIENCE_MS ? now - c.since : 0
  const inOrder = condemned.filter(c => c.notBefore <= now)
    .sort((a, b) => longWait(b) - longWait(a) || b.bytes - a.bytes || a.slot - b.slot)
  for (const { slot } of inOrder) {
    if (surging < capacity.maxSurge) {
      surging++
      turns.push({ slot, how: 'surge' })
    } else if (ready - 1 >= capacity.workers - capacity.maxUnavailable) {
      ready--
      turns.push({ slot, how: 'drain-first' })
    }
  }
  return turns
}

/**
 * Some worker serves at all times, but where there is a single one that may run beside no other: its clients then wait.
 * @param {{ maxSurge: number, maxUnavailable: number }} capacity
 * @returns {number} how many workers a fleet must have at the least
 */
function fewestWorkers ({ maxSurge, maxUnavailable }) {
  return maxSurge === 0 && maxUnavailable === 1 ? 1 : maxUnavailable + 1
}

module.exports = { nextRecycles, fewestWorkers }
