'use strict'

/**
 * The lives of workers: each is spawned into a slot, becomes ready, and leaves it, as intended or not. Whoever crashes
 * is replaced at once; whoever dies before it is ready, or within a second of it, ever more slowly. A standby, where there
 * is one, takes the slot over; else a worker is spawned into it.
 */

const { EventEmitter } = require('node:events')
const { backoffMs } = require('../../core/backoff')
const { now } = require('../clock')
const { becomesReady, giveUp, howItLeft } = require('./worker-actions')
const { StandbyPool } = require('./standby-pool')

/** @typedef {import('./worker-handle').WorkerHandle} WorkerHandle @typedef {import('./fleet').Slot} Slot */

const TOO_MANY_DEATHS = 5
const EARLY_MS = 1000
const INSISTENT = 3 // replacements that fail
const CALL_MS = 2000 // a standby has loaded everything: it is silent for longer only if it is stuck

/**
 * Emits `spawned`, `standby` and `ready` with the handle, `change` whenever a worker is ready or gone, `unready` when one that was
 * to fill an empty slot did not become ready, and `hopeless` ({ deaths, how }) when one after the other dies and nobody serves.
 */
class Lifecycle extends EventEmitter {
  isDismissed = false
  /** Early deaths in a row, in the whole fleet. */
  #deaths = 0
  /** Whose failures a worker's early death counts among. @type {WeakMap<WorkerHandle, Slot | StandbyPool>} */
  #places = new WeakMap()

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('./fleet').Fleet} deps.fleet
   * @param {import('../recycling/rollout').Rollout} deps.rollout
   * @param {import('./spawner').Spawner} deps.spawner
   * @param {(event: string, fields: Record<string, any>) => unknown} deps.record
   */
  constructor ({ options, fleet, rollout, spawner, record }) {
    super()
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.spawner = spawner
    this.record = record
    this.standbyPool = new StandbyPool({ options, fleet, rollout, record, spawn: () => this.#spawn(null) })
    this.on('change', () => this.standbyPool.tend())
  }

  /** From here on nobody is spawned or replaced. */
  dismiss () {
    this.isDismissed = true
    this.standbyPool.close()
  }

  /** Starts the worker of an empty slot. @param {Slot} slot */
  async boot (slot) {
    if (this.isDismissed) return
    const standby = this.#call(slot)
    const handle = standby ?? this.#spawn(slot)
    slot.incumbent = handle
    const why = await becomesReady(handle, standby ? CALL_MS : this.options.readyTimeoutMs)
    if (why === null) return
    const isOurs = !handle.isGone // else its crash is in the journal
    await giveUp(handle)
    if (this.isDismissed) return
    if (isOurs) this.record('worker.not-ready', { slot: slot.slot, oldPid: null, why, failures: slot.failures, nextTryMs: backoffMs(slot.failures) })
    this.emit('unready')
  }

  /**
   * Calls a standby or spawns a successor and, once it is ready, puts it in the incumbent's place.
   *
   * @param {Slot} slot
   * @returns {Promise<string | null>} null: it serves; else why not
   */
  async raise (slot) {
    const standby = this.isDismissed ? null : this.#call(slot)
    if (!standby) await this.standbyPool.makeRoom()
    if (this.isDismissed) return 'the fleet is stopping'
    const handle = standby ?? this.#spawn(slot)
    slot.successor = handle
    const why = await becomesReady(handle, standby ? CALL_MS : this.options.readyTimeoutMs)
    if (why === null) this.fleet.promote(slot)
    else await giveUp(handle)
    return why !== null && standby ? this.raise(slot) : why
  }

  /** Sees to it that a slot has a worker again. @param {Slot} slot */
  refill (slot) {
    const isEmpty = () => !this.isDismissed && slot.incumbent === null && slot.recycling === null && !slot.isDissolving
    if (isEmpty()) setTimeout(() => { if (isEmpty()) this.boot(slot) }, backoffMs(slot.failures)).unref()
  }

  /**
   * What the predecessor in this slot listens on, or has just asked to, for its clients may know of it before we do. Where
   * there was none, or one replacement after the other does not listen there (a path with a pid in it, say), what all
   * slots have in common. Where nobody serves, nobody's clients are to be kept.
   *
   * @param {Slot | null} slot
   * @returns {ReadonlySet<string>}
   */
  #addressesFor (slot) {
    if (this.fleet.serving().length === 0) return new Set()
    if (slot?.addresses && slot.failures < INSISTENT) return new Set(slot.addresses)
    const [first, ...others] = this.fleet.list().flatMap(({ addresses }) => addresses ?? [])
    return new Set([...first ?? []].filter(key => others.every(addresses => addresses.has(key))))
  }

  /** Calls a standby into a slot. @param {Slot} slot @returns {WorkerHandle | null} null: there is none */
  #call (slot) {
    const handle = this.standbyPool.take(this.#addressesFor(slot))
    if (handle === null) return null
    this.#places.set(handle, slot)
    handle.call(slot.slot)
    return handle
  }

  /** @param {Slot | null} slot null: a standby @returns {WorkerHandle} */
  #spawn (slot) {
    const handle = this.spawner.spawn(slot?.slot ?? null, { generation: this.rollout.generation, mustListenOn: this.#addressesFor(slot) })
    const { pid, generation, budget } = handle
    this.#places.set(handle, slot ?? this.standbyPool)
    this.record('worker.spawn', { slot: handle.slot, pid, generation, budget })
    handle.on('standby', () => this.#onStandby(handle))
    handle.on('ready', () => this.#onReady(handle))
    handle.on('exit', () => this.#onExit(handle))
    this.emit('spawned', handle)
    return handle
  }

  /** @param {WorkerHandle} handle */
  #onStandby (handle) {
    this.record('worker.standby', { slot: null, pid: handle.pid, readyMs: Number(handle.standbyAt) - handle.spawnedAt, addresses: [...handle.addresses] })
    this.#clearsFailures(handle)
    this.emit('standby', handle)
    this.emit('change')
  }

  /** @param {WorkerHandle} handle */
  #onReady (handle) {
    const { slot, pid, readyMs } = handle
    this.record('worker.ready', { slot, pid, readyMs, addresses: [...handle.addresses] })
    const place = this.#placeOf(handle)
    if (!(place instanceof StandbyPool)) place.addresses = handle.asked
    this.#clearsFailures(handle)
    this.emit('ready', handle)
    this.emit('change')
  }

  /** It proves that the failures before it are over, and says nothing of those since. @param {WorkerHandle} handle */
  #clearsFailures (handle) {
    const place = this.#placeOf(handle)
    const { failures } = place
    const deaths = this.#deaths
    setTimeout(() => {
      if (handle.isGone) return
      if (place.failures === failures) place.failures = 0
      if (this.#deaths === deaths) this.#deaths = 0
    }, EARLY_MS).unref()
  }

  /** @param {WorkerHandle} handle */
  #placeOf (handle) {
    return /** @type {Slot | StandbyPool} */ (this.#places.get(handle))
  }

  /** @param {WorkerHandle} handle */
  #onExit (handle) {
    const place = this.#placeOf(handle)
    const left = /** @type {import('./channel').Left} */ (handle.left)
    const isIntended = handle.state === 'draining'
    const isFailure = !isIntended && (handle.upSince === null || now() - handle.upSince < EARLY_MS)
    handle.become(isIntended ? 'retired' : 'crashed')
    this.fleet.remove(place instanceof StandbyPool ? null : place, handle)
    this.record(isIntended ? 'worker.retire' : 'worker.crash', { slot: handle.slot, pid: handle.pid, ...left, connections: handle.connections, inFlight: handle.latest.inFlight, requests: handle.latest.requests })
    if (isFailure) {
      if (!(place instanceof StandbyPool)) place.failures++
      this.#deaths++
      const isHopeless = this.#deaths >= TOO_MANY_DEATHS && !this.fleet.all().some(({ state }) => state === 'ready' || state === 'out-of-rotation')
      if (isHopeless && !this.isDismissed) this.emit('hopeless', { deaths: this.#deaths, how: howItLeft(left) })
    }
    if (place instanceof StandbyPool) place.lost(isFailure)
    else this.refill(place)
    this.emit('change')
  }
}

module.exports = { Lifecycle }
