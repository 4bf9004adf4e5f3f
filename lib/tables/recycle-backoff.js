'use strict'

/**
 * Delays the recycles of a place whose workers are condemned again and again: the next one may well be condemned, too.
 * Each reason (reasons.js) has one rule:
 *
 *     fresh   over the memory budget at the first sample, or before the first request: too small a budget
 *     soon    condemned within a minute of being ready: too much load, a database that does not answer, an app that
 *             asks for it each time
 *     paced   by design each worker comes to that: no more than one a second
 *     start   its replacements boot at growing intervals, and the reload is over after three that do not start; see
 *             rollout.js
 */

const { Backoff } = require('../core/backoff')
const { REASONS } = require('./reasons')

const SOON_MS = 60_000
const PACE_MS = 1000

/** @typedef {'fresh' | 'soon' | 'paced' | 'start'} Rule */

/** Where the memory has no room for a replacement: the worker serves well meanwhile. @param {string | null} reason */
function canWait (reason) {
  const rule = REASONS.get(reason)?.backoff
  return rule === 'fresh' || rule === 'paced'
}

class RecycleBackoff {
  #fresh = new Backoff()
  #soon = new Backoff()
  #pacedUntil = 0

  /** No recycle before. */
  get notBefore () {
    return Math.max(this.#fresh.notBefore, this.#soon.notBefore, this.#pacedUntil)
  }

  /** By a worker's first sample. @param {boolean} isOverBudget @param {number} now */
  begun (isOverBudget, now) {
    if (isOverBudget) this.#fresh.failed(now)
    else this.#fresh.succeeded()
  }

  /**
   * @param {import('./reasons').Reason} reason but for a recycle that a command has asked for
   * @param {number} ageMs since it was ready @param {number} now
   * @param {boolean} [isIdle] it has had no request: its memory grows by itself
   */
  condemned (reason, ageMs, now, isIdle = false) {
    const rule = REASONS.get(reason)?.backoff
    if (rule === 'paced') this.#pacedUntil = now + Math.max(0, PACE_MS - ageMs)
    if (rule !== 'soon' && !(rule === 'fresh' && isIdle)) return
    if (ageMs >= SOON_MS) this.#soon.succeeded()
    this.#soon.failed(now)
  }
}

module.exports = { canWait, RecycleBackoff }
