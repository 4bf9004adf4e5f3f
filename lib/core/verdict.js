'use strict'

/**
 * The verdict on a worker: keep it, or condemn it for one reason. It depends only on what the journal records, so that
 * replaying it over a journal reproduces every decision (test/core/replay.test.js).
 *
 * @typedef {'rss' | 'hard-rss' | 'requests' | 'age' | 'stuck' | 'requested' | 'reload' | 'protocol-error' | 'forecast'} Reason `forecast` comes of the plan alone: see plan.js
 * @typedef {Reason | null} Verdict null: keep
 */

const { figure } = require('./sample')

/**
 * @param {import('./window').Window} window
 * @param {import('./budget').Budget} budget
 * @returns {Verdict}
 */
function verdict (window, budget) {
  const latest = window.samples.at(-1)
  if (!latest) return null
  if (isOver(latest, budget, budget.hardBytes)) return 'hard-rss'
  if (window.samples.length >= budget.samples && window.samples.every(s => isOver(s, budget, budget.softBytes))) return 'rss'
  if (budget.maxRequests !== null && latest.requests >= budget.maxRequests) return 'requests'
  if (budget.maxAgeMs !== null && latest.ageMs >= budget.maxAgeMs) return 'age'
  if (latest.silentMs >= budget.stuckMs) return 'stuck'
  return latest.requested
}

/**
 * @param {import('./sample').Sample} sample
 * @param {import('./budget').Budget} budget
 * @param {number | null} bytes
 */
function isOver (sample, budget, bytes) {
  const value = figure(sample, budget.metric)
  return bytes !== null && value !== null && value > bytes
}

module.exports = { verdict, isOver }
