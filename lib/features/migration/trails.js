'use strict'

/**
 * An app's object for a connection that has gone to another worker stays open for a moment: what the app sends to it is
 * passed on behind the connection. So nothing is lost of what comes to this process alone until the app of the other
 * worker has the connection. Then the object is closed, and what the app cleans up on `close` is cleaned up.
 *
 * On the other side what has come from here is asked for by numbered marks, so that it is known to be there before
 * anything else is written; see lib/worker/websockets/overlap.js. The primary passes both on:
 * lib/primary/handoff/trails.js.
 */

const { clearTimeout, setImmediate, setTimeout } = require('node:timers')

const UNASKED_MS = 15_000 // the other worker is of a version without this, or busy beyond all measure
const MOST_BYTES = 1_000_000 // of a message

/**
 * @typedef {object} Follow what the app's side does with a connection that goes
 * @property {(pass: (bytes: Buffer | null) => void) => void} begin from here on what the app sends is to be passed;
 *   null: the app has ended it
 * @property {() => void} back it has not gone: the app's socket has its handle again
 * @property {() => void} end the app's object closes
 *
 * @typedef {object} Behind what has come from the other worker
 * @property {Buffer} bytes
 * @property {number} [mark] everything up to that ask() has
 * @property {boolean} [isOver] nothing follows
 * @property {boolean} [isEnded] the app there has ended the connection
 */

class Trails {
  /** By the number of the connection. @type {Map<number, Departed>} */
  departed = new Map()
  /** By the same. @type {Map<number, Arrived>} */
  arrived = new Map()

  /** @param {Pick<import('../interface').WorkerKernel, 'channel' | 'emptying' | 'callApp'>} kernel */
  constructor ({ channel, emptying, callApp }) {
    this.channel = channel
    this.emptying = emptying
    this.callApp = callApp
    emptying.holds.push({ isActive: () => this.departed.size > 0, release: () => this.#endDeparted() })
    channel.on({
      ahead: ({ id, mark }) => this.departed.get(id)?.tell(mark),
      behind: ({ id, bytes, ...about }) =>
        this.arrived.get(id)?.take({ bytes: Buffer.from(bytes ?? '', 'base64'), ...about })
    })
  }

  /** @param {Follow} follow @param {number} id of the connection @returns {Departed} */
  depart (follow, id) {
    this.departed.get(id)?.finish() // it had been here before
    return new Departed(this, follow, id)
  }

  /** @param {number} id @returns {Arrived} */
  arrive (id) {
    const arrived = new Arrived(this, id)
    this.arrived.set(id, arrived)
    return arrived
  }

  #endDeparted () {
    for (const one of this.departed.values()) one.finish()
  }

  /** The primary has exited: nothing passes any more. */
  end () {
    this.#endDeparted()
    for (const one of this.arrived.values()) one.take({ bytes: Buffer.alloc(0), isOver: true })
  }
}

/** A connection that has gone, and that the app here sees as open. */
class Departed {
  /** Bytes to be sent. @type {Buffer[]} */
  #pending = []
  #isFlushScheduled = false
  #hasGone = false
  /** The app has ended it. */
  #isEnded = false
  #isOver = false
  /** @type {NodeJS.Timeout | undefined} */
  #unasked

  /** @param {Trails} trails @param {Follow} follow @param {number} id */
  constructor (trails, follow, id) {
    this.trails = trails
    this.follow = follow
    this.id = id
    follow.begin(bytes => this.#pass(bytes))
  }

  /** @param {Buffer | null} bytes */
  #pass (bytes) {
    if (this.#isOver) return
    if (bytes === null) this.#isEnded = true
    else this.#pending.push(bytes)
    if (!this.#hasGone || this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    process.nextTick(() => {
      this.#isFlushScheduled = false
      if (this.#isEnded) this.finish()
      else if (!this.#isOver) this.#send({})
    })
  }

  /** A sibling has it. */
  moved () {
    this.#hasGone = true
    this.trails.departed.set(this.id, this)
    if (this.#isEnded) return this.finish()
    this.#unasked = setTimeout(() => this.finish(), UNASKED_MS)
    if (this.#pending.length > 0) this.#send({})
  }

  /** No sibling has taken it: the app's socket has its handle again. @param {import('node:net').Socket} socket */
  back (socket) {
    this.#isOver = true
    this.follow.back()
    for (const bytes of this.#pending) socket.write(bytes)
  }

  /** The fate of it is not known. */
  lost () {
    this.#isOver = true
    if (!this.#isEnded) this.trails.callApp('close', this.follow.end)
  }

  /**
   * The other worker asks: what a poll for I/O brings now was sent before what it is going to send.
   * @param {number | null} mark null: the connection is closed here
   */
  tell (mark) {
    if (mark === null) return this.finish()
    setImmediate(() => setImmediate(() => { if (!this.#isOver) this.#send({ mark }) }))
  }

  finish () {
    if (this.#isOver) return
    clearTimeout(this.#unasked)
    this.#send({ isOver: true, ...this.#isEnded && { isEnded: true } })
    this.#isOver = true
    this.trails.departed.delete(this.id)
    if (!this.#isEnded) this.trails.callApp('close', this.follow.end)
    setImmediate(() => this.trails.emptying.check()) // the app hears of it before this process may exit
  }

  /** @param {Omit<Behind, 'bytes'>} about */
  #send (about) {
    const { id } = this
    const bytes = Buffer.concat(this.#pending.splice(0))
    let at = 0
    for (; bytes.length - at > MOST_BYTES; at += MOST_BYTES) {
      this.trails.channel.send('behind', { id, bytes: bytes.toString('base64', at, at + MOST_BYTES) })
    }
    this.trails.channel.send('behind',
      { id, ...bytes.length > at && { bytes: bytes.toString('base64', at) }, ...about })
  }
}

/** A connection that has come, and that the app of its sender sees as open. */
class Arrived {
  /** Messages from before hear(). @type {Behind[]} */
  #early = []
  /** @type {((behind: Behind) => void) | null} */
  #heard = null

  /** @param {Trails} trails @param {number} id */
  constructor (trails, id) {
    this.trails = trails
    this.id = id
  }

  /** @param {Behind} behind */
  take (behind) {
    if (behind.isOver) this.trails.arrived.delete(this.id)
    if (this.#heard) this.#heard(behind)
    else this.#early.push(behind)
  }

  /** @param {(behind: Behind) => void} fn is called with all that comes, and has come, behind */
  hear (fn) {
    this.#heard = fn
    for (const behind of this.#early.splice(0)) fn(behind)
  }

  /** @param {number | null} mark comes back behind what was sent before; null: the sender's app is to hear `close` */
  ask (mark) {
    if (this.trails.arrived.has(this.id)) this.trails.channel.send('ahead', { id: this.id, mark })
  }
}

module.exports = { Trails, Arrived, Departed }
