'use strict'

/**
 * The process of a worker, however it came to be: all that the rest of the primary knows of it. This one is forked by
 * cluster, so that an app finds itself in a cluster worker.
 *
 * Emits `message` (what Node's channel calls internal, with the handle that came along), `app-message` (by the app's
 * process.send), `online`, `down` (its channel has closed) and, once, `exit` (Left).
 */

const { EventEmitter } = require('node:events')

/**
 * @typedef {object} Left how a process ended
 * @property {number | null} code
 * @property {string | null} signal
 * @property {string} [error] it could not be started
 *
 * @typedef {object} WorkerProcess
 * @property {number | null} pid null: it could not be started; its exit follows
 * @property {(message: object, handle: any, sent: (error: Error | null) => void) => void} send
 * @property {(signal: NodeJS.Signals) => void} kill
 * @property {EventEmitter['on']} on
 */

class ClusterProcess extends EventEmitter {
  #hasLeft = false

  /** @param {import('node:cluster').Worker} worker */
  constructor (worker) {
    super()
    this.worker = worker
    this.pid = worker.process.pid ?? null
    // Most often the error of a send to a worker that has just died, whose exit follows; a process that could not be started
    // has no exit of its own.
    worker.on('error', error => { if (this.pid === null) this.#leave({ code: null, signal: null, error: error.message }) })
    worker.on('disconnect', () => this.emit('down'))
    worker.on('exit', (code, signal) => this.#leave({ code, signal }))
    worker.on('online', () => this.emit('online'))
    worker.process.on('internalMessage', (/** @type {any} */ message, handle) => this.emit('message', message, handle))
    worker.process.on('message', message => this.emit('app-message', message))
  }

  /** @type {WorkerProcess['send']} */
  send (message, handle, sent) {
    const { process } = this.worker
    if (process.send) process.send(message, handle, undefined, sent)
    else sent(new Error('it could not be started')) // without descriptors, Node does not even open the channel
  }

  /** @type {WorkerProcess['kill']} */
  kill (signal) {
    if (!this.#hasLeft) this.worker.process.kill(signal)
  }

  /** @param {Left} left */
  #leave (left) {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.emit('exit', left)
  }
}

/** One that could not be started, where Node throws: the kernel lacks memory (ENOMEM), or the environment is too large (E2BIG). */
class UnstartedProcess extends EventEmitter {
  pid = null

  /** @param {Error} error */
  constructor ({ message }) {
    super()
    setImmediate(() => this.emit('exit', { code: null, signal: null, error: message }))
  }

  /** @type {WorkerProcess['send']} */
  send (message, handle, sent) {
    sent(new Error('it could not be started'))
  }

  kill () {}
}

module.exports = { ClusterProcess, UnstartedProcess }
