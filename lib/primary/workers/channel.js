'use strict'

/** What passes between the primary and one worker's process: messages, questions with their answers, signals, its end. */

const { EventEmitter } = require('node:events')
const { message } = require('../../core/message')

const DYING_MS = 1000

/**
 * @typedef {object} Left how a process ended
 * @property {number | null} code
 * @property {string | null} signal
 * @property {string} [error] it could not be started
 */

/** Emits `disconnect`, `exit` (Left) and, by whoever reads its messages, what else is waited for. */
class Channel extends EventEmitter {
  /** What it said when it had drained. @type {import('../../core/account').Account | null} */
  account = null
  /** @type {Left | null} */
  left = null
  #lastId = 0

  /** @param {import('node:cluster').Worker} worker */
  constructor (worker) {
    super()
    this.setMaxListeners(0)
    this.worker = worker
    // Cluster passes on what its process says. Most often it is a send to a worker that has just died, whose exit follows; a
    // process that could not be started has no exit of its own.
    worker.on('error', error => { if (worker.process.pid === undefined) this.#leave({ code: null, signal: null, error: error.message }) })
    worker.on('disconnect', () => this.emit('disconnect'))
    worker.on('exit', (code, signal) => this.#leave({ code, signal }))
  }

  get isGone () {
    return this.left !== null
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @param {any} [socket] a TCP or pipe handle
   * @param {(error: Error | null) => void} [sent]
   */
  send (type, fields, socket, sent = () => {}) {
    const { process } = this.worker
    if (process.send) process.send(message(type, fields), socket, undefined, sent)
    else sent(new Error('it could not be started')) // without descriptors, Node does not even open the channel
  }

  /** @param {NodeJS.Signals} signal */
  kill (signal) {
    if (!this.isGone) this.worker.process.kill(signal)
  }

  /**
   * Resolves at the first of these events, at once where it has been, or when the time is up.
   *
   * @param {string[]} events
   * @param {number} timeoutMs
   * @returns {Promise<{ event: string | 'timeout', value?: any }>}
   */
  next (events, timeoutMs) {
    if (this.account && events.includes('drained')) return Promise.resolve({ event: 'drained', value: this.account })
    if (this.isGone && events.includes('exit')) return Promise.resolve({ event: 'exit', value: this.left })
    return new Promise(resolve => {
      const settle = (/** @type {string} */ event, /** @type {any} */ value) => {
        clearTimeout(deadline)
        for (const [name, listener] of listeners) this.removeListener(name, listener)
        resolve({ event, value })
      }
      const deadline = setTimeout(() => settle('timeout', undefined), timeoutMs)
      const listeners = events.map(name => /** @type {const} */ ([name, (/** @type {any} */ value) => settle(name, value)]))
      for (const [name, listener] of listeners) this.once(name, listener)
    })
  }

  /**
   * Asks for something that is answered once.
   *
   * @param {string} type
   * @param {Record<string, any>} fields
   * @param {number} timeoutMs
   * @returns {Promise<{ event: 'answer' | 'exit' | 'disconnect' | 'timeout', value?: any }>}
   */
  async ask (type, fields, timeoutMs) {
    const name = `answer ${++this.#lastId}`
    const answer = this.next([name, 'exit', 'disconnect'], timeoutMs)
    this.send(type, { id: this.#lastId, ...fields })
    const { event, value } = await answer
    if (event === name) return { event: 'answer', value }
    if (event !== 'disconnect') return { event: /** @type {any} */ (event), value }
    const gone = await this.next(['exit'], DYING_MS) // its channel is the first to close
    return gone.event === 'exit' ? { event: 'exit', value: gone.value } : { event }
  }

  /** @param {Left} left */
  #leave (left) {
    if (this.isGone) return
    this.left = left
    this.emit('exit', left)
  }
}

module.exports = { Channel }
