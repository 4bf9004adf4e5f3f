'use strict'

/**
 * Moves an idle connection to a sibling, or one with a request that the sibling is to handle instead. The messages are
 * drawn in lib/primary/handoff/ledger.js.
 *
 * Three processes hold the same TCP connection for a moment, and it ends only when the last copy is closed, so it
 * survives the death of any of them. Only one reads: this worker stops before the offer, the primary never starts, the
 * sibling starts on `keep`. Bytes that arrive meanwhile wait in the kernel.
 *
 * For the app the socket closes when it is taken, as if its client had left: the server's count goes down and `close`
 * is emitted. What is left is a bare handle, which no timer and no sweep of the server's can reach. A connection that
 * comes back goes to the inbox of this worker.
 *
 * From its offer until `keep` no process reads a connection, and a request on it waits. So no more are offered at once
 * than keep both channels busy: two batches (lib/native/batches.js). A channel without batches carries one handle at a
 * time (Node waits for its acknowledgement), and two connections do. The other connections are served meanwhile. One
 * whose protocol is the app's counts as eight: the app of the sibling runs for each, so more would only wait there.
 *
 * The app hears `close` on a request that moves before the socket leaves, so its handler here has ended before the
 * sibling's begins. What it writes from then on goes nowhere.
 */

const { setImmediate } = require('node:timers')
const { returnHandle } = require('../../core/internals')
const { toFields } = require('../connections/parcel')
/** @import { Connection, Packed } from '../connections/connection' */
/** @import { Parcel } from '../connections/parcel' */

const WINDOW = 2
const BATCHED_WINDOW = 256
const STREAM_TAKES = 8

class Handoff {
  /** Offers without an answer yet, in their order. @type {Map<number, Connection>} */
  #outstanding = new Map()
  /** How many of these are of the app's protocol. */
  #streams = 0
  /** Offers that are not on the channel yet, in their order. @type {Set<number>} */
  #unsent = new Set()
  /** Offers of connections of which the app has not heard `close` yet. @type {Set<number>} */
  #closing = new Set()
  #lastId = 0
  /** Nothing is offered: there may be no sibling yet. */
  isHeld = false
  /** Requests that a sibling handles instead of this worker, since the start. */
  replayed = 0

  /** @param {Pick<import('../enter').Parts, 'channel' | 'tracker' | 'inbox'>} parts */
  constructor ({ channel, tracker, inbox }) {
    this.channel = channel
    this.tracker = tracker
    this.inbox = inbox
    /** Called when the app has heard `close` of the requests that move, before they do. */
    this.onClosed = () => {}
    /** Called when a sibling has taken a connection. */
    this.onMoved = () => {}
    /** Called when a connection is back in the inbox. @type {(connection: Connection, isStalled: boolean) => void} */
    this.onBack = () => {}
    channel.on({
      moved: ({ id }) => {
        this.#end(id, 'moved')
        this.onMoved()
      },
      back: ({ id, isStalled, isOwner }) => this.#back(id, isStalled, isOwner)
    })
  }

  get hasRoom () {
    const more = this.channel.isBatching ? this.#streams * (STREAM_TAKES - 1) : 0
    return this.#outstanding.size + more < this.#window && this.channel.isUp && !this.isHeld
  }

  get #window () {
    return this.channel.isBatching ? BATCHED_WINDOW : WINDOW
  }

  get isBusy () {
    return this.#outstanding.size > 0
  }

  /**
   * @param {Connection} connection one that is idle, whose request is replayed, or whose request is another worker's
   * @param {Buffer} [bytes] that request, or a part of its head, of which the app here has seen nothing
   * @param {Packed | null} [packed] of one whose protocol is the app's
   */
  offer (connection, bytes, packed) {
    const id = ++this.#lastId
    connection.trail = packed?.trail ?? null
    const { replayed } = this.tracker.take(connection, bytes, packed)
    this.#outstanding.set(id, connection)
    if (isStream(connection)) this.#streams++
    this.#unsent.add(id)
    if (replayed === 0) return this.#send()
    if (this.#closing.size === 0) {
      setImmediate(() => { // their sockets emit `close` before
        this.onClosed()
        this.#closing.clear()
        this.#send()
      })
    }
    this.#closing.add(id)
  }

  /** Sends what there is room for. */
  #send () {
    for (const id of this.#unsent) {
      if (this.#closing.has(id) || this.#outstanding.size - this.#unsent.size >= this.#window) return
      this.#unsent.delete(id)
      const parcel = /** @type {Parcel} */ (this.#outstanding.get(id)?.parcel)
      this.channel.send('offer', { id, parcel: toFields(parcel) }, parcel.handle, error => {
        if (error) this.#back(id, !this.channel.isUp)
      })
    }
  }

  /**
   * No answer comes any more. Of what has been sent the outcome is unknown: a sibling may be reading a connection by
   * now, so our copy is closed, because two readers would be worse than a lost idle connection. The others stay.
   *
   * @param {boolean} [isCertain] the primary has died, and says `moved` before a sibling reads: all of them stay
   */
  relinquish (isCertain = false) {
    const unsent = new Set(this.#unsent)
    this.#unsent.clear() // each end makes room, which none of them is to take
    for (const id of [...this.#outstanding.keys()]) {
      if (isCertain || unsent.has(id)) this.#back(id, true)
      else this.#end(id, 'unacked')
    }
  }

  /** @param {number} id @param {'moved' | 'unacked'} fate */
  #end (id, fate) {
    const connection = this.#outstanding.get(id)
    if (!connection) return
    this.#forget(id)
    connection.fate = fate
    if (fate === 'moved' && connection.parcel && connection.parcel.replayed > 0) this.replayed++
    connection.parcel?.handle.close()
    if (fate === 'moved') connection.trail?.moved(id)
    else connection.trail?.lost()
  }

  /** @param {number} id @param {boolean} isStalled @param {boolean} [isOwner] its session is this worker's */
  #back (id, isStalled, isOwner = false) {
    const connection = this.#outstanding.get(id)
    if (!connection?.parcel) return
    this.#forget(id)
    // The session of one whose protocol is the app's has an owner here for a while only: it is offered again
    if (connection.trail) return this.#goOn(connection, connection.parcel, isStalled || isOwner)
    this.tracker.adopt(connection, { ...connection.parcel, isOwned: isOwner })
    this.inbox.wait(connection)
    if (!isOwner) this.onBack(connection, isStalled)
  }

  /**
   * The app has not heard that it was away.
   *
   * @param {Connection} connection @param {Parcel} parcel @param {boolean} isStalled
   */
  #goOn (connection, { handle }, isStalled) {
    const { socket, trail } = connection
    connection.trail = null
    if (socket.destroyed) return handle.close() // by the app, meanwhile
    this.tracker.resume(connection)
    returnHandle(socket, handle)
    trail?.back(socket)
    this.onBack(connection, isStalled)
  }

  /** @param {number} id */
  #forget (id) {
    if (isStream(/** @type {Connection} */ (this.#outstanding.get(id)))) this.#streams--
    this.#outstanding.delete(id)
    this.#unsent.delete(id)
    this.#send()
  }
}

/** @param {Connection} connection that is offered */
function isStream ({ parcel }) {
  return parcel !== null && parcel.kind !== null
}

module.exports = { Handoff }
