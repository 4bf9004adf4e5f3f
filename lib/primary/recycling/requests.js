'use strict'

const { RecycleError } = require('../../core/errors')
/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { Recycled } from './recycler' */

/** Recycles that were requested, and the outcome that their caller waits for. */
class Requests {
  /**
   * @type {Map<WorkerHandle, { outcome: Promise<Recycled>, resolve: (line: Recycled) => void, reject: (error: Error) =>
   *   void }>}
   */
  #open = new Map()

  /** @param {AbortSignal} stopping */
  constructor (stopping) {
    stopping.addEventListener('abort', () => {
      for (const handle of this.#open.keys()) this.refused(handle, stopping.reason)
    })
  }

  /**
   * @param {import('../workers/fleet').Slot} slot @param {WorkerHandle} handle its worker
   * @returns {Promise<Recycled>}
   * @throws {RecycleError} RECYCLE_NOT_DONE, RECYCLE_NOT_READY, RECYCLE_STOPPED
   */
  open (slot, handle) {
    const before = this.#open.get(handle)
    if (before) return before.outcome
    const outcome = new Promise((resolve, reject) =>
      this.#open.set(handle, { outcome: /** @type {any} */ (null), resolve, reject }))
    Object.assign(/** @type {object} */ (this.#open.get(handle)), { outcome })
    handle.once('exit', () => {
      if (handle.state !== 'crashed' || slot.recycle?.old === handle) return
      this.refused(handle, new RecycleError('RECYCLE_NOT_DONE', { slot: slot.slot, what: 'the recycle', why: 'its worker crashed first' }))
    })
    return outcome
  }

  /** @param {WorkerHandle} handle @param {Recycled} line */
  done (handle, line) {
    this.#open.get(handle)?.resolve(line)
    this.#open.delete(handle)
  }

  /** @param {WorkerHandle} handle @param {Error} error */
  refused (handle, error) {
    this.#open.get(handle)?.reject(error)
    this.#open.delete(handle)
  }
}

module.exports = { Requests }
