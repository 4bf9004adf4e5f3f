'use strict'

/**
 * The memory and other resources that a worker may use before it is replaced. The budget is drawn once, at the spawn:
 * jitter keeps workers that start together from being replaced together. Jitter only lowers a budget, so the user's
 * value is a maximum.
 *
 * @typedef {object} Budget
 * @property {import('../core/sample').Metric} metric @property {number | null} softBytes
 * @property {number | null} hardBytes @property {number} samples @property {number | null} maxRequests
 * @property {number | null} maxAgeMs
 */

const { OF_FEATURES } = require('./figures')
const { lowered } = require('../core/limit')
const { budgetFor } = require('../core/container-budget')
const { BOOTING } = require('../core/memory-room')
const { figure } = require('../core/sample')

const LEAST_FILES = 0.25 // of its figure: code of Node.js and of libraries is mapped as it runs for the first time

/** @typedef {Pick<import('../core/sample').Sample, 'rssBytes' | 'anonBytes' | 'pssBytes' | 'ussBytes'>} Measured */

/**
 * @param {import('./options').Options} options
 * @param {number} workers how many there are to be: `--max-rss auto` is by their number, which scaling changes
 * @param {number} random 0 to 1 @returns {Readonly<Budget>}
 */
function drawBudget (options, workers, random) {
  const { maxRssBytes, hardRssBytes } = budgetFor(options, workers)
  const share = 1 - options.jitter * random
  const lower = (/** @type {number | null} */ value) => /** @type {number | null} */ (lowered(value, share))
  return Object.freeze({
    metric: options.metric,
    softBytes: lower(maxRssBytes),
    hardBytes: lower(hardRssBytes),
    samples: options.samples,
    maxRequests: lower(options.maxRequests),
    maxAgeMs: lower(options.maxAgeMs),
    ...Object.fromEntries(OF_FEATURES.flatMap(({ limit, isOn }) => limit && isOn?.(options)
      ? [[limit.budget, limit.most ? limit.most(options) : lower(/** @type {any} */ (options)[limit.budget])]]
      : []))
  })
}

/**
 * A budget that a fresh worker exceeds: its replacement would, too, so that a recycle cannot help. It is raised to what
 * the worker takes and a quarter more: from there on one does.
 * @param {Readonly<Budget>} budget @param {number | null} freshBytes by its metric; null: not known
 * @returns {Readonly<Budget>} the same where the worker is within it
 */
function aboveFresh (budget, freshBytes) {
  const { softBytes, hardBytes } = budget
  const least = Math.min(softBytes ?? Infinity, hardBytes ?? Infinity)
  if (freshBytes === null || freshBytes <= least) return budget
  const raise = (/** @type {number | null} */ value) =>
    value === null ? null : Math.round(value / least * BOOTING * freshBytes)
  return Object.freeze({ ...budget, softBytes: raise(softBytes), hardBytes: raise(hardBytes) })
}

/**
 * Most of what a worker has grown by are pages of files that it has mapped: pages of the kernel's cache, which its end
 * does not free, and which its replacement maps again. A recycle cannot help against them: what counts from here on is
 * its anonymous memory.
 * @param {Readonly<Budget>} budget @param {Measured} fresh when it was new @param {Measured} sample
 * @returns {Readonly<Budget>} the same where it has less than half of its budget, or few such pages
 */
function withoutFiles (budget, fresh, sample) {
  const { metric, softBytes, hardBytes } = budget
  const [before, bytes] = [figure(fresh, metric), figure(sample, metric)]
  const isFar = bytes === null || bytes < Math.min(softBytes ?? Infinity, hardBytes ?? Infinity) / 2
  if (isFar || before === null || fresh.anonBytes === null || sample.anonBytes === null) return budget
  const files = Math.max(0, bytes - sample.anonBytes) - Math.max(0, before - fresh.anonBytes)
  const isMost = files > Math.max((bytes - before) / 2, LEAST_FILES * bytes)
  return isMost && metric !== 'anon' ? Object.freeze({ ...budget, metric: 'anon' }) : budget
}

module.exports = { drawBudget, aboveFresh, withoutFiles }
