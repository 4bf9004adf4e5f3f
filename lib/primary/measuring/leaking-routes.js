'use strict'

/** `--memory-by-route`: which route leaks, from what the workers report after collections; see lib/core/route-memory.js. */

const { RouteMemory } = require('../../core/route-memory')
const { now } = require('../clock')

const FIRST_MS = 2000 // between two estimates
const AGAIN_MS = 10 * 60_000 // between two requests for a mark-sweep
const LAST_MS = 15_000 // at most
const THRIFT = 100 // times as long as an estimate takes

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

class LeakingRoutes {
  #memory = new RouteMemory()
  #generation = 0
  /** The names of each worker's routes, in its order. @type {WeakMap<WorkerHandle, string[]>} */
  #names = new WeakMap()
  /** Those that are in the journal. @type {Set<string>} */
  #said = new Set()
  #nextAt = 0
  #askedAt = -Infinity
  /** @type {import('../../core/route-memory').Estimate | null} */
  #latest = null

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   * @param {(slot: number) => void} deps.collect has the worker of this slot collect, out of rotation
   */
  constructor ({ options, fleet, record, collect }) {
    this.options = options
    this.fleet = fleet
    this.record = record
    this.collect = collect
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    if (!this.options.memoryByRoute) return
    handle.on('memory', fields => this.#add(handle, fields))
  }

  /** @returns the estimate of the last seconds, plain data; null: without the option */
  describe () {
    return this.options.memoryByRoute ? this.#latest ?? this.#memory.estimate() : null
  }

  /** @param {WorkerHandle} handle @param {{ upMs: number, liveBytes: number, markSweeps: number, requests: number[], routes: string[] }} fields */
  #add (handle, { upMs, liveBytes, markSweeps, requests: counts, routes }) {
    const names = this.#names.get(handle) ?? []
    this.#names.set(handle, names)
    names.push(...routes.slice(0, counts.length - names.length))
    const requests = Object.fromEntries(names.map((name, i) => [name, counts[i] ?? 0]))
    const { slot, pid } = handle
    this.record('worker.memory', { slot, pid, upMs, liveBytes, markSweeps, requests })
    if (this.#generation !== this.fleet.rollout.generation) this.#startAnew()
    if (handle.generation < this.#generation) return
    this.#memory.add({ pid, upMs, liveBytes, markSweeps, requests })
    if (now() >= this.#nextAt) this.#estimate()
    if (this.#latest?.lack === 'no-mark-sweep' && slot !== null && handle.isServing && now() - this.#askedAt >= AGAIN_MS) {
      this.#askedAt = now()
      this.collect(slot)
    }
  }

  /** After a reload the app's code may be another. */
  #startAnew () {
    this.#generation = this.fleet.rollout.generation
    this.#memory.reset()
    this.#said.clear()
    this.#latest = null
    this.#askedAt = -Infinity
  }

  #estimate () {
    const began = now()
    this.#latest = this.#memory.estimate()
    this.#nextAt = now() + Math.min(LAST_MS, Math.max(FIRST_MS, THRIFT * (now() - began)))
    for (const { leaks, route, requests, bytesPerRequest, low, high } of this.#latest.routes) {
      if (!leaks || this.#said.has(route)) continue
      this.#said.add(route)
      this.record('fleet.leak', { route, bytesPerRequest, low, high, requests })
    }
  }
}

module.exports = { LeakingRoutes }
