'use strict'

/**
 * With `--on-budget collect`, whether a collection is worth trying for a worker that is over budget, and whether it has
 * been enough. Both are made from what the journal records: `worker.condemn` and `collected`.
 *
 * What is left after a full collection is what the app keeps. Were that close to the budget, the worker would be back in
 * no time; so it must be well below. And a worker that is over budget again soon after makes garbage faster than it is worth
 * collecting out of rotation. Together they bound how often one worker can go round: a leak ends at the first rule.
 */

/** Of the soft budget: the most that may be left. */
const ENOUGH = 0.8
/** Looks after a collection, within which another one is not tried. */
const SOON = 10

/**
 * @param {object} condemned
 * @param {string | null} condemned.reason
 * @param {string | null} condemned.requested it is to be replaced anyway
 * @param {number} condemned.at ms, by any clock that only goes forward
 * @param {number | null} condemned.collectedAt when it collected last, ms, by any clock that only goes forward
 * @param {number} intervalMs between two looks
 */
function mayCollect ({ reason, requested, at, collectedAt }, intervalMs) {
  if (reason !== 'rss' && reason !== 'hard-rss') return false
  return requested === null && (collectedAt === null || at - collectedAt >= SOON * intervalMs)
}

/**
 * @param {number | null} bytes after the collection, by the budget's metric; null: it could not be read
 * @param {number | null} softBytes
 */
function isRelieved (bytes, softBytes) {
  return bytes !== null && softBytes !== null && bytes <= ENOUGH * softBytes
}

module.exports = { mayCollect, isRelieved }
