'use strict'

/** In the primary: which route leaks, from what the workers report after collections; see route-memory.js. */

const { RouteMemory } = require('./route-memory')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const FIRST_MS = 2000 // between two estimates
const AGAIN_MS = 10 * 60_000 // between two requests for a mark-sweep
const LAST_MS = 15_000 // at most
const THRIFT = 100 // times as long as an estimate takes

class LeakingRoutes {
  #memory = new RouteMemory()
  #generation = 0
  /** The names of each worker's routes, in its order. @type {WeakMap<WorkerHandle, string[]>} */
  #names = new WeakMap()
  /** Leaking routes that are in the journal. @type {Set<string>} */
  #said = new Set()
  #nextAt = 0
  #askedAt = -Infinity
  /** @type {import('./route-memory').Estimate | null} */
  #latest = null

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({ memory: fields => this.#add(handle, fields) })
  }

  /** @returns the estimate of the last seconds, plain data */
  describe () {
    return this.#latest ?? this.#memory.estimate()
  }

  /** @param {WorkerHandle} handle @param {import('../../messages').FromWorker['memory']} fields */
  #add (handle, { upMs, liveBytes, markSweeps, requests: counts, routes }) {
    const names = this.#names.get(handle) ?? []
    this.#names.set(handle, names)
    names.push(...routes.slice(0, counts.length - names.length))
    const requests = Object.fromEntries(names.map((name, i) => [name, counts[i] ?? 0]))
    const { slot, pid } = handle
    this.kernel.record('worker.memory', { slot, pid, upMs, liveBytes, markSweeps, requests })
    if (this.#generation !== this.kernel.fleet.rollout.generation) this.#startAnew()
    if (handle.generation < this.#generation) return
    this.#memory.add({ pid, upMs, liveBytes, markSweeps, requests })
    if (this.kernel.now() >= this.#nextAt) this.#estimate()
    if (this.#latest?.lack === 'no-mark-sweep' && slot !== null && handle.isServing &&
      this.kernel.now() - this.#askedAt >= AGAIN_MS) {
      this.#askedAt = this.kernel.now()
      this.kernel.tasks.run('collect', () => this.kernel.features.collect(slot))
    }
  }

  /** After a reload the app's code may be another. */
  #startAnew () {
    this.#generation = this.kernel.fleet.rollout.generation
    this.#memory.reset()
    this.#said.clear()
    this.#latest = null
    this.#askedAt = -Infinity
  }

  #estimate () {
    const began = this.kernel.now()
    this.#latest = this.#memory.estimate()
    this.#nextAt = this.kernel.now() + Math.min(LAST_MS, Math.max(FIRST_MS, THRIFT * (this.kernel.now() - began)))
    for (const { leaks, route, requests, bytesPerRequest, low, high } of this.#latest.routes) {
      if (!leaks || this.#said.has(route)) continue
      this.#said.add(route)
      this.kernel.record('fleet.leak', { route, bytesPerRequest, low, high, requests })
    }
  }
}

module.exports = { LeakingRoutes }
