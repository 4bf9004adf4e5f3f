'use strict'

/**
 * How busy each worker's event loop is, from its heartbeats: the mean of those since connections have moved last, later
 * ones count for more. The one that comes just after a move is left out, since it tells of both. Also which workers
 * rest: others do their load (core/gathering.js).
 */

const { now } = require('../clock')
/** @import { WorkerHandle } from '../workers/worker-handle' */

const SILENT_MS = 1500
const BOOT_MS = 1000 // after it is up, a beat may still tell of its boot
const SETTLE_MS = 1000 // what a connection does in its new worker is in the beats by then
const LEAST_SHARE = 0.5 // of the mean, that a beat has

class Loads {
  /**
   * @type {WeakMap<WorkerHandle, { beat: unknown, busy: number, beats: number }>} `beats` below 0: one that is left out
   */
  #known = new WeakMap()
  /** @type {Set<WorkerHandle>} */
  resting = new Set()
  /**
   * Requests a second and CPUs that it uses, by its last two heartbeats.
   * @type {WeakMap<WorkerHandle, { requests: number, cpuUs: number, heardAt: number, rate: number, cpus: number }>}
   */
  #rates = new WeakMap()
  /** The load of connections that have come since. @type {WeakMap<WorkerHandle, { load: number, givenAt: number }>} */
  #given = new WeakMap()

  /**
   * @param {readonly WorkerHandle[]} handles that serve
   * @param {boolean} isMoving connections have moved since the last look
   * @param {number} [at] milliseconds of the primary's clock, here and below
   */
  look (handles, isMoving, at = now()) {
    for (const handle of handles) {
      const { latest } = handle
      this.#count(handle)
      const known = this.#known.get(handle)
      if (!known || isMoving) {
        this.#known.set(handle, { beat: latest, busy: latest.elu, beats: -1 })
      } else if (known.beat !== latest && !boots(handle, at)) {
        const beats = known.beats + 1
        const share = Math.max(LEAST_SHARE, 1 / Math.max(1, beats))
        this.#known.set(handle, { beat: latest, busy: known.busy + share * (latest.elu - known.busy), beats })
      }
    }
  }

  /** @param {WorkerHandle} handle */
  #count (handle) {
    const { heardAt, latest: { requests, cpuUs } } = handle
    const last = this.#rates.get(handle) ?? { requests, cpuUs, heardAt, rate: 0, cpus: 0 }
    const ms = heardAt - last.heardAt
    const { rate, cpus } = ms > 0
      ? { rate: 1000 * (requests - last.requests) / ms, cpus: (cpuUs - last.cpuUs) / 1000 / ms }
      : last
    this.#rates.set(handle, { requests, cpuUs, heardAt, rate, cpus })
  }

  /**
   * All these together, as core/gathering.js wants it.
   * @param {readonly WorkerHandle[]} handles that serve @param {number} [at]
   */
  ofFleet (handles, at = now()) {
    const rates = handles.flatMap(handle => boots(handle, at) ? [] : this.#rates.get(handle) ?? [])
    return {
      cpus: rates.reduce((sum, { cpus }) => sum + cpus, 0),
      rate: rates.reduce((sum, { rate }) => sum + rate, 0),
      lagMs: Math.max(0, ...handles.map(handle => isSilent(handle, at) ? Infinity : handle.latest.loopLagMs)),
      connections: handles.reduce((sum, { latest }) => sum + latest.connections, 0),
      isFlexible: handles.every(({ latest, generation }) => latest.flexible && generation === handles[0].generation)
    }
  }

  /** The load is measured. @param {WorkerHandle} handle @param {number} [at] */
  isKnown (handle, at = now()) {
    return isSilent(handle, at) || (this.#known.get(handle)?.beats ?? 0) > 0
  }

  /**
   * @param {WorkerHandle} handle one of another primary has no beats here
   * @param {number} [at] @returns {number} of its event loop, 0 to 1; above that with what it was given
   */
  of (handle, at = now()) {
    if (isSilent(handle, at)) return 1
    const { load, givenAt } = this.#given.get(handle) ?? { load: 0, givenAt: -Infinity }
    const busy = this.#known.get(handle)?.busy ?? handle.latest?.elu ?? 0
    return (boots(handle, at) ? 0 : busy) + load * Math.max(0, 1 - (at - givenAt) / SETTLE_MS)
  }

  /** The worker gets a connection. @param {WorkerHandle} handle @param {number} load @param {number} [at] */
  give (handle, load, at = now()) {
    const { load: before, givenAt } = this.#given.get(handle) ?? { load: 0, givenAt: -Infinity }
    this.#given.set(handle, { load: before * Math.max(0, 1 - (at - givenAt) / SETTLE_MS) + load, givenAt: at })
  }
}

/** Something holds its event loop. @param {WorkerHandle} handle @param {number} [at] */
function isSilent ({ heardAt }, at = now()) {
  return at - heardAt > SILENT_MS
}

/** @param {WorkerHandle} handle @param {number} [at] */
function boots ({ upSince }, at = now()) {
  return at - Number(upSince) < BOOT_MS
}

module.exports = { Loads, isSilent, boots }
