'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * In the primary: gives the lease of a slot to one process at a time. A worker that leaves has it until its app has
 * ended what it did with it, or until it is gone; only then its successor gets it. None is given while a worker of the
 * primary before may have it: until they are gone, or have been adopted and have told. One whose event loop has been
 * blocked since before that primary died is not found: where others tell that it has a lease, that is its own.
 */

const { isStill, startOf } = require('../../native/proc')

const AGAIN_MS = 1000 // it may be gone

/** @typedef {{ slot: number, pid: number, startedAt: number | null | undefined }} Note `startedAt`: as startOf() */

const UP = ['ready', 'out-of-rotation'] // what the app does with a lease takes no requests

class Leases {
  /**
   * The lease of each that has one; null: of any slot, as an adopted worker that has not told yet.
   * @type {Map<WorkerHandle, Note | null>}
   */
  #holders = new Map()
  /** Workers whose app waits for a lease, and since when, by kernel.now(). @type {Map<WorkerHandle, number>} */
  #waiting = new Map()
  /** Of the primary before; not of those that have told. @type {Note[]} */
  #before = []
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  isKept = true

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
  }

  async bequeath () {
    const ours = [...this.#holders.values()].filter(note => note !== null)
    return JSON.stringify([...ours, ...this.#before.filter(isThere)])
  }

  /** @param {string} text */
  inherit (text) {
    this.#before = JSON.parse(text)
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    const over = () => {
      this.#waiting.delete(handle)
      this.#holders.delete(handle)
      delete handle.known.lease
      this.#look()
    }
    handle.hear({
      lease: ({ held, isOver }) => {
        this.#before = this.#before.filter(({ pid }) => pid !== handle.pid)
        if (isOver) return over()
        if (held !== undefined && handle.isAdopted) {
          this.#give(handle, held) // its place may be another one now
        } else {
          this.#holders.delete(handle)
          this.#waiting.set(handle, this.kernel.now())
          handle.known.lease = 'waits'
        }
        this.#look()
      }
    })
    if (handle.isAdopted) this.#holders.set(handle, null)
    handle.on('ready', () => this.#look())
    handle.on('exit', over)
  }

  /** @param {WorkerHandle} handle @param {number} slot */
  #give (handle, slot) {
    this.#holders.set(handle, { slot, pid: handle.pid, startedAt: startOf(handle.pid) })
    this.kernel.legacy.tellSoon()
    handle.known.lease = 'held'
  }

  #look = () => {
    const { adoption } = this.kernel
    if (adoption.isWaiting) return adoption.removeListener('looked', this.#look).once('looked', this.#look)
    for (const [handle, since] of this.#waiting) {
      const { slot, pid } = handle
      const isHeld = [...this.#holders.values()].some(note => note === null || note.slot === slot)
      const isBlocked = this.#before.some(note => note.slot === slot && isThere(note))
      if (isBlocked) this.#lookAgain()
      if (slot === null || isHeld || isBlocked || !UP.includes(handle.state)) continue
      this.#waiting.delete(handle)
      this.#give(handle, slot)
      handle.send('lease', { slot })
      this.kernel.record('worker.lease', { slot, pid, waitedMs: Math.round(this.kernel.now() - since) })
    }
  }

  #lookAgain () {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#look, AGAIN_MS).unref()
  }
}

/** @param {Note} note its start is missing where it could not be told */
const isThere = ({ pid, startedAt }) => isStill(pid, startedAt)

module.exports = { Leases }
