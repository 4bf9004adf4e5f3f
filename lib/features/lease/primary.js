'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * In the primary: gives the lease of a slot to one process at a time. A worker that leaves has it until its app has
 * ended what it did with it, or until it is gone; only then its successor gets it. None is given while a worker of the
 * primary before may have it: until they are gone, or have been adopted and have told.
 */

const UP = ['ready', 'out-of-rotation'] // what the app does with a lease takes no requests

class Leases {
  /**
   * Of which slot each has it; null: of any, as an adopted worker that has not told yet.
   * @type {Map<WorkerHandle, number | null>}
   */
  #holders = new Map()
  /** Workers whose app waits for a lease, and since when, by kernel.now(). @type {Map<WorkerHandle, number>} */
  #waiting = new Map()

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
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
    this.#holders.set(handle, slot)
    handle.known.lease = 'held'
  }

  #look = () => {
    const { adoption } = this.kernel
    if (adoption.isWaiting) return adoption.removeListener('looked', this.#look).once('looked', this.#look)
    for (const [handle, since] of this.#waiting) {
      const { slot, pid } = handle
      const isHeld = [...this.#holders.values()].some(of => of === null || of === slot)
      if (slot === null || isHeld || !UP.includes(handle.state)) continue
      this.#waiting.delete(handle)
      this.#give(handle, slot)
      handle.send('lease', { slot })
      this.kernel.record('worker.lease', { slot, pid, waitedMs: Math.round(this.kernel.now() - since) })
    }
  }
}

module.exports = { Leases }
