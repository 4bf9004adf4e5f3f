'use strict'

/**
 * The standbys: replacements that are booted ahead. Each has loaded the app and listens where the workers do, with its
 * gates shut; it belongs to no slot until one needs it.
 *
 *     spawned ──▶ standby ──take()──▶ a slot's
 *                    └── over budget, stuck, older than a reload ──▶ replaced, without having served
 *
 * They count as surge: beside the fleet there are never more processes than the larger of --standby and --max-surge, so
 * the next standby boots when the worker that the last one replaced is gone.
 */

const { backoffMs } = require('../../core/backoff')
const { now } = require('../clock')
const { becomesReady, drainAndRetire, giveUp } = require('./worker-actions')

/** @typedef {import('./worker-handle').WorkerHandle} WorkerHandle */

const SOON_MS = 60_000

class StandbyPool {
  /** In a row: standbys that died early, or did not get ready. */
  failures = 0
  /** In a row: standbys that had to be replaced soon, for their memory, say. */
  #freshOverBudget = 0
  #notBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isClosed = false

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('./fleet').Fleet} deps.fleet
   * @param {import('../recycling/rollout').Rollout} deps.rollout
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   * @param {() => WorkerHandle} deps.spawn
   */
  constructor ({ options, fleet, rollout, record, spawn }) {
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.record = record
    this.spawn = spawn
  }

  /** How many processes there may be beside the fleet's. */
  get room () {
    return Math.max(this.options.standby, this.options.maxSurge)
  }

  /** How many of them are here and cannot be taken: they boot, or leave. */
  get unusable () {
    return this.fleet.standbys.size - this.#usable.length
  }

  /** From here on nobody is spawned. */
  close () {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  /** Replaces whoever should not be taken any more, and spawns where one is missing. */
  tend () {
    if (this.#isClosed) return
    for (const handle of this.fleet.standbys) {
      if (handle.state === 'standby' && !this.#usable.includes(handle)) this.#replace(handle)
    }
    if (this.fleet.serving().length === 0 || this.fleet.list().some(({ incumbent }) => incumbent?.state === 'spawning')) return
    while (this.fleet.standbys.size < this.options.standby && this.#beside < this.room && now() >= this.#notBefore) this.#boot()
  }

  /**
   * Takes a standby out of the standbyPool.
   *
   * @param {Iterable<string>} addresses that it must listen on
   * @returns {WorkerHandle | null} null: none is there, or fits
   */
  take (addresses) {
    const handle = this.#usable.find(standby => [...addresses].every(key => standby.addresses.has(key))) ?? null
    if (handle) this.fleet.standbys.delete(handle)
    return handle
  }

  /** Lets a standby that did not fit go, where a replacement that is about to be spawned would be one process too many. */
  async makeRoom () {
    const [handle] = this.#usable
    if (handle && this.#beside > this.room) await this.#retire(handle, 'unfit')
  }

  /** A standby is gone. @param {boolean} isFailure it crashed early */
  lost (isFailure) {
    if (isFailure) this.#pause(++this.failures)
    this.tend()
  }

  get #usable () {
    return [...this.fleet.standbys].filter(({ state, reason, generation, isGone }) =>
      state === 'standby' && reason === null && generation === this.rollout.generation && !isGone)
  }

  /** Processes beside the fleet's. */
  get #beside () {
    return this.fleet.standbys.size + this.fleet.list().filter(slot => slot.recycling !== null).length
  }

  async #boot () {
    const handle = this.spawn()
    this.fleet.standbys.add(handle)
    const why = await becomesReady(handle, this.options.readyTimeoutMs, 'standby')
    if (why === null) return
    await giveUp(handle)
    if (!this.#isClosed) this.record('worker.not-ready', { slot: null, oldPid: null, why, failures: this.failures, nextTryMs: Math.max(0, this.#notBefore - now()) })
  }

  /** @param {WorkerHandle} handle */
  #replace (handle) {
    const reason = handle.reason ?? 'reload'
    if (reason !== 'reload') { // the next one may well be the same
      this.#freshOverBudget = now() - Number(handle.standbyAt) < SOON_MS ? this.#freshOverBudget + 1 : 1
      this.#pause(this.#freshOverBudget)
    }
    this.#retire(handle, reason)
  }

  /** It has nothing to drain; the app hears that it is to go, as any worker's does. @param {WorkerHandle} handle @param {string} reason */
  async #retire (handle, reason) {
    await drainAndRetire(handle, reason, this.options, () => {}, 0)
  }

  /** @param {number} failures */
  #pause (failures) {
    const waitMs = backoffMs(failures)
    this.#notBefore = now() + waitMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.tend(), waitMs)
  }
}

module.exports = { StandbyPool }
