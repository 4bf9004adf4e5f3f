'use strict'

/**
 * The order of recycles. Of the condemned workers the largest goes first, but one that has waited long goes before larger
 * ones. How many may recycle at once is what surge and unavailability allow. A recycle holds its place from the spawning of
 * the replacement until the old worker is gone.
 *
 * @typedef {object} Candidate a condemned worker whose recycle has not begun
 * @property {number} slot
 * @property {number} bytes its size at the verdict
 * @property {number} since ms, by any clock that only goes forward: when it was condemned
 * @property {number} notBefore ms, by any clock that only goes forward: its backoff
 *
 * @typedef {object} Capacity
 * @property {number} workers how many there should be
 * @property {number} ready how many are
 * @property {number} surging recycles under way whose replacement runs beside the old worker, and standbys that cannot be taken yet
 * @property {number} maxSurge processes that may run beside the fleet; standbys that can be taken are what they are taken from
 * @property {number} maxUnavailable
 *
 * @typedef {{ slot: number, how: 'surge' | 'drain-first' }} Turn
 */

const PATIENCE_MS = 10_000

/**
 * @param {readonly Candidate[]} condemned
 * @param {Capacity} capacity
 * @param {number} now ms, by any clock that only goes forward
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

module.exports = { nextRecycles }
