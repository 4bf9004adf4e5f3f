'use strict'

/**
 * The verdict on a worker: keep it, or condemn it for one reason. It depends only on what the journal records, so that
 * replaying it over a journal reproduces every decision (test/core/replay.test.js).
 *
 * @typedef {'rss' | 'hard-rss' | import('../features').Reason | 'requests' | 'age' | import('../features').Requested
 *   | 'requested' | 'reload' | 'protocol-error' | 'forecast'} Reason `forecast` comes of the plan alone: see plan.js
 * @typedef {Reason | null} Verdict null: keep
 *
 * @typedef {import('./sample').Sample} Sample
 * @typedef {import('./budget').Budget} Budget
 * @typedef {(window: import('./window').Window, budget: Budget, latest: Sample) => boolean} IsCause
 */

const { LIMITS: LIMITS_OF_FEATURES, REQUESTS } = require('../features')
const { mostOf } = require('./limit')
const { figure } = require('./sample')

/**
 * In the order in which they are looked for: the first that holds is the reason.
 *
 * @type {readonly (readonly [Reason, IsCause])[]}
 */
const CAUSES = [
  ['hard-rss', (_, budget, latest) => isOver(latest, budget, budget.hardBytes)],
  ['rss', ({ samples }, budget) => samples.length >= budget.samples && samples.every(sample => isOver(sample, budget, budget.softBytes))],
  ['requests', (_, { maxRequests }, { requests }) => maxRequests !== null && requests >= maxRequests],
  ['age', (_, { maxAgeMs }, { ageMs }) => maxAgeMs !== null && ageMs >= maxAgeMs],
  ...LIMITS_OF_FEATURES.map(causeOf)
]

/** All but those that the plan alone, or a command, gives. */
const REASONS = Object.freeze([...CAUSES.map(([reason]) => reason), ...REQUESTS.map(({ reason }) => reason), ...(/** @type {const} */ (['requested', 'reload', 'protocol-error', 'forecast']))])

/**
 * The figure of each limit that is off by default, and what it must not exceed.
 *
 * @type {Readonly<Record<string, (sample: Sample, budget: Budget) => { figure: number | null | undefined, most: number
 *   | null }>>}
 */
const LIMITS = Object.freeze(Object.fromEntries(LIMITS_OF_FEATURES.map(({ reason, of }) =>
  [reason, (/** @type {Sample} */ sample, /** @type {Budget} */ budget) => of(sample, budget, { mostOf })])))

/** @param {import('../features').Limit} limit @returns {typeof CAUSES[number]} */
function causeOf ({ reason, isOverBy }) {
  const isOver = (/** @type {Sample} */ sample, /** @type {Budget} */ budget) => exceeds(reason, sample, budget)
  return [reason, isOverBy === 'latest'
    ? (_, budget, latest) => isOver(latest, budget)
    : ({ samples }, budget) => samples.length >= budget.samples && samples.every(sample => isOver(sample, budget))]
}

/**
 * @param {import('./window').Window} window
 * @param {Budget} budget
 * @returns {Verdict}
 */
function verdict (window, budget) {
  const latest = window.samples.at(-1)
  if (!latest) return null
  const cause = CAUSES.find(([, isSo]) => isSo(window, budget, latest))
  return cause ? cause[0] : latest.requested
}

/**
 * @param {Sample} sample
 * @param {Budget} budget
 * @param {number | null} bytes
 */
function isOver (sample, budget, bytes) {
  const value = figure(sample, budget.metric)
  return bytes !== null && value !== null && value > bytes
}

/** @param {string} reason one of LIMITS @param {Sample} sample @param {Budget} budget */
function exceeds (reason, sample, budget) {
  const { figure, most } = LIMITS[reason](sample, budget)
  return most !== null && typeof figure === 'number' && figure > most
}

/**
 * What a worker is condemned for by one of these limits.
 *
 * @param {Reason} reason
 * @param {Sample} sample
 * @param {Budget} budget
 * @returns {{ figure?: number, most?: number }} empty for other reasons
 */
function crossing (reason, sample, budget) {
  if (!Object.hasOwn(LIMITS, reason)) return {}
  const { figure, most } = LIMITS[reason](sample, budget)
  return { figure: figure ?? 0, most: Math.round(most ?? 0) }
}

module.exports = { REASONS, verdict, isOver, crossing }
