'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * In the primary: gives the lease of a slot to one process at a time. A worker that leaves has it until its app has
 * ended what it did with it, or until it is gone; only then its successor gets it. After a succession it gives none
 * before the old primary's workers are gone.
 */

const UP = ['ready', 'out-of-rotation'] // what the app does with a lease takes no requests

class Leases {
  /** An adopted worker may be one, until it has told. @type {Set<WorkerHandle>} */
  #holders = new Set()
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
      this.#holders.delete(handle)
      delete handle.known.lease
      this.#look()
    }
    handle.hear({
      lease: ({ isHeld, isOver }) => {
        if (isOver) return over()
        if (isHeld && handle.isAdopted) return this.#give(handle)
        this.#holders.delete(handle)
        this.#waiting.set(handle, this.kernel.now())
        handle.known.lease = 'waits'
        this.#look()
      }
    })
    if (handle.isAdopted) this.#holders.add(handle)
    handle.on('ready', () => this.#look())
    handle.on('exit', over)
  }

  /** @param {WorkerHandle} handle */
  #give (handle) {
    this.#holders.add(handle)
    handle.known.lease = 'held'
  }

  #look () {
    if (!this.kernel.tenure.isSole) return
    for (const [handle, since] of this.#waiting) {
      const { slot, pid } = handle
      const isHeld = [...this.#holders].some(holder => holder.slot === slot)
      if (slot === null || isHeld || !UP.includes(handle.state)) continue
      this.#waiting.delete(handle)
      this.#give(handle)
      handle.send('lease', { slot })
      this.kernel.record('worker.lease', { slot, pid, waitedMs: Math.round(this.kernel.now() - since) })
    }
  }
}

module.exports = { Leases }
