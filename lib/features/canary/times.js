'use strict'

/**
 * How often each time to the response occurred, by buckets of 5 %. At most 372 of them, whatever the times are.
 *
 * @typedef {Record<string, number>} Times bucket → how often
 * @typedef {{ medianMs: number, tailMs: number }} Thresholds a response that takes longer counts as slow
 */

const STEP = Math.log(1.05)
const LEAST_MS = 0.05
const MOST_MS = 3_600_000
/**
 * How much slower a response of the new code may be: a fast app is allowed what the scheduling of a shared machine
 * makes of a response.
 */
const SLOWER = 1.05
const SLOWER_MS = 0.5

/** @param {Times} times changed @param {number} ms */
function addTime (times, ms) {
  const bucket = Math.floor(Math.log(Math.min(MOST_MS, Math.max(LEAST_MS, ms)) / LEAST_MS) / STEP)
  times[bucket] = (times[bucket] ?? 0) + 1
}

/** @param {readonly Times[]} all @returns {Times} */
function poolTimes (all) {
  /** @type {Times} */
  const pooled = {}
  for (const times of all) {
    for (const [bucket, count] of Object.entries(times)) pooled[bucket] = (pooled[bucket] ?? 0) + count
  }
  return pooled
}

/**
 * @param {Times} times @param {number} share 0 to 1
 * @returns {number | null} ms, within the bucket as if its times were evenly spread; null: there are none
 */
function quantileOf (times, share) {
  const sorted = Object.entries(times).map(([bucket, count]) => [Number(bucket), count]).sort((a, b) => a[0] - b[0])
  const rank = share * sorted.reduce((sum, [, count]) => sum + count, 0)
  let below = 0
  for (const [bucket, count] of sorted) {
    if (below + count >= rank) return LEAST_MS * Math.exp(STEP * (bucket + (rank - below) / count))
    below += count
  }
  return null
}

/**
 * The thresholds of a bake, from the times of the old workers before it.
 * @param {readonly Times[]} all of the old workers
 * @returns {{ old: Thresholds, fresh: Thresholds } | null} what the workers of each code are told; null: there are no
 *   times
 */
function thresholdsOf (all) {
  const pooled = poolTimes(all)
  const [medianMs, tailMs] = [quantileOf(pooled, 0.5), quantileOf(pooled, 0.99)]
  if (medianMs === null || tailMs === null) return null
  const slower = (/** @type {number} */ ms) => Math.max(SLOWER * ms, ms + SLOWER_MS)
  return { old: { medianMs, tailMs }, fresh: { medianMs: slower(medianMs), tailMs: slower(tailMs) } }
}

module.exports = { addTime, poolTimes, quantileOf, thresholdsOf }
