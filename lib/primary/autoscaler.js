'use strict'

/**
 * Gives a fleet with `--workers <min>..<max>` as many workers as its load needs: looks at the last heartbeats every second, and decides
 * by lib/core/autoscale.js.
 */

const { NO_HISTORY, pushLoad, autoscale, leastLoaded } = require('../core/autoscale')
const { startsThatFit } = require('../core/memory-room')
const { now } = require('./clock')

/** @typedef {import('./workers/worker-handle').WorkerHandle} WorkerHandle */

const LOOK_MS = 1000
const SILENT_MS = 1500

class Autoscaler {
  #history = NO_HISTORY
  /** Requests that each worker had begun at the last look. @type {WeakMap<WorkerHandle, number>} */
  #requests = new WeakMap()
  #lookedAt = now()
  #hasSaidNoRoom = false
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {object} deps
   * @param {import('../core/options').Options} deps.options
   * @param {import('./workers/fleet').Fleet} deps.fleet
   * @param {() => import('../core/memory-room').Memory | null} deps.memory of the container, by the last look
   * @param {() => boolean} deps.isHeld another primary runs the fleet
   * @param {() => void} deps.changed to be called when what is desired has changed
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   * @param {AbortSignal} deps.stopping
   */
  constructor ({ options, fleet, memory, isHeld, changed, record, stopping }) {
    this.bounds = options.autoscale
    this.fleet = fleet
    this.memory = memory
    this.isHeld = isHeld
    this.changed = changed
    this.record = record
    this.stopping = stopping
    /** Of the last look. @type {import('../core/autoscale').Load | null} */
    this.latest = null
  }

  start () {
    if (this.bounds) this.#timer = setInterval(() => this.#look(), LOOK_MS).unref() // the workers keep the process
  }

  stop () {
    clearInterval(this.#timer)
  }

  /** This process did not run for a while: the load of before says nothing of that after it. */
  wake () {
    this.#history = NO_HISTORY
  }

  /** For the status; null: the fleet does not size itself. */
  describe () {
    if (this.bounds === null) return null
    const { min, max } = this.bounds
    const { busy = null, requestsPerSecond = null } = this.latest ?? {}
    return { min, max, isPinned: this.fleet.isPinned, busy, requestsPerSecond }
  }

  #look () {
    if (this.bounds === null || this.stopping.aborted || this.isHeld()) return
    const at = now()
    const load = this.latest = this.#measure(at)
    this.record('fleet.load', { ...load, isPinned: this.fleet.isPinned })
    this.#history = pushLoad(this.#history, load)
    const decision = this.fleet.isPinned ? null : autoscale(this.#history, this.bounds)
    if (decision === null) return
    if (decision.reason === 'no-room') return this.#sayNoRoom(decision.busy)
    this.#hasSaidNoRoom = false
    const { workers: to, reason, busy } = decision
    const from = this.fleet.desired
    this.fleet.resize(to, leastLoaded(this.fleet.wanted.map(slot => this.#loadOf(slot, at))))
    this.record('fleet.scale', { from, to, reason, slots: this.fleet.wanted, busy, requestsPerSecond: load.requestsPerSecond })
    this.changed()
  }

  /** @param {number} at @returns {import('../core/autoscale').Load} */
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
    const fitting = startsThatFit(this.memory(), Math.max(0, this.fleet.desired - serving.length))
    return {
      atMs: Math.round(at),
      workers: this.fleet.desired,
      serving: serving.length,
      busy: rounded(serving.reduce((sum, handle) => sum + busyOf(handle, at), 0)),
      requestsPerSecond: Math.round(1000 * requests / elapsedMs),
      bootMs: Math.round(Math.max(0, ...all.map(({ bootMs }) => bootMs ?? 0))),
      fitting: fitting === Infinity ? null : fitting
    }
  }

  /** @param {number} slot @param {number} at */
  #loadOf (slot, at) {
    const incumbent = this.fleet.slots.get(slot)?.incumbent ?? null
    return incumbent?.isServing ? { slot, busy: busyOf(incumbent, at), connections: incumbent.connections } : { slot, busy: 0, connections: 0 }
  }

  /** Once, until the number changes. @param {number} busy */
  #sayNoRoom (busy) {
    if (this.#hasSaidNoRoom) return
    this.#hasSaidNoRoom = true
    this.record('fleet.warning', { warning: 'autoscale-no-room', workers: this.fleet.desired, busy })
  }
}

/** Of its event loop, 0 to 1; one that is silent is held by what it does. @param {WorkerHandle} handle @param {number} at */
function busyOf ({ latest, heardAt }, at) {
  return at - heardAt > SILENT_MS && !latest.debugged ? 1 : latest.elu
}

/** @param {number} value */
function rounded (value) {
  return Math.round(1000 * value) / 1000
}

module.exports = { Autoscaler }
