'use strict'

/**
 * The channel to a worker, whose app shares the other end and may send what it likes: each message is checked at the
 * door.
 */

const { FROM_WORKER, flawOf } = require('../../tables/message')
const { now } = require('../clock')
const { Channel } = require('./channel')
const { version } = require('./worker-code')

/** Emits `foreign`, `offers`, `flaw`, once, and `failed` as WorkerHandle's EVENTS says. */
class WorkerChannel extends Channel {
  /** When anything was last heard that its event loop has sent: ms, by clock.js. */
  heardAt = now()
  #isFlawed = false

  /** @param {import('./process').WorkerProcess} process @param {object} events all that this emits, by name */
  constructor (process, events) {
    super(process, FROM_WORKER, events)
    process.on('flaw', (type, flaw) => this.refuse({ type }, flaw))
    this.hear({ answer: answer => this.answered(answer) })
  }

  /** The app has sent it. @override @param {import('../../core/internals').Handle} socket */
  beginBatching (socket) {
    socket.close()
  }

  /** @override @type {Channel['receive']} */
  receive (message, socket, allowed) {
    const { type } = message
    if (type === 'hello' && typeof message.version === 'string' && message.version !== version) {
      return this.emit('foreign', message.version.slice(0, 40))
    }
    const flaw = allowed?.has(type) === false ? 'it does not belong into a batch' : flawOf(FROM_WORKER, message, socket)
    if (flaw !== null) return this.refuse(message, flaw, socket)
    if (!allowed && !FROM_WORKER[type].isAside) this.heardAt = now() // in a batch: as that has come
    try {
      if (type === 'move') this.emit('offers', message, socket)
      this.handlers.call(type, message, socket)
    } catch (error) { // one worker must not end the fleet
      const { syscall, stack } = /** @type {NodeJS.ErrnoException} */ (error)
      // The primary lacks descriptors, say
      if (syscall) this.emit('failed', { type, error })
      else this.refuse(message, `the primary failed at it: ${stack?.split('\n', 2).join('')}`)
    }
  }

  /**
   * The app has sent this, or has changed our end of the channel: from here on this worker's figures say nothing.
   * @param {{ type: unknown }} message @param {string} flaw @param {any} [socket] to be closed
   */
  refuse ({ type }, flaw, socket) {
    if (socket) (socket.close ?? socket.destroy)?.call(socket)
    if (this.#isFlawed) return
    this.#isFlawed = true
    this.emit('flaw', { type: String(type).slice(0, 40), flaw: flaw.slice(0, 300) })
  }
}

module.exports = { WorkerChannel }
