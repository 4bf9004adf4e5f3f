'use strict'

/**
 * Whether the share of responses of a kind is larger in the new code. Responses fail together: those of one connection,
 * because its client repeats itself, and those of the same seconds, because a backend was away. So the design effect is
 * estimated both ways (how much larger the variance is than that of independent responses), and as many responses fewer
 * are believed. The larger probability counts.
 *
 * @typedef {{ k: number, n: number, design: number, groups: number }} Side
 */

const { sumsOf } = require('./counts')
const { addGroup, noSums, poolSums, ratioOf, varianceOf } = require('./sums')
const { binomialTail, studentTail } = require('./tails')
/** @import { Kind } from './counts' */
/** @import { Sums } from './sums' */
/** @import { Window } from './verdict' */

const RARE = 0.2 // up to here the exact tail counts too: few responses of the kind are far from normal
const FEW = 6 // groups, which may agree by chance: then the other code's design effect counts, where it is larger
const LEAST_FREEDOM = 5 // or two connections to new code that always fails would never be believed
const NEARLY_ALL = 0.9 // of the responses: this is the code, however few connections it has
const LEAST_OF_ONE = 100 // requests of an old worker, below which it is not looked at by itself

/**
 * How likely so large a difference is in equal code; 1: it is none.
 * @param {Kind} kind @param {readonly Window[]} fresh @param {readonly Window[]} old
 */
function chanceOf (kind, fresh, old) {
  const [ours, theirs] = [fresh, old].map(windows => poolSums(windows.map(window => sumsOf(window, kind))))
  if (!(ratioOf(ours) > ratioOf(theirs))) return 1
  const isNearlyAll = ratioOf(ours) >= NEARLY_ALL && ratioOf(theirs) < NEARLY_ALL / 2
  return Math.max(isNearlyAll ? 0 : byConnection(ours, theirs), byTime(kind, fresh, old, ours, theirs))
}

/** @param {Sums} ours @param {Sums} theirs */
function byConnection (ours, theirs) {
  const rest = 1 - ratioOf(poolSums([ours, theirs]))
  const [mine, other] = [designOf(ours, rest), designOf(theirs, rest)]
  const of = ({ k, n, groups } = ours, own = mine) => ({
    k, n, groups, design: groups < FEW ? Math.max(mine, other) : own
  })
  return tailOf(of(), of(theirs, other))
}

/**
 * Within each stretch of time, so that what happened to all workers alike is no difference.
 * @param {Kind} kind @param {readonly Window[]} fresh @param {readonly Window[]} old @param {Sums} ours
 * @param {Sums} theirs
 */
function byTime (kind, fresh, old, ours, theirs) {
  const [mine, other] = [fresh, old].map(windows => blocksOf(kind, windows))
  const excess = noSums()
  let independent = 0
  const [share, rest] = [ratioOf(ours), 1 - ratioOf(poolSums([ours, theirs]))]
  mine.forEach(({ k, n }, at) => {
    if (n === 0) return
    const beside = other[at]?.n > 0 ? other[at] : theirs
    addGroup(excess, k - n * beside.k / beside.n, n)
    independent += n * share * rest * (1 + n / beside.n)
  })
  if (excess.groups < 2) return 1
  const more = ratioOf(excess)
  if (!(more > 0)) return 1
  const design = independent > 0 ? Math.max(1, varianceOf(excess) * excess.n ** 2 / independent) : 1
  return tailOf(
    { k: ours.k, n: ours.n, design, groups: excess.groups },
    { k: theirs.n * Math.max(0, share - more), n: theirs.n, design, groups: excess.groups }
  )
}

/**
 * @param {Kind} kind @param {readonly Window[]} windows
 * @returns {{ k: number, n: number }[]} of all workers together, by stretch
 */
function blocksOf (kind, windows) {
  const pooled = Array.from(
    { length: Math.max(0, ...windows.map(({ blocks }) => blocks.length)) }, () => ({ k: 0, n: 0 })
  )
  for (const { blocks } of windows) {
    blocks.forEach((block, at) => {
      pooled[at].k += block[kind]
      pooled[at].n += block.requests
    })
  }
  return pooled
}

/**
 * By the share of both codes that is not of the kind, so that twice as many responses of the kind are never less
 * evidence.
 * @param {Sums} sums @param {number} rest 1 less the share of both
 * @returns {number} 1 or more; 1, too, where one group cannot tell
 */
function designOf (sums, rest) {
  const independent = ratioOf(sums) * rest / sums.n
  return sums.groups >= 2 && independent > 0 ? Math.max(1, varianceOf(sums) / independent) : 1
}

/** @param {Side} ours @param {Side} theirs */
function tailOf (ours, theirs) {
  const pooled = (ours.k + theirs.k) / (ours.n + theirs.n)
  const [mine, other] = [ours, theirs].map(({ n, design }) => design * pooled * (1 - pooled) / n)
  const freedom = Math.max(LEAST_FREEDOM, Math.min(ours.groups, theirs.groups) - 1)
  const normal = studentTail((ours.k / ours.n - theirs.k / theirs.n) / Math.sqrt(mine + other), freedom)
  if (pooled > RARE) return normal
  return Math.max(
    normal, binomialTail(ours.k / ours.design, (ours.k + theirs.k) / ours.design, ours.n / (ours.n + theirs.n))
  )
}

/**
 * Whether the share is larger by the margin, also beside each old worker that has enough requests: workers of equal
 * code differ, too. Of each the standard error is taken off, because the worst of several is so partly by chance.
 * @param {Kind} kind @param {readonly Window[]} fresh @param {readonly Window[]} old
 * @param {{ least: number, times: number }} margin `least`: difference of the shares
 * @returns {'none' | 'pooled' | 'one'} what it is within the margin of: the old workers together, one of them
 */
function within (kind, fresh, old, { least, times }) {
  const share = ratioOf(poolSums(fresh.map(window => sumsOf(window, kind))))
  const isBeyond = (/** @type {number} */ other) => share >= other + least && share >= other * times
  if (!isBeyond(ratioOf(poolSums(old.map(window => sumsOf(window, kind)))))) return 'pooled'
  const each = old.map(window => sumsOf(window, kind)).filter(({ n }) => n >= LEAST_OF_ONE)
  return each.every(sums => isBeyond(ratioOf(sums) - errorOf(sums))) ? 'none' : 'one'
}

/** @param {Sums} sums */
function errorOf (sums) {
  const share = ratioOf(sums)
  return Math.sqrt(designOf(sums, 1 - share) * share * (1 - share) / sums.n)
}

module.exports = { LEAST_OF_ONE, chanceOf, within }
