'use strict'

/**
 * The lives of workers: each is spawned into a slot, becomes ready, and leaves it, as intended or not. Whoever crashes
 * is replaced at once; whoever dies before it is ready, or within a second of it, ever more slowly.
 */

const { EventEmitter } = require('node:events')
const { backoffMs } = require('../core/backoff')
const { becomesReady, kill, howItLeft } = require('./deeds')

/** @typedef {import('./handle').Handle} Handle @typedef {import('./fleet').Slot} Slot */

const TOO_MANY_DEATHS = 5
const EARLY_MS = 1000

/**
 * Emits `spawned` and `ready` with the handle, `change` whenever a worker is ready or gone, and `hopeless` ({ deaths,
 * how }) when one after the other dies and nobody serves.
 */
class Crew extends EventEmitter {
  isDismissed = false
  /** Early deaths in a row, in the whole fleet. */
  #deaths = 0

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
  }

  /** From here on nobody is spawned or replaced. */
  dismiss () {
    this.isDismissed = true
  }

  /** Starts the worker of an empty slot. @param {Slot} slot */
  async boot (slot) {
    if (this.isDismissed) return
    const handle = this.#spawn(slot)
    slot.incumbent = handle
    const why = await becomesReady(handle, this.options.readyTimeoutMs)
    if (why !== null) await giveUp(handle)
  }

  /**
   * Spawns a successor and, once it is ready, puts it in the incumbent's place.
   *
   * @param {Slot} slot
   * @returns {Promise<string | null>} null: it serves; else why not
   */
  async raise (slot) {
    const handle = this.#spawn(slot)
    slot.successor = handle
    const why = await becomesReady(handle, this.options.readyTimeoutMs)
    if (why === null) this.fleet.promote(slot)
    else await giveUp(handle)
    return why
  }

  /** Sees to it that a slot has a worker again. @param {Slot} slot */
  refill (slot) {
    const isEmpty = () => !this.isDismissed && slot.incumbent === null && slot.recycling === null && this.fleet.slots.get(slot.slot) === slot
    if (isEmpty()) setTimeout(() => { if (isEmpty()) this.boot(slot) }, backoffMs(slot.failures))
  }

  /** @param {Slot} slot @returns {Handle} */
  #spawn (slot) {
    // What the predecessor listens on; in a slot that has none, what its siblings do.
    const mustListenOn = new Set(slot.incumbent?.addresses ?? this.fleet.serving()[0]?.addresses)
    const handle = this.spawner.spawn(slot.slot, { generation: this.rollout.generation, mustListenOn })
    const { pid, generation, budget } = handle
    this.record('worker.spawn', { slot: slot.slot, pid, generation, budget })
    handle.on('ready', () => this.#onReady(slot, handle))
    handle.on('exit', () => this.#onExit(slot, handle))
    this.emit('spawned', handle)
    return handle
  }

  /** @param {Slot} slot @param {Handle} handle */
  #onReady (slot, handle) {
    const readyAt = /** @type {number} */ (handle.readyAt)
    this.record('worker.ready', { slot: slot.slot, pid: handle.pid, readyAt, readyMs: readyAt - handle.spawnedAt, addresses: [...handle.addresses] })
    // It proves that the failures before it are over, and says nothing of those since.
    const { failures } = slot
    const deaths = this.#deaths
    setTimeout(() => {
      if (handle.isGone) return
      if (slot.failures === failures) slot.failures = 0
      if (this.#deaths === deaths) this.#deaths = 0
    }, EARLY_MS).unref()
    this.emit('ready', handle)
    this.emit('change')
  }

  /** @param {Slot} slot @param {Handle} handle */
  #onExit (slot, handle) {
    const { code, signal } = /** @type {NonNullable<Handle['left']>} */ (handle.left)
    const isIntended = handle.state === 'draining'
    const isEarly = handle.readyAt === null || Date.now() - handle.readyAt < EARLY_MS
    handle.become(isIntended ? 'retired' : 'crashed')
    this.fleet.remove(slot, handle)
    this.record(isIntended ? 'worker.retire' : 'worker.crash', { slot: slot.slot, pid: handle.pid, code, signal, inFlight: handle.latest.inFlight })
    if (!isIntended && isEarly) {
      slot.failures++
      this.#deaths++
      const isHopeless = this.#deaths >= TOO_MANY_DEATHS && this.fleet.serving().length === 0
      if (isHopeless && !this.isDismissed) this.emit('hopeless', { deaths: this.#deaths, how: howItLeft({ code, signal }) })
    }
    this.emit('change')
    this.refill(slot)
  }
}

/** @param {Handle} handle one that has not become ready */
async function giveUp (handle) {
  if (!handle.isGone && handle.state === 'spawning') await kill(handle)
}

module.exports = { Crew }
