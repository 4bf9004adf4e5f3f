'use strict'

/**
 * How busy each worker's event loop is, from its heartbeats: the mean of those since connections have moved last, later
 * ones count for more. The one that comes just after a move is left out, since it tells of both. Also which workers
 * rest: others do their load (core/gathering.js).
 */

const { now } = require('../clock')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle */

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
   *
   * @type {WeakMap<WorkerHandle, { requests: number, cpuUs: number, heardAt: number, rate: number, cpus: number }>}
   */
  #rates = new WeakMap()
  /** What connections that have come since do. @type {WeakMap<WorkerHandle, { load: number, at: number }>} */
  #given = new WeakMap()

  /**
   * @param {readonly WorkerHandle[]} handles that serve
   * @param {boolean} isMoving connections have moved since the last look
   */
  look (handles, isMoving) {
    for (const handle of handles) {
      const { latest } = handle
      this.#count(handle)
      const known = this.#known.get(handle)
      if (!known || isMoving) {
        this.#known.set(handle, { beat: latest, busy: latest.elu, beats: -1 })
      } else if (known.beat !== latest && !boots(handle)) {
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

  /** All these together, as core/gathering.js wants it. @param {readonly WorkerHandle[]} handles that serve */
  ofFleet (handles) {
    const rates = handles.flatMap(handle => boots(handle) ? [] : this.#rates.get(handle) ?? [])
    return {
      cpus: rates.reduce((sum, { cpus }) => sum + cpus, 0),
      rate: rates.reduce((sum, { rate }) => sum + rate, 0),
      lagMs: Math.max(0, ...handles.map(handle => isSilent(handle) ? Infinity : handle.latest.loopLagMs)),
      connections: handles.reduce((sum, { latest }) => sum + latest.connections, 0),
      isFlexible: handles.every(({ latest, generation }) => latest.flexible && generation === handles[0].generation)
    }
  }

  /** What it does is measured. @param {WorkerHandle} handle */
  isKnown (handle) {
    return isSilent(handle) || (this.#known.get(handle)?.beats ?? 0) > 0
  }

  /**
   * @param {WorkerHandle} handle one of another primary has no beats here
   * @returns {number} of its event loop, 0 to 1; above that with what it was given
   */
  of (handle) {
    if (isSilent(handle)) return 1
    const { load, at } = this.#given.get(handle) ?? { load: 0, at: -Infinity }
    const busy = this.#known.get(handle)?.busy ?? handle.latest?.elu ?? 0
    return (boots(handle) ? 0 : busy) + load * Math.max(0, 1 - (now() - at) / SETTLE_MS)
  }

  /** The worker gets a connection. @param {WorkerHandle} handle @param {number} load */
  give (handle, load) {
    const { load: before, at } = this.#given.get(handle) ?? { load: 0, at: -Infinity }
    this.#given.set(handle, { load: before * Math.max(0, 1 - (now() - at) / SETTLE_MS) + load, at: now() })
  }
}

/** Something holds its event loop. @param {WorkerHandle} handle */
function isSilent ({ heardAt }) {
  return now() - heardAt > SILENT_MS
}

/** @param {WorkerHandle} handle */
function boots ({ upSince }) {
  return now() - Number(upSince) < BOOT_MS
}

module.exports = { Loads, isSilent, boots }
