'use strict'

/**
 * The figures by which new code is judged, each beside that of the old workers.
 *
 * @typedef {(windows: readonly Window[]) => number | null} Value null: not known
 *
 * @typedef {(fresh: readonly Window[], old: readonly Window[], service: BothServices | null) => Finding} Find
 *
 * @typedef {object} Finding
 * @property {number} chance how likely so large a difference is in equal code; 1: it is none, or it is not known
 * @property {string | null} why it decides nothing, whatever the chance: "it is …"; null: it decides, if the chance is
 *   small
 */

const { findLoopTime } = require('./loop-time')
const { chanceOf, within } = require('./shares')
const { binomialTail, studentTail } = require('./tails')
const { poolTimes, quantileOf } = require('./times')
const { memorySince } = require('./counts')
const { poolSums, ratioOf, varianceOf } = require('./sums')
/** @import { Kind, Memory } from './counts' */
/** @import { BothServices, Figure, Window } from './verdict' */
/** @import { Sums } from './sums' */

const LEAST_EVENTS = 3
const RARE = { crashes: 0.1, exceptions: 1 } // equal code whose workers crash again and again is seldom deployed
const SUSPECT = 0.1

/**
 * By how much a share must be larger.
 * @typedef {object} Margin
 * @property {number} least as a difference @property {number} times
 * @property {number} [stricter] how many times less chance it takes, 1 by default @property {string} text
 */

/** @param {Kind} kind @param {Margin} margin @returns {Find} */
function findShare (kind, { stricter = 1, text, ...margin }) {
  const missed = { none: null, pooled: `not ${text}`, one: `not ${text} than in one of the old workers` }
  return (fresh, old) => ({
    chance: Math.min(1, stricter * chanceOf(kind, fresh, old)), why: missed[within(kind, fresh, old, margin)]
  })
}

/**
 * Given how many there were in all, by the share of the work that the new code had: of the requests, or of the workers
 * where this is larger. Where the old workers have had none meanwhile, they are weighed since they began to serve: what
 * they have not done in a week says more than a minute.
 * @param {'crashes' | 'exceptions'} key @returns {Find}
 */
function findEvents (key) {
  return (fresh, old, service) => {
    const [mine, others] = [fresh, old].map(total(window => window[key]))
    const [requests, rest] = [fresh, old].map(total(({ requests }) => requests))
    const share = Math.max(fresh.length / (fresh.length + old.length), requests > 0 ? requests / (requests + rest) : 0)
    const beside = binomialTail(mine, mine + others, share)
    const few = (/** @type {number} */ events) => events >= LEAST_EVENTS ? null : `fewer than ${LEAST_EVENTS}`
    if (service === null || others > 0 || beside > SUSPECT) return { chance: beside, why: few(mine) }
    const [ours, theirs] = [service.fresh[key], service.old[key]]
    const longer = Math.max(1, (service.old.ms / old.length) / (service.fresh.ms / fresh.length))
    const chance = RARE[key] * binomialTail(ours, ours + theirs, share / (share + (1 - share) * longer))
    return { chance: Math.min(beside, chance), why: few(Math.max(mine, ours)) }
  }
}

/** @param {(window: Window) => number} of @returns {(windows: readonly Window[]) => number} */
const total = of => windows => windows.reduce((sum, window) => sum + of(window), 0)

/** @param {(window: Window) => number} of @returns {Value} a request */
function perRequest (of) {
  return windows => {
    const requests = total(({ requests }) => requests)(windows)
    return requests > 0 ? total(of)(windows) / requests : null
  }
}

/** @param {number} share @returns {Value} ms */
const quantile = share => windows => quantileOf(poolTimes(windows.map(({ times }) => times)), share)

/**
 * @typedef {{ name: Figure['name'], title: string, unit: Figure['unit'], isLate?: true, value: Value, slow?: Value,
 *   find: Find }} Row `title`: as sentences have it; `isLate`: known in the end alone
 */

/** @param {'crashes' | 'exceptions'} name @param {string} title @returns {Row} */
const events = (name, title) =>
  ({ name, title, unit: 'count', value: total(window => window[name]), find: findEvents(name) })

/** @param {Kind} kind @returns {Value} */
const shareOf = kind => perRequest(({ of }) => of[kind])

/** @param {Kind & Figure['name']} kind @param {string} title @param {Margin} margin @returns {Row} */
const share = (kind, title, margin) =>
  ({ name: kind, title, unit: 'share', value: shareOf(kind), find: findShare(kind, margin) })

/**
 * @param {'p50' | 'p99'} name @param {string} title @param {number} of the responses @param {Kind} kind those that are
 *   slower than the old workers' @param {Margin} margin @returns {Row}
 */
const time = (name, title, of, kind, margin) =>
  ({ name, title, unit: 'ms', value: quantile(of), slow: shareOf(kind), find: findShare(kind, margin) })

/** A 4xx is most often by what a client asks for, so it takes more of them. @type {Margin} */
const OF_CLIENTS = { least: 0.1, times: 2, stricter: 100, text: '10 percentage points and twice more' }

/**
 * In the order in which they are shown, and in which the first that is worse decides. Times to the response differ
 * among equal workers.
 * @type {readonly Row[]}
 */
const FIGURES = [
  events('crashes', 'crashes'),
  events('exceptions', 'uncaught exceptions'),
  share('errors', 'responses with 5xx',
    { least: 0.001, times: 1.25, text: '0.1 percentage points and 1.25 times more' }),
  share('unfinished', 'unfinished responses',
    { least: 0.005, times: 1.5, text: '0.5 percentage points and 1.5 times more' }),
  share('refusals', 'responses with 4xx', OF_CLIENTS),
  share('empty', 'redirects and empty responses', OF_CLIENTS),
  time('p50', 'median time to the response', 0.5, 'slowMedian',
    { least: 0.03, times: 1, text: '3 percentage points more that are slower' }),
  time('p99', '99th percentile of the time to the response', 0.99, 'slowTail',
    { least: 0.0025, times: 1.25, text: '0.25 percentage points and 1.25 times more that are slower' }),
  {
    name: 'loop', title: 'time of the event loop for a request', unit: 'ms a request',
    value: perRequest(({ busyMs }) => busyMs), find: findLoopTime
  },
  {
    name: 'memory', title: 'memory kept of a request', unit: 'bytes a request', isLate: true, value: growthOf,
    find: findGrowth
  }
]

/**
 * Whether a request of the new code keeps more memory, in the second half of the bake. What a mark-sweep leaves is no
 * garbage: where the old workers have had enough of them, the growth from one to the next is compared. Else that from
 * scavenge to scavenge is, and two mark-sweeps of the new code must show half of it: a scavenge also leaves garbage
 * that has become old. By growths, because errors of levels add up. Caches of new workers fill: so it must not grow
 * much slower than in the first half.
 */

const LEAST_SWEEPS = 3 // times from a mark-sweep to the next, of the old workers together
const LEAST_COLLECTIONS = 8 // of one worker, in the second half: 7 times a growth
const LEAST_BYTES = 256 // a request
const LEAST_KEPT = 1024 ** 2
const STEADY = 0.85 // of the growth in the first half

/** @param {readonly Window[]} fresh @param {readonly Window[]} old @returns {import('./figures').Finding} */
function findGrowth (fresh, old) {
  const [ours, others] = [fresh, old].map(windows => windows.map(secondHalf))
  const [swept, sweptOld] = [ours, others].map(memories => poolSums(memories.map(({ sweeps }) => sweeps)))
  if (!(swept.n > 0)) return { chance: 1, why: 'known after two mark-sweeps of a worker of the new code alone' }
  const isSwept = sweptOld.groups >= LEAST_SWEEPS && sweptOld.n > 0
  const each = others.filter(({ ramps }) => ramps.groups >= LEAST_COLLECTIONS - 1).map(({ ramps }) => ramps)
  const ramps = poolSums(ours.map(({ ramps }) => ramps))
  if (!isSwept && (each.length === 0 || ramps.groups < LEAST_COLLECTIONS - 1)) {
    return { chance: 1, why: `known after ${LEAST_COLLECTIONS} collections of a worker of each code alone` }
  }
  const kept = ratioOf(swept) - (sweptOld.n > 0 ? ratioOf(sweptOld) : 0)
  const isSlowing = (/** @type {'sweeps' | 'ramps'} */ key, /** @type {Sums} */ now) => {
    const before = poolSums(fresh.map(({ half, memory }) => (half ?? memory)[key]))
    return before.n > 0 ? ratioOf(now) < STEADY * ratioOf(before) : null
  }
  return {
    chance: isSwept ? sweepTail(swept, sweptOld) : Math.max(...each.map(other => rampTail(ramps, other))),
    why: kept < LEAST_BYTES || swept.k < LEAST_KEPT ||
      (!isSwept && kept < (ratioOf(ramps) - Math.max(...each.map(ratioOf))) / 2)
      ? `not ${LEAST_BYTES} bytes a request and 1 MiB more after mark-sweeps`
      : isSlowing('sweeps', swept) ?? isSlowing('ramps', ramps) ?? false
        ? 'growing more slowly than before, as caches do'
        : null
  }
}

/** @param {Window} window */
const secondHalf = ({ memory, half }) => half ? memorySince(memory, half) : memory

/**
 * Memory that the new code has kept, beside how much the growths of the old workers differ.
 * @param {Sums} ours @param {Sums} others
 */
function sweepTail (ours, others) {
  const more = ours.k - (ratioOf(others) + LEAST_BYTES) * ours.n
  const square = varianceOf(others) * others.n ** 2 / others.groups
  const error = Math.sqrt(square * ours.groups + varianceOf(others) * ours.n ** 2)
  return error > 0 ? studentTail(more / error, others.groups - 1) : more > 0 ? 0 : 1
}

/** @param {Sums} ours @param {Sums} other of one worker */
function rampTail (ours, other) {
  const [mine, theirs] = [ours, other].map(varianceOf)
  const freedom = (mine + theirs) ** 2 / (mine ** 2 / (ours.groups - 1) + theirs ** 2 / (other.groups - 1))
  const more = ratioOf(ours) - ratioOf(other) - LEAST_BYTES
  return mine + theirs > 0 ? studentTail(more / Math.sqrt(mine + theirs), freedom) : more > 0 ? 0 : 1
}

/**
 * @param {readonly Window[]} windows
 * @returns {number | null} bytes a request, after mark-sweeps where there are two; null: not known
 */
function growthOf (windows) {
  const memories = windows.map(secondHalf)
  const swept = poolSums(memories.map(({ sweeps }) => sweeps))
  const sums = swept.n > 0 ? swept : poolSums(memories.map(({ ramps }) => ramps))
  return sums.n > 0 ? ratioOf(sums) : null
}

module.exports = { FIGURES }
