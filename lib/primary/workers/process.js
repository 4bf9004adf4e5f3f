'use strict'

/**
 * The process of a worker, however it came to be: all that the rest of the primary knows of it. This one is forked by
 * cluster, so that an app finds itself in a cluster worker.
 *
 * It begins when there is a process, or never will be. From then on it emits `message` (what Node's channel calls
 * internal, with the handle that came along), `app-message` (by the app's process.send), `flaw` (a type, and what is
 * wrong: it has sent what Node cannot read), `online`, `down` (its channel has closed) and, once, `exit` (Left).
 */

const { EventEmitter } = require('node:events')
const { guardChannel } = require('./channel-guard')
/** @import { Worker } from 'node:cluster' */
/** @import { Handle } from '../../core/internals' */
/** @import { KilledFor } from '../../core/kills' */

const UNREAD_MS = 1000

/**
 * @typedef {object} Left how a process ended
 * @property {number | null} code @property {string | null} signal
 * @property {string} [error] it could not be started
 *
 * @typedef {object} WorkerProcess
 * @property {number | null} pid null: it has not begun, or could not be started; then its exit follows
 * @property {Forker | null} forkedBy
 * @property {(callback: () => void) => void} whenBegun calls back at once where it has
 * @property {(message: object, handle: Handle | undefined, sent: (error: Error | null) => void) => void} send
 * @property {(signal: NodeJS.Signals, why?: KilledFor) => void} kill `why`: with SIGKILL
 * @property {KilledFor | null} killedFor why the primary has sent it a SIGKILL; null: it has not
 * @property {EventEmitter['on']} on
 *
 * @typedef {{ generation: number, failure: (error: Error) => Promise<string> }} Forker what workers are copies of;
 *   `failure`: why one could not be made
 */

class ClusterProcess extends EventEmitter {
  #hasLeft = false
  /**
   * Calls from before the fork is confirmed: a message of the copy can arrive before the mold's answer.
   * @type {(() => void)[] | null}
   */
  #early = null
  /** Null: it could not be started. @type {Worker | null} */
  worker = null
  /** The process of which it is a copy: it begins later. @type {Forker | null} */
  forkedBy = null
  /** @type {KilledFor | null} */
  killedFor = null

  /**
   * @param {() => { worker: Worker, forkedBy?: Forker }} start may throw: the kernel lacks memory (ENOMEM), say
   * @param {{ isEarly?: boolean }} [how] `isEarly`: nothing hears it before begin() is called
   */
  constructor (start, { isEarly = false } = {}) {
    super()
    if (isEarly) this.#early = []
    try {
      this.#follow(start())
    } catch (error) {
      setImmediate(() => this.#leave({ code: null, signal: null, error: /** @type {Error} */ (error).message }))
    }
  }

  /** @param {{ worker: Worker, forkedBy?: Forker }} started */
  #follow ({ worker, forkedBy }) {
    this.worker = worker
    const hear = (/** @type {string} */ event) =>
      (/** @type {unknown[]} */ ...args) => this.whenBegun(() => { this.emit(event, ...args) })
    if (forkedBy) {
      this.forkedBy = forkedBy
      this.#early = []
      worker.process.once('forked', () => this.begin())
    }
    // Most often the error of a send to a worker that has just died, whose exit follows; a process that could not be
    // started has no exit of its own.
    worker.on('error', async error => {
      if (this.pid === null) {
        this.#leave({ code: null, signal: null, error: await forkedBy?.failure(error) ?? error.message })
      }
    })
    worker.on('disconnect', hear('down'))
    worker.on('exit', (code, signal) => this.#leaveWhenRead({ code, signal }))
    worker.on('online', hear('online'))
    guardChannel(worker.process, hear('flaw'))
    worker.process.on('internalMessage', hear('message'))
    worker.process.on('message', (message, handle) => {
      if (handle) 'destroy' in handle ? handle.destroy() : handle.close?.() // nothing here takes one
      hear('app-message')(message)
    })
  }

  get pid () {
    return this.worker?.process.pid ?? null
  }

  get hasLeft () {
    return this.#hasLeft
  }

  /** @type {WorkerProcess['whenBegun']} */
  whenBegun (callback) {
    if (this.#early) this.#early.push(callback)
    else callback()
  }

  begin () {
    const early = this.#early ?? []
    this.#early = null
    for (const callback of early) callback()
  }

  /** @type {WorkerProcess['send']} */
  send (message, handle, sent) {
    const process = this.worker?.process
    if (process?.send) process.send(message, handle, undefined, sent)
    else sent(new Error('it could not be started')) // without descriptors, Node does not even open the channel
  }

  /** @type {WorkerProcess['kill']} */
  kill (signal, why) {
    if (this.#hasLeft) return
    this.killedFor ??= why ?? null
    this.worker?.process.kill(signal)
  }

  /** The kernel may tell of its end before what it has said last is read from its channel. @param {Left} left */
  #leaveWhenRead (left) {
    const { worker } = this
    if (!worker?.isConnected()) return this.#leave(left)
    const deadline = setTimeout(() => this.#leave(left), UNREAD_MS) // another process has its end of the channel
    worker.once('disconnect', () => {
      clearTimeout(deadline)
      this.#leave(left)
    })
  }

  /** @param {Left} left */
  #leave (left) {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.begin()
    this.emit('exit', left)
  }
}

/** @param {Left} left */
function howItLeft ({ code, signal, error }) {
  if (error) return `could not be started (${error})`
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}

module.exports = { ClusterProcess, howItLeft }
