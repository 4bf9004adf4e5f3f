'use strict'

/**
 * For a moment a WebSocket is open to the app in two workers: here, where its connection is by now, and where it was,
 * whose app's messages come behind it (lib/features/migration/trails.js). What both have from elsewhere, say a channel
 * of Redis, both send: of equal messages as many are written as the one that sends more of them has sent.
 *
 * The app's messages here wait until the other worker has told what it has sent up to now. So what it has sent is
 * written before, in order, though this worker's own way is shorter.
 *
 *     connection ──── OPEN_MS ────▶ `close` there ──── LATE_MS ────▶ over
 *     both are written, equal ones once               of this worker's, those that were written are not
 */

const { createHash } = require('node:crypto')
const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { Messages, closeOf, isControl } = require('./frames')
/** @import { Arrived } from '../../features/migration/trails' */

const OPEN_MS = 500 // for the app to have joined here what it is to hear
const LATE_MS = 500 // for what comes later to this worker than to the other
const LONGEST_KEY = 100

/** Sockets whose overlap is not over. @type {WeakSet<import('node:net').Socket>} */
const underWay = new WeakSet()

/** @typedef {{ message: Buffer, done: (() => void) | undefined, mark: number }} Held */

class Overlap {
  /** Of this worker's app. */
  #own = new Messages()
  /** Of the other's. */
  #others = new Messages()
  /** @type {Held[]} */
  #held = []
  #asked = 0
  #answered = 0
  /**
   * By message: how many more the other has sent than this one, or, below 0, this one than the other.
   * @type {Map<string, number>}
   */
  #balance = new Map()
  /** Nothing comes from the other worker any more. */
  #isAlone = false
  /** @type {NodeJS.Timeout} */
  #timer

  /**
   * @param {import('node:net').Socket} socket that the app's messages are written to from here on
   * @param {object} how @param {Arrived} how.arrived
   * @param {(message: Buffer) => Buffer | string | null} [how.keyOf] what equal messages have in common; null: it is
   *   not compared
   * @param {(code: number | undefined, reason: string) => void} how.close the other worker's app has closed it
   */
  constructor (socket, { arrived, keyOf = message => message, close }) {
    underWay.add(socket)
    this.socket = socket
    this.arrived = arrived
    this.keyOf = keyOf
    this.close = close
    this.write = socket.write.bind(socket)
    socket.write = this.#onWrite.bind(this)
    socket.once('close', () => {
      arrived.ask(null)
      this.#end()
    })
    this.#timer = afterPolls(() => arrived.ask(null), OPEN_MS)
    arrived.hear(behind => this.#take(behind))
  }

  /**
   * As the socket's.
   * @param {string | Uint8Array} chunk @param {BufferEncoding | (() => void)} [encoding] @param {() => void} [callback]
   */
  #onWrite (chunk, encoding, callback) {
    const [form, done] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, callback]
    const messages = this.#own.push(typeof chunk === 'string'
      ? Buffer.from(chunk, form)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (messages.length === 0 && done) process.nextTick(done)
    messages.forEach((message, i) => this.#send(message, i === messages.length - 1 ? done : undefined))
    return true
  }

  /** @param {Buffer} message of this worker's app @param {(() => void) | undefined} done */
  #send (message, done) {
    if (this.#isAlone) return this.#writeOwn(message, done)
    this.#held.push({ message, done, mark: this.#asked + 1 })
    if (this.#asked === this.#answered) this.arrived.ask(++this.#asked)
  }

  /** @param {{ bytes: Buffer, mark?: number, isOver?: boolean, isEnded?: boolean }} behind */
  #take ({ bytes, mark, isOver = false, isEnded = false }) {
    if (!underWay.has(this.socket)) return
    for (const message of this.#others.push(bytes)) this.#writeOther(message)
    if (mark !== undefined) this.#answered = mark
    const isDue = (/** @type {Held} */ { mark }) => isOver || mark <= this.#answered
    for (let held; (held = this.#held[0]) && isDue(held);) {
      this.#held.shift()
      this.#writeOwn(held.message, held.done)
    }
    if (isEnded) return this.socket.destroy()
    if (isOver) this.#beAlone()
    else if (this.#held.length > 0 && this.#asked === this.#answered) this.arrived.ask(++this.#asked)
  }

  /** @param {Buffer} message */
  #writeOther (message) {
    const closing = closeOf(message)
    if (closing) return this.close(closing.code, closing.reason)
    if (this.#count(message, 1) > 0) this.write(message)
  }

  /** @param {Buffer} message @param {(() => void) | undefined} done */
  #writeOwn (message, done) {
    if (this.#count(message, -1) < 0) this.write(message, done)
    else if (done) process.nextTick(done)
  }

  /**
   * @param {Buffer} message @param {1 | -1} side 1: the other worker's
   * @returns {number} by how many it is ahead with this message now; a ping of each is to be answered
   */
  #count (message, side) {
    const key = isControl(message) ? null : this.keyOf(message)
    if (key === null) return side
    const name = key.length > LONGEST_KEY ? createHash('sha256').update(key).digest('base64') : String(key)
    const balance = (this.#balance.get(name) ?? 0) + side
    this.#balance.set(name, balance)
    return balance
  }

  #beAlone () {
    this.#isAlone = true
    clearTimeout(this.#timer)
    this.#timer = afterPolls(() => this.#end(), LATE_MS).unref()
  }

  #end () {
    if (!underWay.delete(this.socket)) return
    clearTimeout(this.#timer)
    Reflect.deleteProperty(this.socket, 'write')
    const rest = this.#own.takeRest() // the first fragments of a long message
    if (rest.length > 0 && !this.socket.destroyed) this.write(rest)
  }
}

/**
 * Messages that have come meanwhile are read before, though this process has had no CPU for as long.
 * @param {() => void} fn @param {number} ms
 */
const afterPolls = (fn, ms) => setTimeout(() => setImmediate(() => setImmediate(fn)), ms)

/** @param {import('node:net').Socket} socket @returns {boolean} it is open to the app in the other worker, too */
const overlaps = socket => underWay.has(socket)

module.exports = { Overlap, overlaps }
