'use strict'

/**
 * Connections that pass to another process many at a time. By Node's channel each takes a message of its own, and the
 * next one waits until that has been acknowledged; here those of one tick travel together:
 *
 *     messages ──▶ one packet on a socket: up to 128 descriptors (SCM_RIGHTS), and the number of the batch
 *              ──▶ one message `batch` on the channel: that number, and the messages in their order, each with the
 *                  index of its descriptor
 *
 * The packet is sent first, so it is there when its message is read: nothing waits on the socket, and what passes is
 * ordered, and ends, with the channel. What cannot go as a batch goes message by message.
 */

const { message } = require('../core/envelope')
const { Descriptor } = require('./descriptor')
/** @import { Message } from '../core/envelope' */
/** @import { Unread } from './descriptor' */

/** Messages of a hand-off, and calls, of which one has a connection; any other sends those before it on their way. */
const BATCHED = new Set(['do', 'move', 'moved', 'behind', 'ahead'])
const MOST_MESSAGES = 1000
const MOST_DESCRIPTORS = 128
const MOST_BYTES = 1_000_000

/**
 * @typedef {(error: Error | null) => void} Sent
 * @typedef {{ message: Message, handle: Unread | undefined, sent: Sent }} Item
 */

class Batches {
  /** @type {Item[]} */
  #items = []
  #descriptors = 0
  #bytes = 0
  #lastNumber = 0

  /**
   * @param {object} means @param {import('./addon').Addon} means.addon
   * @param {{ fd: number, close: () => void }} means.socket this process's end
   * @param {(message: Message, handle: Unread | undefined, sent: Sent) => void} means.send by the channel
   */
  constructor ({ addon, socket, send }) {
    this.addon = addon
    this.socket = socket
    this.send = send
  }

  /**
   * The item is sent with the others of this tick.
   * @param {Item} item `handle`: anything with a descriptor, or undefined
   */
  add (item) {
    if (this.#items.length === 0) process.nextTick(() => this.flush())
    this.#items.push(item)
    const { bytes = item.message.bytes ?? '', state = '' } = item.message.parcel ?? {}
    this.#bytes += bytes.length + state.length
    if (item.handle) this.#descriptors++
    if (this.#items.length >= MOST_MESSAGES || this.#descriptors >= MOST_DESCRIPTORS || this.#bytes >= MOST_BYTES) {
      this.flush()
    }
  }

  flush () {
    if (this.#items.length === 0) return
    const items = this.#items.filter(isOpen)
    const number = ++this.#lastNumber
    const descriptors = items.flatMap(({ handle }) => handle ? [handle.fd] : [])
    const isPassed = this.#pass(number, descriptors)
    const dropped = this.#items.filter(item => !items.includes(item))
    this.#items = []
    this.#descriptors = this.#bytes = 0
    for (const { sent } of dropped) process.nextTick(sent, new Error('the connection has been closed'))
    if (!isPassed) for (const { message, handle, sent } of items) this.send(message, handle, sent)
    else if (items.length > 0) {
      this.send(batch(number, items), undefined, error => {
        for (const { sent } of items) {
          sent(error)
        }
      })
    }
  }

  /** @param {number} number @param {number[]} descriptors */
  #pass (number, descriptors) {
    if (descriptors.length === 0) return true
    try {
      this.addon.send(this.socket.fd, String(number), descriptors)
      return true
    } catch {
      return false
    }
  }

  /**
   * @param {{ number: number, messages: (Message | unknown[])[] }} fields of a `batch`
   * @returns {{ message: Message, descriptor: Descriptor | undefined }[]} a descriptor for which this process has no
   *   room is missing
   */
  open ({ number, messages }) {
    const all = messages.map(whole)
    const isWith = all.some(({ at }) => typeof at === 'number')
    const descriptors = new Map(isWith ? this.#receive(number).entries() : [])
    const opened = all.map(({ message, at = -1 }) => {
      const descriptor = descriptors.get(at)
      descriptors.delete(at)
      return { message, descriptor }
    })
    for (const descriptor of descriptors.values()) descriptor.close()
    return opened
  }

  /** @param {number} number */
  #receive (number) {
    try {
      for (let packet; (packet = this.addon.receive(this.socket.fd));) {
        const descriptors = packet.descriptors.map(fd => new Descriptor(fd))
        if (packet.text === String(number)) return descriptors
        for (const descriptor of descriptors) descriptor.close() // its message has not been sent
      }
    } catch {} // the connections are with the sender still
    return []
  }

  close () {
    this.socket.close()
  }
}

/** @param {number} number @param {Item[]} items */
function batch (number, items) {
  let descriptors = 0
  return message('batch', {
    number, messages: items.map(({ message, handle }) => brief(message, handle ? descriptors++ : undefined))
  })
}

/**
 * The messages that an idle connection makes, which are nearly all where there are many, are lists: to write and to
 * read them as objects took a sixth of the time.
 * @param {Message} message @param {number} [descriptor]
 */
function brief (message, descriptor) {
  const { type, id, parcel } = message
  if (type === 'moved' && message.ok === true && has(message, 4)) return 'row' in message ? [id, message.row] : [id]
  if (type === 'move' && has(parcel, 2)) {
    return [id, parcel.key, parcel.leftMs, parcel.row ?? null, descriptor ?? null, parcel.counted]
  }
  return descriptor === undefined ? message : { ...message, descriptor }
}

/** @param {object} fields @param {number} count so many, and what an idle connection may have, and no others */
function has (fields, count) {
  return Object.keys(fields).length === count + ('row' in fields ? 1 : 0) + ('counted' in fields ? 1 : 0)
}

/** @param {Message | any[]} brief @returns {{ message: Message, at: number | undefined }} `at`: of its descriptor */
function whole (brief) {
  if (!Array.isArray(brief)) {
    const { descriptor: at, ...message } = brief
    return { message: /** @type {Message} */ (message), at }
  }
  const [id, key, leftMs, row, at, counted] = brief
  if (typeof key === 'string') {
    /** @type {Record<string, unknown>} */
    const parcel = { key, leftMs }
    if (row !== null) parcel.row = row
    if (counted) parcel.counted = counted
    return { message: message('move', { id, parcel }), at }
  }
  return { message: message('moved', brief.length > 1 ? { id, ok: true, row: key } : { id, ok: true }), at: undefined }
}

/** @param {Item} item */
function isOpen ({ handle }) {
  return !handle || handle.fd >= 0
}

module.exports = { BATCHED, Batches }
