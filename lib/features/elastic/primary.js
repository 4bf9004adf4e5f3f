'use strict'

/**
 * In the primary: looks at the last heartbeats every second, and decides by decide.js how many workers there are to be.
 */

const { every } = require('../../native/every')
const { startsThatFit } = require('../../core/memory-room')
const { NO_HISTORY, pushLoad, decide, leastLoaded } = require('./decide')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Load } from './decide' */

const LOOK_MS = 1000
const SILENT_MS = 1500

class Sizing {
  #history = NO_HISTORY
  /** Requests that each worker had begun at the last look. @type {WeakMap<WorkerHandle, number>} */
  #requests = new WeakMap()
  #lookedAt
  /** Of the last look. @type {Load | null} */
  #latest = null

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
    this.fleet = kernel.fleet
    this.bounds = /** @type {import('../../core/container-budget').Bounds} */ (kernel.options.autoscale)
    this.#lookedAt = kernel.now()
  }

  /** @param {AbortSignal} ended */
  begin (ended) {
    const { fitting, desired, cpus, limitBytes, source } = this.kernel.options.sizing
    if (this.bounds.max < this.bounds.asked) {
      this.kernel.record('fleet.warning', {
        warning: 'autoscale-bounds', ...this.bounds, by: fitting !== null && fitting < desired ? 'memory' : 'cpus',
        cpus, limitBytes, source
      })
    }
    ended.addEventListener('abort', every(LOOK_MS, () => this.#look()))
  }

  /** This process did not run for a while: the load of before says nothing of that after it. */
  wake () {
    this.#history = NO_HISTORY
  }

  describe () {
    const { min, max } = this.bounds
    const { busy = null, requestsPerSecond = null } = this.#latest ?? {}
    return { min, max, isPinned: this.fleet.isPinned, busy, requestsPerSecond }
  }

  #look () {
    const { kernel, fleet } = this
    if (!kernel.tenure.hasBegun || kernel.tenure.isOver) return
    const at = kernel.now()
    const load = this.#latest = this.#measure(at)
    kernel.record('fleet.load', { ...load, isPinned: fleet.isPinned })
    this.#history = pushLoad(this.#history, load)
    const decision = fleet.isPinned ? null : decide(this.#history, this.bounds)
    if (decision === null) return
    const { workers, reason, busy } = decision
    if (reason === 'no-room') {
      return kernel.warnings.warnOnce({ warning: 'autoscale-no-room', workers: fleet.desired, busy })
    }
    kernel.warnings.over('autoscale-no-room')
    const leaveFirst = leastLoaded(fleet.wanted.map(slot => this.#loadOf(slot, at)))
    kernel.resize(workers, reason, { leaveFirst, busy, requestsPerSecond: load.requestsPerSecond })
  }

  /** @param {number} at @returns {Load} */
  #measure (at) {
    const all = this.fleet.all()
    const serving = this.fleet.serving()
    let requests = 0
    for (const handle of all) {
      const { latest } = handle
      requests += Math.max(0, latest.requests - (this.#requests.get(handle) ?? 0))
      this.#requests.set(handle, latest.requests)
    }
    const elapsedMs = Math.max(1, at - this.#lookedAt)
    this.#lookedAt = at
    const fitting = startsThatFit(this.kernel.memoryWatch.latest, Math.max(0, this.fleet.desired - serving.length))
    return {
      atMs: Math.round(at),
      workers: this.fleet.desired,
      serving: serving.length,
      // A worker that is out of rotation has no time for more
      busy: Math.round(1000 * serving.reduce((sum, handle) => sum + (handle.out ? 1 : busyOf(handle, at)), 0)) / 1000,
      requestsPerSecond: Math.round(1000 * requests / elapsedMs),
      bootMs: Math.round(Math.max(0, ...all.map(({ bootMs }) => bootMs ?? 0))),
      fitting: fitting === Infinity ? null : fitting
    }
  }

  /** @param {number} slot @param {number} at */
  #loadOf (slot, at) {
    const incumbent = this.fleet.slots.get(slot)?.incumbent ?? null
    return incumbent?.isServing
      ? { slot, busy: busyOf(incumbent, at), connections: incumbent.connections }
      : { slot, busy: 0, connections: 0 }
  }
}

/**
 * Of its event loop, 0 to 1; one that is silent is held by what it does.
 * @param {WorkerHandle} handle @param {number} at
 */
const busyOf = ({ latest, heardAt }, at) => at - heardAt > SILENT_MS ? 1 : latest.elu

module.exports = { Sizing }
