'use strict'

/** Counts of the workers of both codes, slot by slot: those that a slot has had one after the other are one. */

const { newCounts, blockBetween, poolCounts } = require('./counts')
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Counts, Memory } from './counts' */
/** @import { Window } from './verdict' */

/** A slot of one code. */
class OfSlot {
  /** Of its worker. @type {Counts} */
  #counts = newCounts()
  /** Of those before it. @type {Counts} */
  #earlier = newCounts()
  /** As of the end of the latest block. @type {Counts} */
  #atBlock = newCounts()
  /** @type {Memory | null} */
  #half = null
  crashes = 0
  exceptions = 0

  /** @param {WorkerHandle} handle @param {boolean} isFresh @param {number} blocks that have ended already */
  constructor (handle, isFresh, blocks) {
    this.handle = handle
    this.isFresh = isFresh
    this.blocks = Array.from({ length: blocks }, () => blockBetween(this.#counts, this.#counts))
  }

  /** @returns {Window} */
  get window () {
    const { handle: { slot }, crashes, exceptions, blocks } = this
    return { ...this.#all, slot: Number(slot), half: this.#half, blocks, crashes, exceptions }
  }

  get #all () {
    return poolCounts([this.#earlier, this.#counts])
  }

  /** Another worker is in it. @param {WorkerHandle} handle */
  succeed (handle) {
    this.handle = handle
    this.#earlier = this.#all
    this.#counts = newCounts()
  }

  /** @param {Counts} counts later ones; an app shares its worker's process, and may send what it likes */
  hear (counts) {
    if (counts.requests >= this.#counts.requests) this.#counts = counts
  }

  endBlock () {
    const all = this.#all
    this.blocks.push(blockBetween(all, this.#atBlock))
    this.#atBlock = all
  }

  /** The first half of the comparison is over; of a worker that comes later there is none. */
  endHalf () {
    this.#half ??= this.#all.memory
  }
}

class Observed {
  /** @type {OfSlot[]} */
  #slots = []
  /** How many blocks of time have ended. */
  blocks = 0

  /** @returns {{ old: Window[], fresh: Window[] }} of the code before, and of the new code */
  get sides () {
    const of = (/** @type {boolean} */ isFresh) =>
      this.#slots.filter(slot => slot.isFresh === isFresh).map(({ window }) => window)
    return { old: of(false), fresh: of(true) }
  }

  /** @param {boolean} isFresh @returns {WorkerHandle[]} that are there */
  workers (isFresh) {
    return this.#slots.filter(slot => slot.isFresh === isFresh && !slot.handle.isGone).map(({ handle }) => handle)
  }

  clear () {
    this.#slots = []
    this.blocks = 0
  }

  /** @param {WorkerHandle} handle that counts from here on @param {boolean} isFresh it runs the new code */
  add (handle, isFresh) {
    const before = this.#slots.find(slot => slot.isFresh === isFresh && slot.handle.slot === handle.slot)
    if (before) before.succeed(handle)
    else this.#slots.push(new OfSlot(handle, isFresh, this.blocks))
  }

  /** @param {WorkerHandle} handle @param {Counts} counts */
  hear (handle, counts) {
    this.#slots.find(slot => slot.handle === handle)?.hear(counts)
  }

  /** @param {WorkerHandle} handle @param {boolean} isGone else its app has not caught an exception */
  crashed (handle, isGone) {
    const slot = this.#slots.find(slot => slot.handle === handle)
    if (slot) slot[isGone ? 'crashes' : 'exceptions']++
  }

  endBlock () {
    this.blocks++
    for (const slot of this.#slots) slot.endBlock()
  }

  endHalf () {
    for (const slot of this.#slots) slot.endHalf()
  }
}

module.exports = { Observed }
