'use strict'

/**
 * Garbage collections out of rotation: on request, and with `--on-budget collect` in place of a recycle:
 *
 *     condemned for memory ─▶ aside, collect, weighed anew ─┬─ well below its budget ─▶ reprieve
 *                                                           └─ else ─▶ recycled as usual
 *
 * Nobody over the hard budget waits for a turn.
 */

const { EventEmitter } = require('node:events')
const { mayCollect, isRelieved } = require('../../core/collect-policy')
const { figure } = require('../../core/sample')
const { isOver } = require('../../core/verdict')
const { now } = require('../clock')
const { keep } = require('../workers/worker-actions')

/** @type {import('./out-of-rotation').Task} */
const DEED = { type: 'collect', timeoutMs: 60_000 }

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle @typedef {import('./out-of-rotation').Outcome} Outcome */

/** Emits `change` when a collection that stands in for a recycle has ended. */
class GarbageCollection extends EventEmitter {
  /** Condemned ones whose collection is under way, or was not enough, or is not to be. @type {WeakMap<WorkerHandle, 'under way' | 'over'>} */
  #tried = new WeakMap()

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('../measuring/sampler').Sampler} deps.sampler
   * @param {import('./out-of-rotation').OutOfRotation} deps.outOfRotation
   * @param {(event: string, fields: Record<string, any>) => Record<string, any>} deps.record
   */
  constructor ({ options, fleet, sampler, outOfRotation, record }) {
    super()
    this.options = options
    this.fleet = fleet
    this.sampler = sampler
    this.outOfRotation = outOfRotation
    this.record = record
    outOfRotation.on('change', () => this.attend())
  }

  /** A condemned worker is not to be recycled yet. @param {WorkerHandle} handle */
  holds (handle) {
    if (this.options.onBudget !== 'collect' || this.#tried.get(handle) === 'over') return false
    const { reason, sample, condemnedAt: at, collectedAt } = handle
    return mayCollect({ reason, requested: sample?.requested ?? null, at, collectedAt }, this.options.intervalMs)
  }

  /** Gives the condemned their turn. */
  attend () {
    for (const { incumbent, recycling } of this.fleet.list()) {
      if (!incumbent?.isServing || recycling !== null || !this.holds(incumbent) || this.#tried.has(incumbent)) continue
      if (this.outOfRotation.isBusy && !isOverHard(incumbent)) continue // its turn comes
      if (this.outOfRotation.whyNot(incumbent) === null) this.#relieve(incumbent)
      else this.#tried.set(incumbent, 'over')
    }
  }

  /**
   * On request.
   *
   * @param {number} slot
   * @returns {Promise<Record<string, any>>} the journal's `collected`
   * @throws {RecycleError} RECYCLE_NOT_DONE
   */
  async request (slot) {
    const began = now()
    /** @type {Record<string, any>} */
    let line = {}
    await this.outOfRotation.request(slot, { ...DEED, called: 'the collection' }, async (handle, done) => {
      line = await this.#weigh(handle, done, 'requested', began)
    })
    return line
  }

  /** @param {WorkerHandle} handle */
  async #relieve (handle) {
    const began = now()
    this.#tried.set(handle, 'under way')
    await this.outOfRotation.take(handle, DEED, async done => {
      const { isEnough } = await this.#weigh(handle, done, /** @type {string} */ (handle.reason), began)
      if (isEnough) keep(handle, this.record)
    })
    if (handle.reason === null) this.#tried.delete(handle)
    else this.#tried.set(handle, 'over')
    this.emit('change')
  }

  /** @param {WorkerHandle} handle @param {Outcome} done @param {string} reason @param {number} began */
  async #weigh (handle, { before, after, moved, emptyMs, pauseMs }, reason, began) {
    const reading = await this.sampler.read(handle, { inFull: true })
    handle.collectedAt = now()
    const { slot, pid, budget: { metric, softBytes } } = handle
    const bytes = reading && figure(/** @type {any} */ (reading), metric)
    return this.record('collected', {
      slot,
      pid,
      reason,
      metric,
      bytes,
      softBytes,
      isEnough: reason === 'requested' ? null : isRelieved(bytes, softBytes),
      rssBefore: before.rssBytes,
      rssAfter: reading?.rssBytes ?? after.rssBytes,
      heapUsedBefore: before.heapUsedBytes,
      heapUsedAfter: after.heapUsedBytes,
      externalBefore: before.externalBytes,
      externalAfter: after.externalBytes,
      moved,
      emptyMs: Math.round(emptyMs),
      pauseMs: Math.round(pauseMs),
      tookMs: now() - began
    })
  }
}

/** @param {WorkerHandle} handle */
function isOverHard ({ reason, sample, budget }) {
  return reason === 'hard-rss' || (sample !== null && isOver(sample, budget, budget.hardBytes))
}

module.exports = { GarbageCollection }
