'use strict'

/** @import { Options } from '../../tables/options' */

/**
 * V8's own limit of a worker's heap, and whether it fits. Below the budget, V8 ends the worker before the budget
 * replaces it; above the container's limit, the kernel kills the worker before V8 has collected its garbage in earnest.
 */

const MIB = 1024 ** 2
/** The share of the container's limit that one heap may take: the worker has memory beside it. */
const LARGEST_SHARE = 0.75

/** @typedef {Pick<Options, 'maxRssBytes' | 'hardRssBytes' | 'gc'> & { sizing: { limitBytes: number | null } }} Terms */

/**
 * For the hard budget, up to which a worker may grow until it has left; no heap is larger than the worker.
 * @param {Omit<Terms, 'gc' | 'maxRssBytes'>} terms
 */
function oldSpaceFlag ({ hardRssBytes, sizing: { limitBytes } }) {
  const most = LARGEST_SHARE * (limitBytes ?? Infinity)
  return `--max-old-space-size=${Math.floor(Math.min(hardRssBytes ?? most, most) / MIB)}`
}

/**
 * @param {number} heapLimitBytes as V8 tells it
 * @param {number} oldLimitBytes of that, the old generation's: see oldSpaceLimit() @param {Terms} terms
 * @returns {{ warning: 'heap-limit', heapLimitBytes: number, softBytes: number | null, limitBytes: number | null,
 *   flag: string } | null} null: it fits
 */
function heapWarning (heapLimitBytes, oldLimitBytes, terms) {
  const { gc, maxRssBytes, sizing: { limitBytes } } = terms
  const isBelow = maxRssBytes !== null &&
    heapLimitBytes < Math.min(maxRssBytes, LARGEST_SHARE * (limitBytes ?? Infinity))
  // The other profiles let a heap grow on purpose, until the budget has the worker replaced.
  const isAbove = gc === 'default' && limitBytes !== null && oldLimitBytes > limitBytes
  if (!isBelow && !isAbove) return null
  return {
    warning: 'heap-limit', heapLimitBytes, softBytes: isBelow ? maxRssBytes : null,
    limitBytes: isBelow ? null : limitBytes, flag: oldSpaceFlag(terms)
  }
}

module.exports = { oldSpaceFlag, heapWarning }
