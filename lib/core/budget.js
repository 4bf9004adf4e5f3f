'use strict'

/**
 * What one worker may use before it is replaced. Drawn once, when it is spawned: the jitter keeps workers that were
 * born together from leaving together. It only ever lowers a budget, so that what the user set is a promise.
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
