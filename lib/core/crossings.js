'use strict'

/**
 * Spreads the recycles of workers that are going to cross their budgets: where more would fall within one boot time
 * than may run at once, earlier ones begin earlier, and none waits over its budget. A recycle is never put off.
 *
 * @typedef {{ slot: number, crossesAt: number }} Crossing ms, by any clock that only goes forward
 */

/**
 * @param {readonly Crossing[]} crossings
 * @param {{ bootMs: number, atOnce: number }} terms `bootMs`: how long a replacement takes; `atOnce`: how many recycles
 *   may run
 * @returns {{ slot: number, beginAt: number }[]} those that are to begin before they cross
 */
function spreadCrossings (crossings, { bootMs, atOnce }) {
  const inOrder = [...crossings].sort((a, b) => a.crossesAt - b.crossesAt || a.slot - b.slot)
  /** @type {number[]} */
  const begins = []
  for (let i = inOrder.length - 1; i >= 0; i--) {
    begins[i] = Math.min(inOrder[i].crossesAt, (begins[i + atOnce] ?? Infinity) - bootMs)
  }
  return inOrder.map(({ slot }, i) => ({ slot, beginAt: begins[i] }))
    .filter(({ beginAt }, i) => beginAt < inOrder[i].crossesAt)
}

module.exports = { spreadCrossings }
