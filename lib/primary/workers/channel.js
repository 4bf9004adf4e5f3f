'use strict'

/**
 * The traffic between the primary and another process, a worker's or another primary's: messages, calls with their
 * answers, its end. Connections pass many at a time, on a socket of their own, where the addon is there on both sides.
 */

const { EventEmitter } = require('node:events')
const { Handlers, message, ourMessage } = require('../../core/envelope')
const { loadAddon } = require('../../native/addon')
const { BATCHED, Batches } = require('../../native/batches')
const { Descriptor } = require('../../native/descriptor')
const { nextEvent } = require('./next-event')
/** @import { Message } from '../../core/envelope' */
/** @import { Handle } from '../../core/internals' */
/** @import { Hearers } from '../../messages' */
/** @import { Unread } from '../../native/descriptor' */
/** @import { Left, WorkerProcess } from './process' */

const BATCHED_WINDOW = 256
const DYING_MS = 1000 // a worker's exit comes this much later than its channel's end, at the most

/**
 * Emits `disconnect`, `exit` (Left) and, by the class that reads its messages, what follows from these. They are not
 * emitted: each has one handler.
 *
 * @template [Heard=unknown] the fields of what comes, by message
 * @template {{ [Type in keyof Sent]: object } & { batching: object }} [Sent=any] of what is sent
 */
class Channel extends EventEmitter {
  /** @type {Left | null} */
  left = null
  /** @type {Batches | null} */
  #batches = null
  /** The other end has its socket: connections pass many at a time. */
  isBatching = false
  /** How many workers are at the other end. */
  workers = 1

  /**
   * @param {WorkerProcess} process @param {Handlers['kinds']} kinds of its messages
   * @param {object} events all that this emits, by name
   */
  constructor (process, kinds, events) {
    super()
    this.setMaxListeners(0)
    this.on('newListener', event => {
      if (!Object.hasOwn(events, event) && event !== 'error') throw new Error(`there is no event ${event}`)
    })
    this.process = process
    this.handlers = new Handlers(kinds)
    process.on('message', (/** @type {unknown} */ received, /** @type {Handle | undefined} */ socket) => {
      const ours = ourMessage(received, socket)
      if (ours !== null) this.receive(ours, socket)
    })
    this.handlers.add({
      batching: (_, socket) => {
        if (socket) this.beginBatching(socket)
        else this.isBatching = true
      },
      batch: batch => {
        const opened = this.#batches?.open(batch) ?? []
        for (const { message, descriptor } of opened) this.receive(message, descriptor, BATCHED)
      }
    })
    process.on('down', () => {
      this.#batches?.close()
      this.emit('disconnect')
    })
    process.on('exit', left => {
      this.#batches?.close()
      this.left = left
      this.emit('exit', left)
    })
  }

  /** Once it has begun. */
  get pid () {
    return /** @type {number} */ (this.process.pid)
  }

  get isGone () {
    return this.left !== null
  }

  /** @param {Hearers<Heard>} handlers as Handlers.add() */
  hear (handlers) {
    this.handlers.add(/** @type {Parameters<Handlers['add']>[0]} */ (handlers))
  }

  /**
   * @template {keyof Sent & string} Type
   * @param {Type} type @param {Sent[Type]} [fields]
   * @param {Unread} [socket]
   * @param {(error: Error | null) => void} [sent]
   */
  send (type, fields, socket, sent = () => {}) {
    if (this.#batches && this.isBatching && BATCHED.has(type)) {
      return this.#batches.add({ message: message(type, fields), handle: socket, sent })
    }
    this.#batches?.flush()
    this.sendNow(message(type, fields), socket, sent)
  }

  /** Gives the other end its socket, where there is the addon; that sends `batching` where it can use it. */
  offerBatching () {
    const { addon } = loadAddon()
    if (!addon || this.#batches) return // an app may have sent this hello
    const [ours, theirs] = addon.socketpair().map(fd => new Descriptor(fd))
    this.#batchBy(addon, ours)
    this.give('batching', theirs)
  }

  /** @param {Handle} socket the other end's, ours from here on */
  beginBatching (socket) {
    const { addon } = loadAddon()
    if (!addon || this.#batches) return socket.close()
    socket.unref()
    this.#batchBy(addon, socket)
    this.isBatching = true
    this.send('batching')
  }

  /** @param {import('../../native/addon').Addon} addon @param {Unread} socket this end's */
  #batchBy (addon, socket) {
    this.#batches = new Batches({ addon, socket, send: (message, handle, sent) => this.sendNow(message, handle, sent) })
  }

  /**
   * How many connections the other end is asked for at once: two batches (lib/native/batches.js); without batches one
   * a worker, for Node would queue more behind it, where they cannot be taken back.
   */
  get window () {
    return this.isBatching ? BATCHED_WINDOW : this.workers
  }

  /**
   * To be overridden.
   * @param {Message} message @param {Unread | undefined} socket @param {ReadonlySet<string>} [allowed] in a batch
   */
  receive (message, socket, allowed) {}

  /**
   * Sends a descriptor, then closed.
   * @template {keyof Sent & string} Type
   * @param {Type} type @param {Descriptor} descriptor @param {Sent[Type]} [fields]
   */
  give (type, descriptor, fields) {
    const close = () => descriptor.close()
    this.once('exit', close) // Node forgets what waits for a channel that closes
    this.send(type, fields, descriptor, () => {
      this.removeListener('exit', close)
      close()
    })
  }

  /**
   * @param {Message} message @param {Unread | undefined} socket
   * @param {(error: Error | null) => void} sent
   */
  sendNow (message, socket, sent) {
    this.process.send(message, socket instanceof Descriptor ? socket.handle ?? undefined : socket, sent)
  }

  /**
   * As nextEvent(), and at once where it has been.
   * @param {string[]} events @param {number} timeoutMs @param {import('./next-event').Listen} [listen]
   */
  next (events, timeoutMs, listen) {
    if (this.isGone && events.includes('exit')) return Promise.resolve({ event: 'exit', value: this.left })
    return nextEvent(this, events, timeoutMs, listen)
  }

  /**
   * The channel has closed: a worker that ends closes it first.
   * @returns {Promise<Left | null>} how it ended; null: it lives, and the app has cut the channel
   */
  async afterDown () {
    return (await this.next(['exit'], DYING_MS)).value ?? null
  }
}

module.exports = { Channel }
