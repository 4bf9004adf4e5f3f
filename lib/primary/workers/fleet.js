'use strict'

/**
 * Who is who: slots, and in each the worker that serves it, the successor that boots, and those who are leaving; and
 * the standbys, who have no slot yet. A registry without effects.
 *
 * @typedef {import('./worker-handle').WorkerHandle} WorkerHandle
 *
 * @typedef {object} Slot
 * @property {number} slot its number, stable, from 0
 * @property {WorkerHandle | null} incumbent
 * @property {WorkerHandle | null} successor
 * @property {Set<WorkerHandle>} leaving
 * @property {number} failures in a row: deaths before ready or within a second of it, replacements that did not get ready
 * @property {number} freshOverBudget in a row: workers that were over budget from the start
 * @property {number} notBefore ms, by clock.js: no recycle before
 * @property {number} recycles
 * @property {string | null} lastReason
 * @property {WorkerHandle | null} recycling the worker whose recycle is under way
 * @property {ReadonlySet<string> | null} addresses that its last ready worker has asked for
 * @property {boolean} isDissolving it is being scaled away
 */

class Fleet {
  /** @type {Map<number, Slot>} */
  slots = new Map()
  /** Those who boot, wait and leave without a slot; see standbyPool.js. @type {Set<WorkerHandle>} */
  standbys = new Set()

  /** Opens the lowest free slot. @returns {Slot} */
  open () {
    let number = 0
    while (this.slots.has(number)) number++
    const slot = {
      slot: number,
      incumbent: null,
      successor: null,
      leaving: new Set(),
      failures: 0,
      freshOverBudget: 0,
      notBefore: 0,
      recycles: 0,
      lastReason: null,
      recycling: null,
      addresses: null,
      isDissolving: false
    }
    this.slots.set(number, slot)
    return slot
  }

  /** @param {Slot} slot */
  close (slot) {
    this.slots.delete(slot.slot)
  }

  /** @returns {Slot[]} by number */
  list () {
    return [...this.slots.values()].sort((a, b) => a.slot - b.slot)
  }

  /** Those that are not being scaled away. @returns {Slot[]} by number */
  staying () {
    return this.list().filter(slot => !slot.isDissolving)
  }

  /** Every worker alive, whatever its state. @returns {WorkerHandle[]} */
  all () {
    return [...this.list().flatMap(({ incumbent, successor, leaving }) => [incumbent, successor, ...leaving]), ...this.standbys]
      .filter(handle => handle !== null)
  }

  /** @returns {WorkerHandle[]} the workers that take traffic */
  serving () {
    return this.all().filter(handle => handle.isServing)
  }

  /** @returns {WorkerHandle[]} the workers that are measured: who serves, and who waits to */
  watched () {
    return this.all().filter(handle => handle.isWatched)
  }

  /** Takes a worker that is gone out of its slot, or of the standbys. @param {Slot | null} slot @param {WorkerHandle} handle */
  remove (slot, handle) {
    this.standbys.delete(handle)
    if (slot === null) return
    if (slot.incumbent === handle) slot.incumbent = null
    if (slot.successor === handle) slot.successor = null
    slot.leaving.delete(handle)
  }

  /** The successor takes over; its predecessor, if there is one, is leaving. @param {Slot} slot */
  promote (slot) {
    const { incumbent, successor } = slot
    if (incumbent) this.vacate(slot, incumbent)
    slot.incumbent = successor
    slot.successor = null
  }

  /** A worker is on its way out of its slot. @param {Slot} slot @param {WorkerHandle} handle */
  vacate (slot, handle) {
    if (!handle.isGone) slot.leaving.add(handle)
    if (slot.incumbent === handle) slot.incumbent = null
  }

  /** @param {WorkerHandle} handle @returns {WorkerHandle | null} who has taken its slot over */
  successorOf (handle) {
    const incumbent = this.slots.get(handle.slot ?? -1)?.incumbent ?? null
    return incumbent === handle ? null : incumbent
  }
}

module.exports = { Fleet }
