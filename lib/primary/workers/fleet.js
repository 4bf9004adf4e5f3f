'use strict'

/** The registry of the fleet, without effects: its slots, and the standbys, which have no slot yet. */

const { unevenAddresses } = require('../../core/address')
const { isUsable } = require('../../core/fleet-facts')
const { Rollout } = require('./rollout')
const { Slot, StandbyPool } = require('./slot')
/** @import { Successor } from '../succession/handover' */
/** @import { WorkerHandle } from './worker-handle' */

class Fleet {
  /**
   * The numbers of the slots that there are to be, in order; another list after each change.
   * @type {readonly number[]}
   */
  wanted = []
  /** A command has set how many there are to be, in place of their load. */
  isPinned = false
  /** @type {Map<number, Slot>} */
  slots = new Map()
  standbyPool = new StandbyPool()
  /** Another primary, while its workers get the connections of this fleet's. @type {Successor[]} */
  heirs = []
  /** Addresses on which a new worker listens only when its app is asked to. @type {Set<string>} */
  onDemand = new Set()
  /** Of which generation they are to be. */
  rollout = new Rollout()

  /**
   * The numbers of all slots that are to have a worker: those, and the ones of code on trial.
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
    const all = [] // without further lists: each connection that moves asks
    for (const { incumbent, successor, leaving } of this.list()) {
      if (incumbent) all.push(incumbent)
      if (successor) all.push(successor)
      for (const handle of leaving) all.push(handle)
    }
    for (const handle of this.standbyPool.handles) all.push(handle)
    return all
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
    return [...this.standbyPool.handles].filter(handle => isUsable(handle, { generation }) && !handle.isGone)
  }

  /**
   * @param {WorkerHandle} handle
   * @returns {import('./slot').Place | undefined} its place, whose failures an early death of it counts among;
   *   undefined: its slot has been closed meanwhile, in which it was not seated any more
   */
  placeOf ({ slot }) {
    return slot === null ? this.standbyPool : this.slots.get(slot)
  }

  /**
   * The worker drains, no other one serves until it is gone, and then its replacement starts.
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

module.exports = { Fleet }
