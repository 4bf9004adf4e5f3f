'use strict'

const SHORTEST_MS = 1000 // a hundred ticks: one of them is not the 99th percentile

/**
 * Over how long a 99th percentile of delays is taken.
 *
 * @param {{ intervalMs: number, samples: number }} options @returns {number} ms
 */
function lagPeriodMs ({ intervalMs, samples }) {
  return Math.max(SHORTEST_MS, intervalMs * samples)
}

/**
 * Whether a worker has been up for long enough for its figure to be of that time alone: it may be a period old.
 *
 * @param {number} ageMs @param {{ intervalMs: number, samples: number }} options
 */
function isLagKnown (ageMs, options) {
  return ageMs >= 3 * lagPeriodMs(options)
}

module.exports = { lagPeriodMs, isLagKnown }
