'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * In the primary: gives the lease of a slot to one process at a time. A worker that leaves has it until its app has
 * ended what it did with it, or until it is gone; only then its successor gets it. After a succession it gives none
 * before the old primary's workers are gone.
 */

const UP = ['ready', 'out-of-rotation'] // what the app does with a lease takes no requests

class Leases {
  /** By slot. @type {Map<number, WorkerHandle>} */
  #holders = new Map()
  /** Workers whose app waits for a lease, and since when, by kernel.now(). @type {Map<WorkerHandle, number>} */
  #waiting = new Map()

  /** @param {import('../../primary/parts').Parts} kernel */
  constructor (kernel) {
    this.kernel = kernel
    kernel.takeover?.on('sole', () => this.#look())
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    const over = () => {
      this.#waiting.delete(handle)
      for (const [slot, holder] of this.#holders) if (holder === handle) this.#holders.delete(slot)
      delete handle.known.lease
      this.#look()
    }
    handle.hear({
      lease: ({ isHeld }) => {
        const { slot, isAdopted } = handle
        if (isHeld && isAdopted && slot !== null && !this.#holders.has(slot)) return this.#give(handle, slot)
        this.#waiting.set(handle, this.kernel.now())
        handle.known.lease = 'waits'
        this.#look()
      },
      'lease-over': over
    })
    handle.on('ready', () => this.#look())
    handle.on('exit', over)
  }

  /** @param {WorkerHandle} handle @param {number} slot */
  #give (handle, slot) {
    this.#holders.set(slot, handle)
    handle.known.lease = 'held'
  }

  #look () {
    if (!this.kernel.isSole()) return
    for (const [handle, since] of this.#waiting) {
      const { slot, pid } = handle
      if (slot === null || !UP.includes(handle.state) || this.#holders.has(slot)) continue
      this.#waiting.delete(handle)
      this.#give(handle, slot)
      handle.send('leased', { slot })
      this.kernel.record('worker.lease', { slot, pid, waitedMs: Math.round(this.kernel.now() - since) })
    }
  }
}

module.exports = { Leases }
