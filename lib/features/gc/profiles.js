'use strict'

/**
 * The profiles of `--gc`: V8 flags that delay a worker's first mark-sweep until the budget replaces the worker.
 *
 * Observed on Node 20, 22, 24 and 26:
 * - The first mark-sweep begins when the old generation is within one semi-space of its limit.
 * - The limit starts at a few MiB, whatever `--max-old-space-size` is. `--initial-old-space-size` sets it, up to half
 *   of the largest old space.
 * - The new space grows only as objects survive, unless it starts at its full size.
 * - V8 12 (Node 22) lowers the first limit with each scavenge that leaves little alive, down to the heap's size: a heap
 *   of 600 MB was marked well below a limit of 1.6 GB. It keeps limits that follow a mark-sweep, so there a worker
 *   collects once while its heap is almost empty (8 ms).
 * - Up to Node 22, memory outside the heap has a limit that no flag sets. From 24 on it can be counted with the heap's.
 */

const { formatSize } = require('../../core/units')

const MIB = 1024 ** 2

const EXPERIMENT = { oldMiB: 100, semiMiB: 64 }
const MIN_INITIAL_MIB = 256
const SEMI_MIB = { least: 16, most: 64 } // above, page faults and cache misses cost more than scavenges
const SEMI_SHARE = 8 // of the budget: two semi-spaces take a quarter of it, and are full most of the time
const ROOM = 0.8 // of the heap is for the budget, the rest for growth until the worker has left

/** @typedef {'default' | 'huge-heap' | 'no-mark-sweep'} Profile */

/** @type {Record<Exclude<Profile, 'default'>, (budgetMiB: number, nodeMajor: number) => string[]>} */
const PROFILES = {
  'huge-heap': (budgetMiB, nodeMajor) => {
    const initialMiB = Math.max(MIN_INITIAL_MIB, 2 * budgetMiB)
    const share = 2 ** Math.floor(Math.log2(budgetMiB / SEMI_SHARE)) // V8 rounds to a power of two, upwards
    return [
      `--max-old-space-size=${2 * initialMiB}`,
      `--initial-old-space-size=${initialMiB}`,
      ...newSpace(Math.min(SEMI_MIB.most, Math.max(SEMI_MIB.least, share))),
      '--no-memory-reducer',
      // A later Node may drop the flag, and a worker with an unknown V8 flag does not start.
      ...nodeMajor >= 24 && nodeMajor <= 26 ? ['--external-memory-accounted-in-global-limit'] : []
    ]
  },
  'no-mark-sweep': () => [
    `--max-old-space-size=${EXPERIMENT.oldMiB}`,
    ...newSpace(EXPERIMENT.semiMiB),
    '--noconcurrent_sweeping',
    '--no-memory-reducer'
  ]
}

/** @param {number} semiMiB */
const newSpace = semiMiB => [`--min-semi-space-size=${semiMiB}`, `--max-semi-space-size=${semiMiB}`]

/**
 * @param {Profile} profile @param {{ maxRssBytes: number | null, nodeMajor: number }} terms
 * @returns {string[]} flags for the workers; none for `default`, or without a budget
 */
function gcFlags (profile, { maxRssBytes, nodeMajor }) {
  if (profile === 'default' || maxRssBytes === null) return []
  return PROFILES[profile](Math.ceil(maxRssBytes / MIB), nodeMajor)
}

/**
 * The largest budget that a worker reaches before its heap is full.
 * @param {Profile} profile @param {number} maxRssBytes
 * @param {string[]} nodeOptions the user's flags, which take precedence
 * @returns {number} bytes; Infinity for `default`, where V8's limits hold
 */
function largestBudget (profile, maxRssBytes, nodeOptions) {
  if (profile === 'default') return Infinity
  const flags = [...gcFlags(profile, { maxRssBytes, nodeMajor: NaN }), ...nodeOptions]
  const oldMiB = lastValue(flags, 'max-old-space-size')
  const semiMiB = lastValue(flags, 'max-semi-space-size')
  return Math.floor(ROOM * (oldMiB + 2 * semiMiB)) * MIB
}

/** @param {string[]} flags @param {string} name with dashes; V8 also takes underscores @returns {number} */
function lastValue (flags, name) {
  const values = flags.map(flag => flag.replaceAll('_', '-')).filter(flag => flag.startsWith(`--${name}=`))
  return Number(values.at(-1)?.split('=')[1])
}

/** @type {NonNullable<import('..').Feature['check']>} */
function check ({ gc, heap, maxRssBytes, nodeOptions }, { of, refuse }) {
  if (gc !== 'default' && maxRssBytes === null) refuse('gc', `default, unless ${of('maxRss').called} is set`)
  if (heap === 'auto' && (maxRssBytes === null || gc !== 'default')) {
    refuse('heap', `default, unless ${of('maxRss').called} is set and ${of('gc').called} is default`)
  }
  const largest = largestBudget(gc, Number(maxRssBytes), nodeOptions)
  if (Number(maxRssBytes) > largest) {
    refuse('maxRss',
      `a size of at most ${formatSize(largest)} with ${of('gc').called} ${gc}: the old space cannot grow larger`)
  }
}

module.exports = { gcFlags, largestBudget, check }
