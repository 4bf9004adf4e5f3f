'use strict'

/**
 * Why a worker is replaced, or ends: one row a reason, in the order in which a verdict looks for a cause. Features add
 * theirs: a limit of a figure, or a reason for which their part in the primary asks. A reason without a cause is asked
 * for. Code names a reason only where it gives it: all else is in its row.
 *
 * @typedef {'rss' | 'hard-rss' | import('../features').Reason | 'requests' | 'age' | Asked} Reason
 * @typedef {import('../features').Requested | 'requested' | 'adopted' | 'reload' | 'protocol-error'} Asked whatever a
 *   worker's figures are
 * @typedef {'scale' | 'stop' | 'not-ready' | import('../features').LeftFor} Ended by no replacement of its primary's
 * @typedef {{ figure: number | null | undefined, most: number | null }} Judged the figure, and what it must not exceed
 *
 * @typedef {object} Row
 * @property {Reason | Ended} reason
 * @property {import('./recycle-backoff').Rule} [backoff] of a place whose workers are condemned for it again and again;
 *   without one, the worker is not replaced
 * @property {'soft' | 'hard'} [over] which of its memory budgets the worker exceeds; over the hard one nothing waits
 * @property {boolean} [isOfMemory] the worker uses too much of it
 * @property {boolean} [isCommand] the worker or a command asks for it: the log is brief of it
 * @property {boolean} [isOfRollout] the worker stays where that is stopped
 * @property {boolean} [isFault] of its channel: outdoes what was requested before
 * @property {boolean} [isOfSlot] which closes
 * @property {string} [ended] the log's word for the worker's end
 * @property {(line: Record<string, any>, format: import('../features').Format) => string | null} [sentence] of
 *   worker.condemn; without one, the reason's name
 * @property {(sample: Sample, budget: Budget) => Judged} [of] the figure, and what it must not exceed
 * @property {(window: import('../core/window').Window, budget: Budget, latest: Sample) => boolean} [isDue] a worker
 *   with these samples is to be replaced
 */

const { REQUESTS } = require('../features')
const { mostOf } = require('../core/limit')
const { figure } = require('../core/sample')
const { OF_FEATURES } = require('./figures')
/** @import { Budget } from './budget' */
/** @import { Sample } from '../core/sample' */

/** @type {readonly Row[]} */
const ROWS = Object.freeze([
  ofBudget('hard-rss', 'hard', (_, budget, latest) => isOver(latest, budget, budget.hardBytes)),
  ofBudget('rss', 'soft', ({ samples }, budget) =>
    areAll(samples, budget, sample => isOver(sample, budget, budget.softBytes))),
  {
    reason: 'requests',
    backoff: 'paced',
    isDue: (_, { maxRequests }, { requests }) => maxRequests !== null && requests >= maxRequests,
    sentence: ({ requests }, { count }) => count(requests, 'request')
  },
  {
    reason: 'age',
    backoff: 'paced',
    isDue: (_, { maxAgeMs }, { ageMs }) => maxAgeMs !== null && ageMs >= maxAgeMs,
    sentence: ({ ageMs }, { time }) => `${time(ageMs)} in service`
  },
  ...OF_FEATURES.flatMap(({ name, limit }) => limit ? [ofLimit(name, limit)] : []),
  ...REQUESTS,
  { reason: 'requested', backoff: 'soon', isCommand: true },
  { reason: 'adopted', backoff: 'start', sentence: () => 'what the supervisor that has died knew of it is lost' },
  { reason: 'reload', backoff: 'start', isCommand: true, isOfRollout: true },
  { reason: 'protocol-error', backoff: 'soon', isFault: true, sentence: () => 'invalid message' },
  { reason: 'scale', isOfSlot: true },
  { reason: 'not-ready', ended: 'gave up' }
])

/** By reason. @type {ReadonlyMap<string | null, Row>} */
const REASONS = new Map(ROWS.map(row => [row.reason, row]))
/** For which workers are replaced. */
const REPLACING = ROWS.filter(({ backoff }) => backoff).map(({ reason }) => reason)

/** @param {Reason} reason @param {'soft' | 'hard'} over @param {Row['isDue']} isDue @returns {Row} */
function ofBudget (reason, over, isDue) {
  /** @type {Row['sentence']} */
  const sentence = ({ metric, bytes, [`${over}Bytes`]: most }, { size }) =>
    `${metric.toUpperCase()} ${size(bytes)} of ${size(most)} (${reason})`
  return { reason, backoff: 'fresh', over, isOfMemory: true, isDue, sentence }
}

/** @param {string} figure @param {import('../features').Limit} limit @returns {Row} */
function ofLimit (figure, { budget: called, whole, most: ownMost, isOverBy, ...row }) {
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
    ...row,
    backoff: 'soon',
    of,
    isDue: isOverBy === 'latest'
      ? (_, budget, latest) => isAbove(latest, budget)
      : ({ samples }, budget) => areAll(samples, budget, sample => isAbove(sample, budget))
  }
}

/** @param {readonly Sample[]} samples @param {Budget} budget @param {(sample: Sample) => boolean} isSo */
const areAll = (samples, budget, isSo) => samples.length >= budget.samples && samples.every(isSo)

/** @param {Sample} sample @param {Budget} budget @param {number | null} bytes */
function isOver (sample, budget, bytes) {
  const value = figure(sample, budget.metric)
  return bytes !== null && value !== null && value > bytes
}

const CAUSES = ROWS.filter(({ isDue }) => isDue)

/**
 * The verdict on a worker: keep it, or condemn it for one reason. By what the journal records alone, so that replaying
 * it over a journal reproduces every decision (test/core/replay.test.js).
 * @param {import('../core/window').Window} window @param {Budget} budget @returns {Reason | null} null: keep
 */
function verdict (window, budget) {
  const latest = window.samples.at(-1)
  if (!latest) return null
  const cause = CAUSES.find(({ isDue }) => isDue?.(window, budget, latest))
  return /** @type {Reason | undefined} */ (cause?.reason) ?? latest.requested
}

/**
 * The reason for which a worker is condemned by the limit of a feature.
 * @param {Reason} reason @param {Sample} sample @param {Budget} budget
 * @returns {{ figure?: number, most?: number }} empty for other reasons
 */
function crossing (reason, sample, budget) {
  const judged = REASONS.get(reason)?.of?.(sample, budget)
  return judged ? { figure: judged.figure ?? 0, most: Math.round(judged.most ?? 0) } : {}
}

module.exports = { REASONS, REPLACING, isOver, crossing, verdict }
