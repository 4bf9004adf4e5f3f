'use strict'

/**
 * Why a worker is replaced: one row a reason, in the order in which a verdict looks for a cause. Features add theirs: a
 * limit of a figure, or a reason for which their part in the primary asks. A reason without a cause is asked for, or,
 * as `forecast`, comes of the plan.
 *
 * @typedef {'rss' | 'hard-rss' | import('../features').Reason | 'requests' | 'age' | import('../features').Requested |
 *   'requested' | 'adopted' | 'reload' | 'protocol-error' | 'forecast'} Reason
 *
 * @typedef {{ figure: number | null | undefined, most: number | null }} Judged the figure, and what it must not exceed
 *
 * @typedef {object} Row
 * @property {Reason} reason
 * @property {import('./recycle-backoff').Rule} backoff of a place whose workers are condemned for it again and again
 * @property {(line: Record<string, any>, format: import('../features').Format) => string | null} [sentence] of
 *   worker.condemn; without one, the reason's name
 * @property {(sample: Sample, budget: Budget) => Judged} [of] the figure, and what it must not exceed
 * @property {(window: import('../core/window').Window, budget: Budget, latest: Sample) => boolean} [isDue] a worker
 *   with these samples is to be replaced
 */

const { LIMITS, REQUESTS } = require('../features')
const { mostOf } = require('../core/limit')
const { figure } = require('../core/sample')
/** @import { Budget } from './budget' */
/** @import { Sample } from '../core/sample' */

const FORECAST = 'forecast'

/** @type {readonly Row[]} */
const ROWS = Object.freeze([
  {
    reason: 'hard-rss',
    backoff: 'fresh',
    isDue: (_, budget, latest) => isOver(latest, budget, budget.hardBytes),
    sentence: (line, { size }) => ofBudget(line, line.hardBytes, size)
  },
  {
    reason: 'rss',
    backoff: 'fresh',
    isDue: ({ samples }, budget) => areAll(samples, budget, sample => isOver(sample, budget, budget.softBytes)),
    sentence: (line, { size }) => ofBudget(line, line.softBytes, size)
  },
  {
    reason: 'requests',
    backoff: 'paced',
    isDue: (_, { maxRequests }, { requests }) => maxRequests !== null && requests >= maxRequests,
    sentence: ({ requests }) => `${requests} requests`
  },
  {
    reason: 'age',
    backoff: 'paced',
    isDue: (_, { maxAgeMs }, { ageMs }) => maxAgeMs !== null && ageMs >= maxAgeMs,
    sentence: ({ ageMs }, { time }) => `${time(ageMs)} in service`
  },
  ...LIMITS.map(ofLimit),
  ...REQUESTS,
  { reason: 'requested', backoff: 'soon' },
  { reason: 'adopted', backoff: 'start', sentence: () => 'what the supervisor that has died knew of it is lost' },
  { reason: 'reload', backoff: 'start' },
  { reason: 'protocol-error', backoff: 'soon', sentence: () => 'invalid message' },
  {
    reason: FORECAST,
    backoff: 'fresh',
    sentence: ({ metric, bytes, softBytes, crossesInMs }, { size, time }) =>
      `${metric.toUpperCase()} ${size(bytes)}, which reaches ${size(softBytes)} in ${time(crossesInMs)}, ` +
        `as other workers do (${FORECAST})`
  }
])

/** By reason. @type {ReadonlyMap<string, Row>} */
const REASONS = new Map(ROWS.map(row => [row.reason, row]))

/** @param {import('../features').Limit} limit @returns {Row} */
function ofLimit ({ reason, sentence, budget: called, figure, whole, most: ownMost, isOverBy }) {
  /** @type {(sample: Record<string, any>, budget: Record<string, any>) => Judged} */
  const of = (sample, budget) => {
    const most = mostOf(budget[called] ?? null, whole === undefined ? null : sample[whole])
    return { figure: sample[figure], most: most !== null && ownMost ? most - 1 : most }
  }
  const isAbove = (/** @type {Sample} */ sample, /** @type {Budget} */ budget) => {
    const { figure, most } = of(sample, budget)
    return most !== null && typeof figure === 'number' && figure > most
  }
  return {
    reason,
    backoff: 'soon',
    sentence,
    of,
    isDue: isOverBy === 'latest'
      ? (_, budget, latest) => isAbove(latest, budget)
      : ({ samples }, budget) => areAll(samples, budget, sample => isAbove(sample, budget))
  }
}

/** @param {readonly Sample[]} samples @param {Budget} budget @param {(sample: Sample) => boolean} isSo */
function areAll (samples, budget, isSo) {
  return samples.length >= budget.samples && samples.every(isSo)
}

/** @param {Sample} sample @param {Budget} budget @param {number | null} bytes */
function isOver (sample, budget, bytes) {
  const value = figure(sample, budget.metric)
  return bytes !== null && value !== null && value > bytes
}

/** @param {Record<string, any>} line @param {number} most @param {(bytes: number) => string} size */
function ofBudget ({ metric, bytes, reason }, most, size) {
  return `${metric.toUpperCase()} ${size(bytes)} of ${size(most)} (${reason})`
}

/**
 * The verdict on a worker: keep it, or condemn it for one reason. It depends only on what the journal records, so that
 * replaying it over a journal reproduces every decision (test/core/replay.test.js).
 *
 * @typedef {Reason | null} Verdict null: keep
 */

const CAUSES = [...REASONS.values()].filter(({ isDue }) => isDue)

/** @param {import('../core/window').Window} window @param {Budget} budget @returns {Verdict} */
function verdict (window, budget) {
  const latest = window.samples.at(-1)
  if (!latest) return null
  return CAUSES.find(({ isDue }) => isDue?.(window, budget, latest))?.reason ?? latest.requested
}

/**
 * The reason for which a worker is condemned by the limit of a feature.
 *
 * @param {Reason} reason @param {Sample} sample @param {Budget} budget
 * @returns {{ figure?: number, most?: number }} empty for other reasons
 */
function crossing (reason, sample, budget) {
  const judged = REASONS.get(reason)?.of?.(sample, budget)
  return judged ? { figure: judged.figure ?? 0, most: Math.round(judged.most ?? 0) } : {}
}

module.exports = { REASONS, isOver, crossing, verdict }
