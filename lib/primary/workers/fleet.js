'use strict'

/**
 * The registry of the fleet, without effects: its slots, and the standbys, which have no slot yet. A slot and the
 * standby pool are the two places that a worker is spawned for: each owns the failures of its workers.
 */

const { unevenAddresses } = require('../../core/address')
const { Backoff } = require('../../core/backoff')
const { RecycleBackoff } = require('../../tables/recycle-backoff')
const { Rollout } = require('./rollout')
/** @import { WorkerHandle } from './worker-handle' */

/** A stable worker number: its worker, the successor that boots beside it, and those that leave. */
class Slot {
  /** @type {WorkerHandle | null} */
  incumbent = null
  /** @type {WorkerHandle | null} */
  successor = null
  /** @type {Set<WorkerHandle>} */
  leaving = new Set()
  /** No worker of it has been ready since it was opened, or scaled away. */
  isNew = true
  /** Workers that did not start; see lifecycle.js. */
  boots = new Backoff()
  /** Workers that were condemned again and again. */
  recycling = new RecycleBackoff()
  /**
   * The addresses that its last ready worker has asked for, and how long it was up then: ms, 0: it was not yet.
   *
   * @type {ReadonlyMap<string, number> | null}
   */
  addresses = null
  /** Addresses of its last worker of the generation before. @type {ReadonlyMap<string, number> | null} */
  former = null
  /** Of the last ready worker. @type {number | null} */
  generation = null
  /** The same. @type {number | null} */
  pid = null
  /**
   * The recycle under way; `isReplaced`: the successor has taken over.
   *
   * @type {{ old: WorkerHandle, how: 'surge' | 'drain-first', isReplaced?: boolean } | null}
   */
  recycle = null
  /**
   * Why its last worker to boot has not become ready; null: it has.
   *
   * @type {{ why: string, hasCrashed: boolean } | null}
   */
  unready = null
  /**
   * Settings that its next worker is to have in place of an ordinary one.
   *
   * @type {import('./spawner').Variant | null}
   */
  variant = null
  /** How many recycles it has had, and why the last one. */
  recycles = 0
  /** @type {string | null} */
  lastReason = null

  /** @param {number} slot its number, from 0 */
  constructor (slot) {
    this.slot = slot
  }

  /** A worker boots here: in an empty slot as its incumbent, else as the successor. @param {WorkerHandle} handle */
  seat (handle) {
    if (this.incumbent === null) this.incumbent = handle
    else this.successor = handle
  }

  /**
   * The slot's worker is ready: from here on it is the incumbent, and its predecessor, if there is one, leaves.
   *
   * @param {WorkerHandle} handle
   */
  ready (handle) {
    this.isNew = false
    if (this.generation !== handle.generation) this.former = this.addresses
    this.addresses = handle.asked
    this.generation = handle.generation
    this.pid = handle.pid
    if (this.successor !== handle) return
    if (this.incumbent) this.vacate(this.incumbent)
    this.incumbent = handle
    this.successor = null
  }

  /** A worker is on its way out. @param {WorkerHandle} handle */
  vacate (handle) {
    if (!handle.isGone) this.leaving.add(handle)
    if (this.incumbent === handle) this.incumbent = null
    if (this.successor === handle) this.successor = null
  }

  /** A worker is gone. @param {WorkerHandle} handle */
  remove (handle) {
    if (this.incumbent === handle) this.incumbent = null
    if (this.successor === handle) this.successor = null
    this.leaving.delete(handle)
  }
}

/**
 * The standbys: replacements that are booted ahead. Each has loaded the app and listens where the workers do, but
 * accepts no connection; it belongs to no slot until one needs it.
 *
 *     spawned ──▶ standby ──take()──▶ a slot's
 *                    └── over budget, stuck, older than a reload ──▶ replaced, without having served
 */
class StandbyPool {
  slot = null
  /** The workers must listen on the addresses that all slots have in common. */
  addresses = null
  generation = null
  pid = null
  variant = null
  recycle = null
  /** Standbys: workers that boot, wait and leave without a slot. @type {Set<WorkerHandle>} */
  handles = new Set()
  /** Standbys that did not start. */
  boots = new Backoff()
  recycling = new RecycleBackoff()

  /** @param {WorkerHandle} handle */
  seat (handle) {
    this.handles.add(handle)
  }

  /** @param {WorkerHandle} handle */
  remove (handle) {
    this.handles.delete(handle)
  }
}

class Fleet {
  /**
   * The numbers of the slots that there are to be, in order; another list after each change.
   *
   * @type {readonly number[]}
   */
  wanted = []
  /** A command has set how many there are to be, in place of their load. */
  isPinned = false
  /** @type {Map<number, Slot>} */
  slots = new Map()
  standbyPool = new StandbyPool()
  /** Addresses on which a new worker listens only when its app is asked to. @type {Set<string>} */
  onDemand = new Set()
  /** Of which generation they are to be. */
  rollout = new Rollout()

  /**
   * The numbers of all slots that are to have a worker: those, and the ones of code on trial.
   *
   * @returns {readonly number[]}
   */
  get numbers () {
    const { trial } = this.rollout
    return trial ? [...this.wanted, ...trial.slots] : this.wanted
  }

  /** @param {number} count @returns {number[]} numbers that no slot has, above the others */
  free (count) {
    const first = Math.max(-1, ...this.wanted, ...this.slots.keys()) + 1
    return Array.from({ length: count }, (_, i) => first + i)
  }

  /** How many slots there are to be, beside those of a trial. */
  get desired () {
    return this.wanted.length
  }

  /**
   * More slots take the lowest free numbers.
   *
   * @param {number} count
   * @param {readonly number[]} [leaveFirst] slots in the order in which they are given up; by default the highest first
   */
  resize (count, leaveFirst = this.wanted.toReversed()) {
    const given = new Set(leaveFirst.slice(0, Math.max(0, this.desired - count)))
    const wanted = new Set(this.wanted.filter(slot => !given.has(slot)))
    for (let slot = 0; wanted.size < count; slot++) if (!this.rollout.trial?.slots.includes(slot)) wanted.add(slot)
    this.wanted = [...wanted].sort((a, b) => a - b)
  }

  /** Opens a slot, or finds it. @param {number} number @returns {Slot} */
  open (number) {
    const slot = this.slots.get(number) ?? new Slot(number)
    this.slots.set(number, slot)
    return slot
  }

  /** @param {number} number */
  close (number) {
    this.slots.delete(number)
  }

  /** @returns {Slot[]} by number */
  list () {
    return [...this.slots.values()].sort((a, b) => a.slot - b.slot)
  }

  /** Slots that are not being scaled away. @returns {Slot[]} by number */
  staying () {
    return this.list().filter(({ slot }) => this.numbers.includes(slot))
  }

  /** Every slot that there is to be, beside those of a trial, has a worker that serves. */
  get isComplete () {
    return this.desired > 0 && this.wanted.every(slot => this.slots.get(slot)?.incumbent?.isServing)
  }

  /**
   * @param {readonly number[]} numbers
   * @returns {Slot | undefined} the first of these slots whose workers fail, as many in a row as a command waits for
   */
  failing (numbers) {
    return this.list().find(({ slot, incumbent, boots }) =>
      numbers.includes(slot) && !incumbent?.isServing && boots.failures >= Rollout.PATIENCE)
  }

  /** Other code is started from here on: failures of the code before delay no worker. */
  tryAnew () {
    for (const { boots } of [...this.list(), this.standbyPool]) boots.succeeded()
  }

  /** Every worker alive, whatever its state. @returns {WorkerHandle[]} */
  all () {
    return [
      ...this.list().flatMap(({ incumbent, successor, leaving }) => [incumbent, successor, ...leaving]),
      ...this.standbyPool.handles
    ]
      .filter(handle => handle !== null)
  }

  /** @returns {WorkerHandle[]} the workers that take traffic */
  serving () {
    return this.all().filter(handle => handle.isServing)
  }

  /** @returns {WorkerHandle[]} the workers that are measured: those that serve, and those that stand by */
  watched () {
    return this.all().filter(handle => handle.isWatched)
  }

  /** Slots whose latest worker was of this generation. @param {number} generation @returns {Slot[]} */
  ofGeneration (generation) {
    return this.list().filter(slot => slot.addresses !== null && slot.generation === generation)
  }

  /** Where some slots alone listen, once all are of the same code. */
  unevenAddresses () {
    const slots = this.staying()
    if (slots.some(({ addresses, generation }) => addresses === null || generation !== slots[0].generation)) return []
    const early = new Set(slots.flatMap(({ addresses }) =>
      [...addresses ?? []].filter(([, upMs]) => upMs === 0).map(([key]) => key)))
    return unevenAddresses(
      slots.map(({ slot, addresses }) => ({ slot, keys: [...addresses?.keys() ?? []].filter(key => early.has(key)) }))
    )
  }

  /**
   * @param {Slot[]} [slots] @returns {string[]} the addresses that these slots have in common, without those on demand
   */
  commonAddresses (slots = this.list()) {
    const [first, ...others] = slots.flatMap(slot => slot.addresses ?? [])
    return [...first?.keys() ?? []].filter(key => !this.onDemand.has(key) && others.every(other => other.has(key)))
  }

  /** Standbys that can be called. @param {number} [generation] @returns {WorkerHandle[]} */
  usableStandbys (generation = this.rollout.generation) {
    return [...this.standbyPool.handles].filter(handle =>
      handle.state === 'standby' && handle.reason === null && handle.generation === generation && !handle.isGone)
  }

  /**
   * @param {WorkerHandle} handle one that is seated
   * @returns {Slot | StandbyPool} its place, whose failures an early death of it counts among
   */
  placeOf ({ slot }) {
    return slot === null ? this.standbyPool : /** @type {Slot} */ (this.slots.get(slot))
  }

  /**
   * The worker drains, no other one serves until it is gone, and then its replacement starts.
   *
   * @param {WorkerHandle} handle
   */
  isLeavingGap ({ slot, state }) {
    return state === 'draining' && this.slots.get(slot ?? -1)?.recycle?.how === 'drain-first' &&
      this.serving().length === 0
  }

  /** @param {WorkerHandle} handle @returns {WorkerHandle | null} the worker that has taken its slot over */
  successorOf (handle) {
    const incumbent = this.slots.get(handle.slot ?? -1)?.incumbent ?? null
    return incumbent === handle ? null : incumbent
  }
}

module.exports = { Fleet, Slot, StandbyPool }
