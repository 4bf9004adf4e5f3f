'use strict'

/**
 * Whether the event loop works longer for a request in the new code. A worker also works without requests (timers, its
 * own reports), which weighs more where it has fewer of them. So what the old workers need is taken as a time for each
 * stretch and a time for each request, and the new ones are compared with what old ones would need for the same
 * requests in the same stretch.
 */

const { LEAST_OF_ONE } = require('./shares')
const { addGroup, noSums, ratioOf, varianceOf } = require('./sums')
const { studentTail } = require('./tails')
/** @import { Window } from './verdict' */

const TIMES = 1.2
const TIMES_OF_EACH = 1.1 // than each old worker
const LEAST_BLOCKS = 6

/** @param {readonly Window[]} fresh @param {readonly Window[]} old @returns {import('./figures').Finding} */
function findLoopTime (fresh, old) {
  const idleMs = idleOf(old)
  const own = compared(fresh, old, idleMs)
  if (own.groups < LEAST_BLOCKS) {
    return { chance: 1, why: `known of ${own.groups} stretches of time alone; ${LEAST_BLOCKS} are needed` }
  }
  const others = old.filter(({ requests }) => requests >= LEAST_OF_ONE)
    .map(window => ratioOf(compared([window], old, idleMs)))
  const isBeyond = others.every(other => ratioOf(own) >= TIMES_OF_EACH * other)
  const more = ratioOf(own) - TIMES
  return {
    chance: studentTail(more / Math.sqrt(varianceOf(own)), own.groups - 1),
    why: more < 0
      ? `not ${TIMES} times longer`
      : isBeyond ? null : `not ${TIMES_OF_EACH} times longer than in each old worker`
  }
}

/**
 * By least squares, and two standard errors more: where all old workers have as many requests as one another, little is
 * known of it.
 * @param {readonly Window[]} old
 * @returns {number} ms that a worker's event loop works in a stretch without requests, at most
 */
function idleOf (old) {
  const sums = noSums()
  for (const { blocks } of old) for (const { busyMs, requests } of blocks) addGroup(sums, busyMs, requests)
  const { groups, n, nn, k, kk, kn } = sums
  const spread = nn - n * n / groups
  if (!(groups > 2 && spread > 0)) return k / Math.max(1, groups)
  const slope = (kn - n * k / groups) / spread
  const left = Math.max(0, kk - k * k / groups - slope * slope * spread) / (groups - 2)
  const error = Math.sqrt(left * (1 / groups + (n / groups) ** 2 / spread))
  return Math.min(k / groups, Math.max(0, (k - slope * n) / groups + 2 * error))
}

/**
 * @param {readonly Window[]} old @param {number} idleMs
 * @returns {number[]} ms a request, of the old workers together, by stretch; NaN: there was none
 */
function costsOf (old, idleMs) {
  return Array.from({ length: lengthOf(old) }, (_, at) => {
    const busyMs = old.reduce((sum, { blocks }) => sum + (blocks[at] ? blocks[at].busyMs - idleMs : 0), 0)
    return Math.max(0, busyMs) / old.reduce((sum, { blocks }) => sum + (blocks[at]?.requests ?? 0), 0)
  })
}

/**
 * The need is the larger of two: with the time without requests, which is more for a worker with fewer requests
 * than the old ones; and all of the time by the request, which is more for a worker with more of them.
 * @param {readonly Window[]} windows @param {readonly Window[]} old @param {number} idleMs
 * @returns {import('./sums').Sums} by stretch: ms of the event loop, over those that old workers would need
 */
function compared (windows, old, idleMs) {
  const sums = noSums()
  const [costs, wholeCosts] = [costsOf(old, idleMs), costsOf(old, 0)]
  costs.forEach((cost, at) => {
    let [busyMs, needed, requests] = [0, 0, 0]
    for (const { blocks } of windows) {
      if (!blocks[at]) continue
      busyMs += blocks[at].busyMs
      needed += Math.max(idleMs + cost * blocks[at].requests, wholeCosts[at] * blocks[at].requests)
      requests += blocks[at].requests
    }
    if (requests > 0 && needed > 0) addGroup(sums, busyMs, needed)
  })
  return sums
}

/** @param {readonly Window[]} windows */
const lengthOf = windows => Math.max(0, ...windows.map(({ blocks }) => blocks.length))

module.exports = { findLoopTime }
