'use strict'

/**
 * The lives of workers: each is spawned into a slot, becomes ready, and leaves it, as intended or not. Whoever crashes
 * is replaced at once; whoever dies before it is ready, or within a second of it, ever more slowly. A standby, where there
 * is one, takes the slot over; else a worker is spawned into it.
 */

const { EventEmitter } = require('node:events')
const { backoffMs } = require('../core/backoff')
const { becomesReady, giveUp, howItLeft } = require('./deeds')
const { Reserve } = require('./reserve')

/** @typedef {import('./handle').Handle} Handle @typedef {import('./fleet').Slot} Slot */

const TOO_MANY_DEATHS = 5
const EARLY_MS = 1000
const CALL_MS = 2000 // a standby has loaded everything: it is silent for longer only if it is stuck

/**
 * Emits `spawned`, `standby` and `ready` with the handle, `change` whenever a worker is ready or gone, and `hopeless` ({ deaths,
 * how }) when one after the other dies and nobody serves.
 */
class Crew extends EventEmitter {
  isDismissed = false
  /** Early deaths in a row, in the whole fleet. */
  #deaths = 0
  /** Whose failures a worker's early death counts among. @type {WeakMap<Handle, Slot | Reserve>} */
  #places = new WeakMap()

  /**
   * @param {object} rooms
   * @param {import('../core/options').Options} rooms.options
   * @param {import('./fleet').Fleet} rooms.fleet
   * @param {import('./rollout').Rollout} rooms.rollout
   * @param {import('./spawner').Spawner} rooms.spawner
   * @param {(event: string, fields: Record<string, any>) => unknown} rooms.record
   */
  constructor ({ options, fleet, rollout, spawner, record }) {
    super()
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.spawner = spawner
    this.record = record
    this.reserve = new Reserve({ options, fleet, rollout, record, spawn: () => this.#spawn(null) })
    this.on('change', () => this.reserve.tend())
  }

  /** From here on nobody is spawned or replaced. */
  dismiss () {
    this.isDismissed = true
    this.reserve.close()
  }

  /** Starts the worker of an empty slot. @param {Slot} slot */
  async boot (slot) {
    if (this.isDismissed) return
    const standby = this.#call(slot)
    const handle = standby ?? this.#spawn(slot)
    slot.incumbent = handle
    const why = await becomesReady(handle, standby ? CALL_MS : this.options.readyTimeoutMs)
    if (why !== null) await giveUp(handle)
  }

  /**
   * Calls a standby or spawns a successor and, once it is ready, puts it in the incumbent's place.
   *
   * @param {Slot} slot
   * @returns {Promise<string | null>} null: it serves; else why not
   */
  async raise (slot) {
    const standby = this.isDismissed ? null : this.#call(slot)
    if (!standby) await this.reserve.makeRoom()
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
    const isEmpty = () => !this.isDismissed && slot.incumbent === null && slot.recycling === null && this.fleet.slots.get(slot.slot) === slot
    if (isEmpty()) setTimeout(() => { if (isEmpty()) this.boot(slot) }, backoffMs(slot.failures))
  }

  /**
   * What the predecessor in this slot listens on, or has just asked to, for its clients may know of it before we do; where
   * there is none, what its siblings do.
   *
   * @param {Slot | null} slot
   * @returns {ReadonlySet<string>}
   */
  #addressesFor (slot) {
    return new Set(slot?.incumbent?.asked ?? this.fleet.serving()[0]?.asked)
  }

  /** Calls a standby into a slot. @param {Slot} slot @returns {Handle | null} null: there is none */
  #call (slot) {
    const handle = this.reserve.take(this.#addressesFor(slot))
    if (handle === null) return null
    this.#places.set(handle, slot)
    handle.call(slot.slot)
    return handle
  }

  /** @param {Slot | null} slot null: a standby @returns {Handle} */
  #spawn (slot) {
    const handle = this.spawner.spawn(slot?.slot ?? null, { generation: this.rollout.generation, mustListenOn: this.#addressesFor(slot) })
    const { pid, generation, budget } = handle
    this.#places.set(handle, slot ?? this.reserve)
    this.record('worker.spawn', { slot: handle.slot, pid, generation, budget })
    handle.on('standby', () => this.#onStandby(handle))
    handle.on('ready', () => this.#onReady(handle))
    handle.on('exit', () => this.#onExit(handle))
    this.emit('spawned', handle)
    return handle
  }

  /** @param {Handle} handle */
  #onStandby (handle) {
    const standbyAt = /** @type {number} */ (handle.standbyAt)
    this.record('worker.standby', { slot: null, pid: handle.pid, standbyAt, readyMs: standbyAt - handle.spawnedAt, addresses: [...handle.addresses] })
    this.#clearsFailures(handle)
    this.emit('standby', handle)
    this.emit('change')
  }

  /** @param {Handle} handle */
  #onReady (handle) {
    const { slot, pid, readyAt, readyMs } = handle
    this.record('worker.ready', { slot, pid, readyAt, readyMs, addresses: [...handle.addresses] })
    this.#clearsFailures(handle)
    this.emit('ready', handle)
    this.emit('change')
  }

  /** It proves that the failures before it are over, and says nothing of those since. @param {Handle} handle */
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

  /** @param {Handle} handle */
  #placeOf (handle) {
    return /** @type {Slot | Reserve} */ (this.#places.get(handle))
  }

  /** @param {Handle} handle */
  #onExit (handle) {
    const place = this.#placeOf(handle)
    const { code, signal } = /** @type {NonNullable<Handle['left']>} */ (handle.left)
    const isIntended = handle.state === 'draining'
    const upSince = handle.readyAt ?? handle.standbyAt
    const isFailure = !isIntended && (upSince === null || Date.now() - upSince < EARLY_MS)
    handle.become(isIntended ? 'retired' : 'crashed')
    this.fleet.remove(place instanceof Reserve ? null : place, handle)
    this.record(isIntended ? 'worker.retire' : 'worker.crash', { slot: handle.slot, pid: handle.pid, code, signal, inFlight: handle.latest.inFlight, requests: handle.latest.requests })
    if (isFailure) {
      if (!(place instanceof Reserve)) place.failures++
      this.#deaths++
      const isHopeless = this.#deaths >= TOO_MANY_DEATHS && !this.fleet.all().some(({ state }) => state === 'ready' || state === 'aside')
      if (isHopeless && !this.isDismissed) this.emit('hopeless', { deaths: this.#deaths, how: howItLeft({ code, signal }) })
    }
    if (place instanceof Reserve) place.lost(isFailure)
    else this.refill(place)
    this.emit('change')
  }
}

module.exports = { Crew }
