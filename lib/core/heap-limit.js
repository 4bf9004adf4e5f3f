'use strict'

/**
 * V8's own limit of a worker's heap, and whether it fits. Below the budget, V8 ends the worker before the budget replaces
 * it; above the container's limit, the kernel kills the worker before V8 has collected its garbage in earnest.
 */

const MIB = 1024 ** 2
/** The share of the container's limit that one heap may take: the worker has memory beside it. */
const LARGEST_SHARE = 0.75

/** @typedef {{ maxRssBytes: number | null, hardRssBytes: number | null, limitBytes: number | null }} Terms */

/** MiB, of one semi-space at the most: from V8 13 on (Node 24) it grows larger. */
const SEMI_SPACE_MIB = { before13: 16, from13: 64 }

/**
 * The size of the old generation at which V8 ends a process.
 *
 * @param {number} heapLimitBytes V8's `heap_size_limit`, which includes three semi-spaces
 * @param {readonly string[]} flags of the process; the later one wins
 * @param {number} v8Major
 * @returns {number} bytes
 */
function oldSpaceLimit (heapLimitBytes, flags, v8Major) {
  const given = flags.map(flag => /^--max[-_]semi[-_]space[-_]size=(\d+)$/.exec(flag)?.[1]).filter(Boolean).at(-1)
  const semiMiB = given === undefined ? (v8Major >= 13 ? SEMI_SPACE_MIB.from13 : SEMI_SPACE_MIB.before13) : Number(given)
  return Math.max(MIB, heapLimitBytes - 3 * semiMiB * MIB)
}

/** The hard budget, up to which a worker may grow until it has left; no heap is larger than the worker. @param {Terms} terms @returns {number} MiB */
function oldSpaceMiB ({ hardRssBytes, limitBytes }) {
  const most = LARGEST_SHARE * (limitBytes ?? Infinity)
  return Math.floor(Math.min(hardRssBytes ?? most, most) / MIB)
}

/**
 * @param {'default' | 'auto'} heap as `--heap`
 * @param {Terms} terms
 * @returns {string[]} flags for the workers
 */
function heapFlags (heap, terms) {
  return heap === 'auto' ? [`--max-old-space-size=${oldSpaceMiB(terms)}`] : []
}

/**
 * @param {number} heapLimitBytes as V8 tells it
 * @param {number} oldLimitBytes of that, the old generation's: see oldSpaceLimit()
 * @param {Terms & { gc: import('./gc').Profile }} terms
 * @returns {{ warning: 'heap-limit', heapLimitBytes: number, softBytes: number | null, limitBytes: number | null, flag: string } | null} null: it fits
 */
function heapWarning (heapLimitBytes, oldLimitBytes, { gc, ...terms }) {
  const { maxRssBytes, limitBytes } = terms
  const isBelow = maxRssBytes !== null && heapLimitBytes < Math.min(maxRssBytes, LARGEST_SHARE * (limitBytes ?? Infinity))
  // The other profiles let a heap grow on purpose, until the budget has the worker replaced.
  const isAbove = gc === 'default' && limitBytes !== null && oldLimitBytes > limitBytes
  if (!isBelow && !isAbove) return null
  return { warning: 'heap-limit', heapLimitBytes, softBytes: isBelow ? maxRssBytes : null, limitBytes: isBelow ? null : limitBytes, flag: `--max-old-space-size=${oldSpaceMiB(terms)}` }
}

module.exports = { oldSpaceLimit, heapFlags, heapWarning }
