'use strict'

/**
 * The channel to a worker, whose app shares the other end and may send what it likes: each message is checked at the
 * door. Connections pass many at a time, on a socket of their own, where the addon is there on both sides.
 */

const { message, ourMessage } = require('../../core/envelope')
const { FROM_WORKER, flawOf } = require('../../tables/message')
const { loadAddon } = require('../../native/addon')
const { BATCHED, Batches } = require('../../native/batches')
const { Descriptor } = require('../../native/descriptor')
const { now } = require('../clock')
const { Channel } = require('./channel')
const { version } = require('./worker-code')

const WINDOW = 1
const BATCHED_WINDOW = 256

/** Emits `foreign`, `offers`, `flaw`, once, and `failed` as WorkerHandle's EVENTS says. */
class WorkerChannel extends Channel {
  /** When anything was last heard that its event loop has sent: ms, by clock.js. */
  heardAt = now()
  #isFlawed = false
  /** @type {Batches | null} */
  #batches = null
  /** The other end has its socket: connections pass many at a time. */
  isBatching = false

  /** @param {import('./process').WorkerProcess} process @param {object} events all that this emits, by name */
  constructor (process, events) {
    super(process, FROM_WORKER, events)
    this.on('disconnect', () => this.#batches?.close())
    process.on('message', (/** @type {any} */ received, socket) => {
      const ours = ourMessage(received, socket)
      if (ours !== null) this.#receive(ours, socket)
    })
    process.on('flaw', (type, flaw) => this.refuse({ type }, flaw))
    this.hear({
      answer: answer => this.answered(answer),
      batching: () => { this.isBatching = true },
      batch: batch => {
        for (const { message, descriptor } of this.#batches?.open(batch) ?? []) {
          this.#receive(message, descriptor, BATCHED)
        }
      }
    })
  }

  /**
   * How many connections it is asked for at once: two batches (lib/native/batches.js); without batches one, for Node
   * would queue more behind it, where they cannot be taken back.
   */
  get window () {
    return this.isBatching ? BATCHED_WINDOW : WINDOW
  }

  /** @override @type {Channel['send']} */
  send (type, fields, socket, sent = () => {}) {
    if (this.#batches && this.isBatching && BATCHED.has(type)) {
      return this.#batches.add({ message: message(type, fields), handle: socket, sent })
    }
    this.#batches?.flush()
    super.send(type, fields, socket, sent)
  }

  /** Gives the other end its socket, where there is the addon. It sends `batching` where it can use it. */
  offerBatching () {
    const { addon } = loadAddon()
    if (!addon || this.#batches) return // an app may have sent this hello
    const [ours, theirs] = addon.socketpair().map(fd => new Descriptor(fd))
    this.#batches = new Batches({
      addon, socket: ours, send: (message, socket, sent) => this.sendNow(message, socket, sent)
    })
    this.give('batching', theirs)
  }

  /**
   * @param {import('../../core/envelope').Message} message @param {any} socket
   * @param {{ has: (type: string) => boolean }} [allowed]
   */
  #receive (message, socket, allowed) {
    const { type } = message
    if (type === 'hello' && typeof message.version === 'string' && message.version !== version) return this.emit('foreign', message.version.slice(0, 40))
    const flaw = allowed?.has(type) === false ? 'it does not belong into a batch' : flawOf(FROM_WORKER, message, socket)
    if (flaw !== null) return this.refuse(message, flaw, socket)
    if (!FROM_WORKER[type].isAside) this.heardAt = now()
    try {
      if (type === 'move') this.emit('offers', message, socket)
      this.handlers.call(type, message, socket)
    } catch (error) { // one worker must not end the fleet
      // The primary lacks descriptors, say
      if (/** @type {NodeJS.ErrnoException} */ (error).syscall) this.emit('failed', { type, error })
      else this.refuse(message, `the primary failed at it: ${/** @type {Error} */ (error).stack?.split('\n', 2).join('')}`)
    }
  }

  /**
   * The app has sent this, or has changed our end of the channel: from here on this worker's figures say nothing.
   *
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
