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

const { findGrowth, growthOf } = require('./growth')
const { findLoopTime } = require('./loop-time')
const { chanceOf, within } = require('./shares')
const { binomialTail } = require('./tails')
const { poolTimes, quantileOf } = require('./times')
/** @import { Kind } from './counts' */
/** @import { BothServices, Figure, Window } from './verdict' */

/**
 * By how much a share must be larger: `least` as a difference, and `times`. A 4xx is most often by what a client asks
 * for, so it takes more of them, and `stricter` times less chance. Times to the response differ among equal workers.
 *
 * @type {Record<Kind, { least: number, times: number, stricter: number, text: string }>}
 */
const MARGINS = {
  errors: { least: 0.001, times: 1.25, stricter: 1, text: '0.1 percentage points and 1.25 times more' },
  unfinished: { least: 0.005, times: 1.5, stricter: 1, text: '0.5 percentage points and 1.5 times more' },
  refusals: { least: 0.1, times: 2, stricter: 100, text: '10 percentage points and twice more' },
  slowMedian: { least: 0.03, times: 1, stricter: 1, text: '3 percentage points more that are slower' },
  slowTail: { least: 0.0025, times: 1.25, stricter: 1, text: '0.25 percentage points and 1.25 times more that are slower' }
}
const LEAST_EVENTS = 3
const RARE = { crashes: 0.1, exceptions: 1 } // equal code whose workers crash again and again is seldom deployed
const SUSPECT = 0.1

/** @param {Kind} kind @returns {Find} */
function findShare (kind) {
  const { stricter, text } = MARGINS[kind]
  const missed = { none: null, pooled: `not ${text}`, one: `not ${text} than in one of the old workers` }
  return (fresh, old) => ({
    chance: Math.min(1, stricter * chanceOf(kind, fresh, old)), why: missed[within(kind, fresh, old, MARGINS[kind])]
  })
}

/**
 * Given how many there were in all, by the share of the work that the new code had: of the requests, or of the workers
 * where this is larger. Where the old workers have had none meanwhile, they are weighed since they began to serve: what
 * they have not done in a week says more than a minute.
 *
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
function total (of) {
  return windows => windows.reduce((sum, window) => sum + of(window), 0)
}

/** @param {(window: Window) => number} of @returns {Value} a request */
function perRequest (of) {
  return windows => {
    const requests = total(({ requests }) => requests)(windows)
    return requests > 0 ? total(of)(windows) / requests : null
  }
}

/** @param {number} share @returns {Value} ms */
function quantile (share) {
  return windows => quantileOf(poolTimes(windows.map(({ times }) => times)), share)
}

/**
 * In the order in which they are shown, and in which the first that is worse decides.
 *
 * @type {readonly { name: Figure['name'], unit: Figure['unit'], isLate?: true, value: Value, slow?: Value,
 *   find: Find }[]}
 */
const FIGURES = [
  { name: 'crashes', unit: 'count', value: total(({ crashes }) => crashes), find: findEvents('crashes') },
  { name: 'exceptions', unit: 'count', value: total(({ exceptions }) => exceptions), find: findEvents('exceptions') },
  { name: 'errors', unit: 'share', value: perRequest(({ of }) => of.errors), find: findShare('errors') },
  { name: 'unfinished', unit: 'share', value: perRequest(({ of }) => of.unfinished), find: findShare('unfinished') },
  { name: 'refusals', unit: 'share', value: perRequest(({ of }) => of.refusals), find: findShare('refusals') },
  { name: 'p50', unit: 'ms', value: quantile(0.5), slow: perRequest(({ of }) => of.slowMedian), find: findShare('slowMedian') },
  { name: 'p99', unit: 'ms', value: quantile(0.99), slow: perRequest(({ of }) => of.slowTail), find: findShare('slowTail') },
  { name: 'loop', unit: 'ms a request', value: perRequest(({ busyMs }) => busyMs), find: findLoopTime },
  { name: 'memory', unit: 'bytes a request', isLate: true, value: growthOf, find: findGrowth }
]

module.exports = { FIGURES }
