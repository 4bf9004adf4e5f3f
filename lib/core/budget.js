'use strict'

/**
 * What a worker may use before it is replaced. The budget is drawn once, at the spawn: jitter keeps workers that start
 * together from being replaced together. Jitter only lowers a budget, so the user's value is a maximum.
 *
 * @typedef {object} Budget
 * @property {'rss' | 'pss' | 'uss'} metric
 * @property {number | null} softBytes
 * @property {number | null} hardBytes
 * @property {number} samples
 * @property {number | null} maxRequests
 * @property {number | null} maxAgeMs
 * @property {number} stuckMs
 */

/**
 * @param {import('./options').Options} options
 * @param {number} random 0 to 1
 * @returns {Readonly<Budget>}
 */
function drawBudget (options, random) {
  const share = 1 - options.jitter * random
  const lower = (/** @type {number | null} */ value) => value === null ? null : Math.max(1, Math.round(value * share))
  return Object.freeze({
    metric: options.metric,
    softBytes: lower(options.maxRssBytes),
    hardBytes: lower(options.hardRssBytes),
    samples: options.samples,
    maxRequests: lower(options.maxRequests),
    maxAgeMs: lower(options.maxAgeMs),
    stuckMs: options.stuckTimeoutMs
  })
}

module.exports = { drawBudget }
