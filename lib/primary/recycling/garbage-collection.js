'use strict'

/**
 * Garbage collections out of rotation: on request, and with `--on-budget collect` in place of a recycle:
 *
 *     condemned for memory ─▶ out of rotation, collects, is measured ─┬─ well below its budget ─▶ stays in service
 *                                                                     └─ else ─▶ recycled as usual
 */

const { mayCollect, isRelieved } = require('../../core/collect-policy')
const { figure } = require('../../core/sample')
const { now } = require('../clock')

/** @type {import('./out-of-rotation').Task} */
const TASK = { type: 'collect', timeoutMs: 60_000 }

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle @typedef {import('./out-of-rotation').Outcome} Outcome */

class GarbageCollection {
  /** Condemned workers whose collection is under way, or was not enough. @type {WeakMap<WorkerHandle, 'under way' | 'over'>} */
  #tried = new WeakMap()
  /** When a worker last collected, ms, by clock.js. @type {WeakMap<WorkerHandle, number>} */
  #collectedAt = new WeakMap()

  /** @param {import('../parts').Deps & { sampler: import('../measuring/sampler').Sampler, outOfRotation: import('./out-of-rotation').OutOfRotation }} deps */
  constructor ({ options, fleet, sampler, outOfRotation, record, changed }) {
    this.options = options
    this.fleet = fleet
    this.sampler = sampler
    this.outOfRotation = outOfRotation
    this.record = record
    this.changed = changed
  }

  /** @param {WorkerHandle} handle @returns {'collect' | 'under way' | null} 'collect': a collection is to stand in for its recycle */
  taskOf (handle) {
    const tried = this.#tried.get(handle)
    if (tried === 'under way') return 'under way'
    if (this.options.onBudget !== 'collect' || tried === 'over') return null
    const { reason, at } = handle.condemnation
    const requested = this.sampler.figuresOf(handle)?.sample?.requested ?? null
    return mayCollect({ reason, requested, at, collectedAt: this.#collectedAt.get(handle) ?? null }, this.options.intervalMs) ? 'collect' : null
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
    await this.outOfRotation.request(slot, { ...TASK, called: 'the collection' }, async (handle, done) => {
      line = await this.#weigh(handle, done, 'requested', began)
    })
    return line
  }

  /** In place of a recycle. @param {number} slot */
  async relieve (slot) {
    const handle = /** @type {WorkerHandle} */ (this.fleet.slots.get(slot)?.incumbent)
    const began = now()
    this.#tried.set(handle, 'under way')
    try {
      await this.outOfRotation.take(handle, TASK, async done => {
        const { isEnough } = await this.#weigh(handle, done, /** @type {string} */ (handle.condemnation.reason), began)
        if (isEnough) this.sampler.keep(handle)
      })
    } finally {
      if (handle.condemnation.reason === null) this.#tried.delete(handle)
      else this.#tried.set(handle, 'over')
      this.changed()
    }
  }

  /** @param {WorkerHandle} handle @param {Outcome} done @param {string} reason @param {number} began */
  async #weigh (handle, { before, after, moved, emptyMs, pauseMs }, reason, began) {
    const reading = await this.sampler.read(handle, { inFull: true })
    this.#collectedAt.set(handle, now())
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

module.exports = { GarbageCollection }
