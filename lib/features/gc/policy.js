'use strict'

/**
 * `--on-budget collect`: whether a worker over budget should try a collection, and whether the collection was enough.
 * Both decisions use only what the journal records: `worker.condemn` and `collected`.
 *
 * Memory left after a full collection is live. It must be well below the budget, else the worker is over it again at
 * once. A worker that exceeds the budget again soon after a collection makes garbage too fast to collect out of
 * rotation. Together the two rules bound how often a worker collects.
 */

/** The largest share of the soft budget that may be left. */
const ENOUGH = 0.8
/** Sampling intervals after a collection during which no other is tried. */
const SOON = 10

/**
 * @param {object} condemned @param {string | null} condemned.reason
 * @param {string | null} condemned.requested another reason to replace it
 * @param {number} condemned.at ms, by any clock that only goes forward
 * @param {number | null} condemned.collectedAt its last collection, ms, by the same clock
 * @param {number} intervalMs between two samples
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
