'use strict'

/**
 * Garbage collections out of rotation: on request, and with `--on-budget collect` in place of a recycle:
 *
 *     condemned for memory ─▶ out of rotation, collects, is measured ─┬─ well below its budget ─▶ stays in service
 *                                                                     └─ else ─▶ recycled as usual
 */

const { oldSpaceLimit } = require('../../core/old-space')
const { figure } = require('../../core/sample')
const { heapWarning } = require('./heap-limit')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Collected } from './feature' */

const TASK = { type: /** @type {const} */ ('collect'), fields: {}, timeoutMs: 60_000 }

class GarbageCollection {
  /** Workers whose collection is under way, or was not enough. @type {WeakMap<WorkerHandle, 'under way' | 'over'>} */
  #tried = new WeakMap()
  /** When a worker last collected, ms, by kernel.now(). @type {WeakMap<WorkerHandle, number>} */
  #collectedAt = new WeakMap()
  /** The first worker's limit of the heap is that of all. */
  #isHeapChecked = false

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
    /** Null: a worker over budget is recycled. */
    this.relief = kernel.options.onBudget === 'collect' ? this.#relief : null
  }

  /** @type {import('./feature').Commands} */
  commands = { gc: slot => this.#request(slot) }

  collect = (/** @type {number} */ slot) => this.#request(slot).catch(() => {}) // refused: `worker.in-rotation` has it

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.once('entered', ({ heapLimitBytes }) => {
      if (this.#isHeapChecked) return
      this.#isHeapChecked = true
      const { options, spawner: { execArgv }, record } = this.kernel
      const flags = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...execArgv]
      const oldLimitBytes = oldSpaceLimit(heapLimitBytes, flags, parseInt(process.versions.v8))
      const warning = heapWarning(heapLimitBytes, oldLimitBytes, options)
      if (warning) record('fleet.warning', warning)
    })
  }

  /** @type {import('../../primary/features').BeforeRecycle} */
  #relief = {
    stateOf: handle => {
      const tried = this.#tried.get(handle)
      if (tried !== undefined) return tried === 'over' ? null : tried
      const { row, at } = handle.condemnation
      if (row?.over === undefined) return null
      const requested = handle.sample?.requested ?? null
      const collectedAt = this.#collectedAt.get(handle) ?? null
      return mayCollect({ requested, at, collectedAt }, this.kernel.options.intervalMs) ? 'due' : null
    },
    run: async handle => {
      const began = this.kernel.now()
      this.#tried.set(handle, 'under way')
      try {
        await this.kernel.rotation.take(handle, TASK, async done => {
          const reason = String(handle.condemnation.reason)
          const { isEnough } = await this.#weigh(handle, done, reason, began)
          if (isEnough) this.kernel.sampler.keep(handle)
        })
      } finally {
        if (handle.condemnation.reason === null) this.#tried.delete(handle)
        else this.#tried.set(handle, 'over')
        this.kernel.changed()
      }
    }
  }

  /** @param {number} slot @returns {Promise<Collected>} @throws {RecycleError} RECYCLE_NOT_DONE */
  async #request (slot) {
    const began = this.kernel.now()
    /** @type {Collected | undefined} */
    let line
    await this.kernel.rotation.request(slot, { ...TASK, called: 'the collection' }, async (handle, done) => {
      line = await this.#weigh(handle, done, 'requested', began)
    })
    return /** @type {Collected} */ (line)
  }

  /**
   * @param {WorkerHandle} handle @param {import('../../primary/recycling/rotation').TaskDone<'collect'>} done
   * @param {string} reason @param {number} began @returns {Promise<Collected>}
   */
  async #weigh (handle, { before, after, moved, emptyMs, pauseMs }, reason, began) {
    const reading = await this.kernel.sampler.read(handle, { inFull: true })
    this.#collectedAt.set(handle, this.kernel.now())
    const { slot, pid, budget: { metric, softBytes } } = handle
    const bytes = reading && figure(reading, metric)
    const isEnough = reason === 'requested' ? null : isRelieved(bytes, softBytes)
    const rss = { rssBefore: before.rssBytes, rssAfter: reading?.rssBytes ?? after.rssBytes }
    const heap = { heapUsedBefore: before.heapUsedBytes, heapUsedAfter: after.heapUsedBytes }
    const external = { externalBefore: before.externalBytes, externalAfter: after.externalBytes }
    const times = { emptyMs: Math.round(emptyMs), pauseMs: Math.round(pauseMs), tookMs: this.kernel.now() - began }
    return this.kernel.record('collected',
      { slot, pid, reason, metric, bytes, softBytes, isEnough, ...rss, ...heap, ...external, moved, ...times })
  }
}

/**
 * `--on-budget collect`: whether a worker over budget should try a collection, and whether the collection was enough.
 * Both decisions use only what the journal records: `worker.condemn` and `collected`.
 *
 * Memory left after a full collection is live. It must be well below the budget, else the worker is over it again at
 * once. A worker that exceeds the budget again soon after a collection makes garbage too fast to collect out of
 * rotation. Together the two rules bound how often a worker collects.
 */

/** The largest share of the soft budget that may be left. */
const ENOUGH = 0.8
/** Sampling intervals after a collection during which no other is tried. */
const SOON = 10

/**
 * @param {object} condemned for its memory @param {string | null} condemned.requested another reason to replace it
 * @param {number} condemned.at ms, by any clock that only goes forward
 * @param {number | null} condemned.collectedAt its last collection, ms, by the same clock
 * @param {number} intervalMs between two samples
 */
function mayCollect ({ requested, at, collectedAt }, intervalMs) {
  return requested === null && (collectedAt === null || at - collectedAt >= SOON * intervalMs)
}

/**
 * @param {number | null} bytes after the collection, by the budget's metric; null: it could not be read
 * @param {number | null} softBytes
 */
const isRelieved = (bytes, softBytes) => bytes !== null && softBytes !== null && bytes <= ENOUGH * softBytes

module.exports = { GarbageCollection, isRelieved, mayCollect }
