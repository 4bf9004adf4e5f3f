'use strict'

/**
 * The worker's end of the channel to the primary. Sending never throws: the end of the channel is announced by onDown,
 * and the worker drains then.
 */

const childProcess = require('node:child_process')
const { Handlers, isCut, message, ourMessage } = require('../core/envelope')
const { loadAddon } = require('../native/addon')
const { BATCHED, Batches } = require('../native/batches')
/** @import { Handle } from '../core/internals' */
/** @import { Message } from '../core/envelope' */
/** @import { Doers, FromPrimary, FromWorker, Hearers, Orders } from '../messages' */
/** @import { Sent } from '../native/batches' */
/** @import { Unread } from '../native/descriptor' */

/** Events of the process for which Node adds a listener with each channel. */
const OF_NODE = ['internalMessage', 'newListener', 'removeListener']

const NOTHING = () => {}

/** @typedef {(fields: Omit<FromPrimary['answer'], 'id'>, handle?: Handle) => void} OnAnswer takes an answer */

class Channel {
  #handlers = new Handlers(null)
  /**
   * Calls without an answer yet.
   * @type {Map<number, { ask: () => void, answered: OnAnswer }>}
   */
  #calls = new Map()
  #lastId = 0
  #expected = 0
  /** @type {Batches | null} */
  #batches = null
  /** The other end is closed: a write has failed by that. */
  #isCut = false
  /** Bound before the app is loaded: the app may replace or delete process.send. */
  #send = process.send?.bind(process)
  /** Loaded before the app, too. */
  #addon = loadAddon().addon

  constructor () {
    /** Called when the channel ends, before cluster's own listener decides to exit. */
    this.onDown = NOTHING
    process.prependListener('disconnect', () => this.check())
    this.#handlers.add({
      answer: ({ id, ...fields }, handle) => {
        this.#calls.get(id)?.answered(fields, handle)
        if (this.#calls.delete(id)) this.expect(-1)
      },
      do: ({ verb, ...fields }, socket) => this.#handlers.call(verb, fields, socket),
      batching: (_, socket) => this.#beginBatching(socket),
      batch: batch => {
        for (const { message, descriptor } of this.#batches?.open(batch) ?? []) {
          this.#handlers.call(message.type, message, descriptor)
        }
      }
    })
    process.on('internalMessage', (/** @type {unknown} */ received, handle) => {
      const message = ourMessage(received, handle)
      if (message) this.#handlers.call(message.type, message, handle)
    })
    // Cluster's own listener would keep a worker alive as long as the primary lives. Under `node`, a process with
    // nothing left to do exits, unless the app listens on its IPC channel: the same holds here.
    const count = () => process.listenerCount('message') + process.listenerCount('disconnect')
    const own = count()
    this.refer = () => {
      if (count() > own || this.#expected > 0) process.channel?.ref()
      else process.channel?.unref()
    }
    for (const event of ['newListener', 'removeListener']) {
      process.on(event, name => { if (name === 'message' || name === 'disconnect') process.nextTick(this.refer) })
    }
    this.refer()
  }

  /** Keeps this process alive while the count of expected messages is above zero. @param {1 | -1} step */
  expect (step) {
    this.#expected += step
    this.refer()
  }

  /** @param {Hearers<FromPrimary & Orders>} handlers by message type, or by the verb of an order */
  on (handlers) {
    this.#handlers.add(/** @type {Parameters<Handlers['add']>[0]} */ (handlers))
  }

  /** @param {Doers} handlers by the verb of a call; each answers once */
  answer (handlers) {
    for (const [verb, handler] of Object.entries(handlers)) {
      this.#handlers.add({
        [verb]: ({ id, ...fields }, socket) =>
          handler(fields, answer => this.send('answer', { id, ...answer }), socket)
      })
    }
  }

  /**
   * Sends a message that the primary answers once; this process is kept alive until then.
   * @template {'listen' | 'own'} Type
   * @param {Type} type @param {Omit<FromWorker[Type], 'id'>} fields
   * @param {OnAnswer} answered
   */
  call (type, fields, answered) {
    const id = ++this.#lastId
    const ask = () => this.send(type, /** @type {FromWorker[Type]} */ ({ id, ...fields }))
    this.#calls.set(id, { ask, answered })
    this.expect(1)
    ask()
  }

  /**
   * Calls onDown once the channel has ended: `disconnect` is not emitted while a handle is under way on it.
   * @returns {boolean} it is up
   */
  check () {
    if (process.connected) return true
    this.#batches?.flush() // the senders of these hear that they have not been sent
    const { onDown } = this
    this.onDown = NOTHING
    onDown()
    return false
  }

  /**
   * Goes on with another primary; see askAgain().
   * @param {number} fd whose other end it has @param {() => void} onDown as this.onDown, of the new channel
   */
  rebind (fd, onDown) {
    this.#batches?.close()
    this.#batches = null
    const listeners = () =>
      OF_NODE.map(event => /** @type {Function[]} */ (process.listeners(/** @type {NodeJS.Signals} */ (event))))
    const before = listeners()
    Reflect.get(childProcess, '_forkChild')(fd, 'json')
    const after = listeners()
    for (const [i, event] of OF_NODE.entries()) {
      const nodes = after[i].slice(before[i].length).map(String)
      const old = before[i].filter(listener => nodes.includes(String(listener))) // each would act once more
      for (const listener of old) process.removeListener(event, /** @type {() => void} */ (listener))
    }
    this.#send = process.send?.bind(process)
    this.#isCut = false
    this.onDown = onDown
    this.refer()
  }

  /** Asks the primary again, which is another one, for what has no answer yet. */
  askAgain () {
    for (const { ask } of this.#calls.values()) ask()
  }

  /** False from the first write that fails: Node may be milliseconds from reading the end, and writes go before. */
  get isUp () {
    return process.connected === true && !this.#isCut
  }

  /** The channel has ended, and onDown has not been called yet. */
  get isEnding () {
    return !this.isUp && this.onDown !== NOTHING
  }

  /**
   * @template {keyof FromWorker} Type
   * @param {Type} type @param {FromWorker[Type]} [fields] @param {Unread} [handle]
   * @param {(error: Error | null) => void} [sent]
   */
  send (type, fields, handle, sent = () => {}) {
    if (this.#batches && BATCHED.has(type)) return this.#batches.add({ message: message(type, fields), handle, sent })
    this.#batches?.flush()
    if (this.isUp) this.#write(message(type, fields), handle, sent)
    else process.nextTick(sent, new Error('the primary has exited'))
  }

  /** Sends what waits for the end of this turn. */
  flush () {
    this.#batches?.flush()
  }

  /**
   * From the middle of whatever runs: what waits for the end of this turn is left alone, and says later that the event
   * loop has turned.
   * @template {keyof FromWorker} Type
   * @param {Type} type @param {FromWorker[Type]} fields
   */
  sendAside (type, fields) {
    if (this.isUp) this.#send?.(message(type, fields))
  }

  /** @param {Message} message @param {Unread | undefined} handle Node's @param {Sent} sent */
  #write (message, handle, sent) {
    const send = this.#send
    send?.(message, handle, undefined, (/** @type {NodeJS.ErrnoException | null} */ error) => {
      if (isCut(error) && send === this.#send) this.#isCut = true
      sent(error)
    })
  }

  /** Connections pass many at a time. */
  get isBatching () {
    return this.#batches !== null
  }

  /** @param {Handle | undefined} socket ours from here on */
  #beginBatching (socket) {
    const addon = this.#addon
    if (!socket || !addon) return socket?.close()
    socket.unref()
    /** @type {Batches['send']} */
    const send = (message, handle, sent) => {
      if (this.isUp) this.#write(message, handle, sent)
      else sent(new Error('the primary has exited'))
    }
    this.#batches = new Batches({ addon, socket, send })
    this.send('batching')
  }
}

module.exports = { Channel }
