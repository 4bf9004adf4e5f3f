'use strict'

/**
 * The verdict on a worker: keep it, or condemn it for one reason. It depends only on what the journal records, so that
 * replaying it over a journal reproduces every decision (test/core/replay.test.js).
 *
 * @typedef {Reason | null} Verdict null: keep
 */

const { REASONS } = require('./reasons')
/** @import { Budget } from './budget' */
/** @import { Reason } from './reasons' */
/** @import { Sample } from '../core/sample' */

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

module.exports = { verdict, crossing }
