'use strict'

/**
 * The straight line through the latest readings of a worker's memory, by least squares, and when it crosses the budget.
 *
 * @typedef {readonly (readonly [atMs: number, bytes: number])[]} Trend oldest first
 */

const KEPT = 30
const LEAST = 8
const FURTHEST = 2 // times as far ahead as the readings go back
const NEAR = 0.7 // of the budget; below, a worker that has just started would be taken for one that grows without end
const CERTAIN = 3 // standard errors that the slope is from zero

/**
 * @param {Trend} trend @param {number} atMs by any clock that only goes forward @param {number} bytes @returns {Trend}
 */
const pushReading = (trend, atMs, bytes) => [...trend, /** @type {const} */ ([atMs, bytes])].slice(-KEPT)

/**
 * @param {Trend} trend @param {number | null} softBytes
 * @returns {number | null} how long after the latest reading the line is at the budget, ms; null: it is not near it, is
 *   too far ahead for these readings, or it is not certain that it grows
 */
function timeToCrossing (trend, softBytes) {
  if (softBytes === null || trend.length < LEAST) return null
  const [[origin], [latest]] = /** @type {[Trend[0], Trend[0]]} */ ([trend[0], trend.at(-1)])
  const mean = (/** @type {(x: number, y: number) => number} */ of) =>
    trend.reduce((sum, [at, bytes]) => sum + of(at - origin, bytes), 0) / trend.length
  const [meanX, meanY] = [mean(x => x), mean((_, y) => y)]
  const [spreadX, both, spreadY] = [
    mean(x => (x - meanX) ** 2), mean((x, y) => (x - meanX) * y), mean((_, y) => (y - meanY) ** 2)
  ]
  const slope = both / spreadX
  const error = Math.sqrt(Math.max(0, spreadY - slope * both) / (spreadX * (trend.length - 2)))
  const atLatest = meanY + slope * (latest - origin - meanX)
  if (!(slope > CERTAIN * error) || atLatest < NEAR * softBytes) return null // the slope of readings at one time is NaN
  const aheadMs = Math.max(0, (softBytes - atLatest) / slope)
  return aheadMs <= FURTHEST * (latest - origin) ? aheadMs : null
}

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

module.exports = { pushReading, timeToCrossing, spreadCrossings }
