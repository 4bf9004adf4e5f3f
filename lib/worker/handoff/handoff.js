'use strict'

/**
 * Moves connections to siblings, idle ones and those with a request that the sibling is to handle instead, and takes
 * those of siblings. The messages are drawn in lib/primary/handoff/entry.js.
 *
 * Three processes hold the same TCP connection for a moment, and it ends only when the last copy is closed, so it
 * survives the death of any of them. Only one reads: this worker stops before it offers it, the primary never starts,
 * the sibling starts when it is told so. Bytes that arrive meanwhile wait in the kernel.
 *
 * For the app the socket closes when it is taken, as if its client had left: the server's count goes down and `close`
 * is emitted. What is left is a bare handle, which no timer and no sweep of the server's can reach. A connection that
 * comes back goes to the inbox of this worker.
 *
 * While a connection moves no process reads it, and a request on it waits. So no more are offered at once
 * than keep both channels busy: two batches (lib/native/batches.js). A channel without batches carries one handle at a
 * time (Node waits for its acknowledgement), and two connections do. The other connections are served meanwhile. One
 * whose protocol is the app's counts as eight: the app of the sibling runs for each, so more would only wait there.
 *
 * The app hears `close` on a request that moves before the socket leaves, so its handler here has ended before the
 * sibling's begins. What it writes from then on goes nowhere.
 */

const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { hasMost, returnHandle } = require('../../core/internals')
const { loadAddon } = require('../../native/addon')
/** @import { Handle } from '../../core/internals' */
/** @import { Unread } from '../../native/descriptor' */
/** @import { ParcelFields } from '../../tables/message' */
/** @import { Acceptor } from '../accepting/acceptor' */
/** @import { Connection, Packed } from '../connections/connection' */

/**
 * @typedef {object} Sessions of which each has a worker of its own, where there are any
 * @property {(session: string) => boolean} isKept this worker takes a connection of it although it leaves
 * @property {(connection: Connection) => boolean} mayLeave the session of this connection is not tied to this worker
 * @property {() => void} onClosed the app has heard `close` of the requests that move, and they have not moved yet
 */

const WINDOW = 2
const BATCHED_WINDOW = 256
const STREAM_TAKES = 8
const ALONE_MS = 10_000 // a service manager has started the next primary by then, or none does

class Handoff {
  /** Offered ones, in their order. @type {Map<number, Connection>} */
  #offered = new Map()
  /** How many of these are of the app's protocol. */
  #streams = 0
  /** Offered ones that are not on the channel yet, in their order. @type {Set<Connection>} */
  #unsent = new Set()
  /** Offered ones of which the app has not heard `close` yet. @type {Set<Connection>} */
  #closing = new Set()
  /** Nothing is offered: there may be no sibling yet. */
  isHeld = false
  #isAlone = false
  /** @type {NodeJS.Timeout | undefined} */
  #alone
  #addon = loadAddon().addon // before the app can delete it
  /** Connections that siblings have taken, since the start. */
  moved = 0

  /**
   * @param {Pick<import('../enter').Parts,
   *   'channel' | 'state' | 'acceptors' | 'admission' | 'tracker' | 'inbox'>} parts
   */
  constructor ({ channel, state, acceptors, admission, tracker, inbox }) {
    this.channel = channel
    this.state = state
    this.acceptors = acceptors
    this.admission = admission
    this.tracker = tracker
    this.inbox = inbox
    /** @type {Sessions | null} */
    this.sessions = null
    /** Called when a sibling has taken a connection. */
    this.onMoved = () => {}
    /** Called when a connection is back in the inbox. @type {(connection: Connection, isStalled: boolean) => void} */
    this.onBack = () => {}
    channel.on({
      move: (offer, socket) => this.#take(offer, socket),
      moved: ({ id, ok, isStalled = false, isOwner, isMissing }) => {
        const connection = this.#offered.get(id)
        if (!connection) return this.inbox.settle(id, ok)
        if (isMissing) return this.#sendWhole(connection)
        if (!ok) return this.#back(connection, isStalled, isOwner)
        this.#end(connection, 'moved')
        this.onMoved()
      }
    })
  }

  get hasRoom () {
    const more = this.channel.isBatching ? this.#streams * (STREAM_TAKES - 1) : 0
    return this.#offered.size + more < this.#window && this.channel.isUp && !this.isHeld
  }

  get #window () {
    return this.channel.isBatching ? BATCHED_WINDOW : WINDOW
  }

  get isBusy () {
    return this.#offered.size > 0
  }

  /**
   * @param {Connection} connection one that is idle, whose request is replayed, or whose request is another worker's
   * @param {Buffer} [bytes] that request, or a part of its head, of which the app here has seen nothing
   * @param {Packed | null} [packed] of one whose protocol is the app's
   * @param {boolean} [byLoad] it goes for its load, and not for the number of connections
   */
  offer (connection, bytes, packed, byLoad = false) {
    connection.trail = packed?.trail ?? null
    const parcel = this.tracker.take(connection, bytes, packed)
    if (byLoad) parcel.byLoad = true
    this.#offered.set(connection.id, connection)
    if (isStream(connection)) this.#streams++
    this.#unsent.add(connection)
    if (parcel.replayed === undefined) return this.#send()
    if (this.#closing.size === 0) {
      setImmediate(() => { // their sockets emit `close` before
        this.sessions?.onClosed()
        this.#closing.clear()
        this.#send()
      })
    }
    this.#closing.add(connection)
  }

  /** The primary has died: what is offered waits for the next one. */
  get isWaiting () {
    return this.state.isServing && (this.#isAlone || this.channel.isEnding)
  }

  /** For a while. */
  waitAlone () {
    this.#isAlone = true
    this.#alone = setTimeout(() => this.endAlone(), ALONE_MS).unref()
  }

  /** @param {boolean} [isAdopted] there is one: what waits is sent; else it stays here */
  endAlone (isAdopted = false) {
    clearTimeout(this.#alone)
    if (!this.#isAlone) return
    this.#isAlone = false
    if (isAdopted) this.#send()
    else this.relinquish(true)
  }

  /** Sends what there is room for. */
  #send () {
    if (this.#isAlone) return
    for (const connection of this.#unsent) {
      if (this.#closing.has(connection) || this.#offered.size - this.#unsent.size >= this.#window) return
      this.#unsent.delete(connection)
      const { id, handle } = connection
      const parcel = /** @type {ParcelFields} */ (connection.parcel) // as of each that is offered
      const given = parcel.row === undefined ? handle : null // else the primary has it
      this.channel.send('move', { id, parcel }, given ?? undefined, error => {
        if (error && this.#mayWait(connection)) this.#unsent.add(connection)
        else if (error) this.#back(connection, !this.channel.isUp)
      })
    }
  }

  /** The primary has no copy: it had no room for one, or is another one. @param {Connection} connection */
  #sendWhole (connection) {
    const { parcel } = connection
    if (parcel?.row === undefined) return this.#back(connection, false)
    delete parcel.row
    this.#unsent.add(connection)
    this.#send()
  }

  /** @param {{ id: number, parcel: ParcelFields }} offer @param {Unread | undefined} socket */
  #take ({ id, parcel }, socket) {
    const acceptor = this.#acceptorOf(parcel.key)
    const isTaken = acceptor !== undefined && this.#takes(acceptor, parcel)
    const isFull = isTaken && hasMost(acceptor.server)
    const handle = isTaken && !isFull && socket ? acceptor.handleOf(socket) : null
    if (!acceptor || !handle) {
      socket?.close()
      // Of a server that is full others may just be leaving
      return this.channel.send('moved', { id, ok: false, ...isFull && { isStalled: true } })
    }
    const { copy } = this.inbox.hold(id, acceptor, parcel, handle)
    this.channel.send('moved', { id, ok: true, ...copy && { row: copy.row } })
  }

  /** @param {string} at */
  #acceptorOf (at) {
    for (const acceptor of this.acceptors) if (acceptor.key === at) return acceptor
  }

  /** @param {Acceptor} acceptor @param {ParcelFields} parcel */
  #takes ({ isMovable, isMovableUnread }, { session = '', isOwned, kind, bytes = '' }) {
    if (!this.state.adopts && !(isOwned && this.sessions?.isKept(session))) return false
    if (this.admission.isAtCeiling) return false
    return kind === undefined ? isMovable || (isMovableUnread && bytes === '') : this.inbox.takers.has(kind)
  }

  /**
   * No answer comes any more. Of what has been sent the outcome is unknown: a sibling may be reading a connection by
   * now, so our copy is closed, because two readers would be worse than a lost idle connection. The others stay.
   * @param {boolean} [isCertain] the primary has died, and has noted with each whose it is
   */
  relinquish (isCertain = false) {
    const unsent = new Set(this.#unsent)
    this.#unsent.clear() // each end makes room, which none of them is to take
    for (const connection of [...this.#offered.values()]) {
      const isLost = !isCertain && !unsent.has(connection)
      if (isLost) this.#end(connection, 'unacked')
      else if (![0, process.pid].includes(this.#ownerOf(connection))) this.#end(connection, 'moved')
      else if (this.#mayWait(connection)) this.#unsent.add(connection)
      else this.#back(connection, true)
    }
  }

  /** The request on it is of another worker's session. @param {Connection} connection */
  #mayWait (connection) {
    const { id, parcel, bytes } = connection
    const isOffered = this.#offered.get(id) === connection
    return isOffered && this.isWaiting && parcel?.session !== undefined && bytes.length > 0
  }

  /** @param {Connection} connection @returns {number} pid of the worker that the primary has given it to; 0: to none */
  #ownerOf ({ handle }) {
    return handle ? this.#addon?.owner(handle.fd) ?? 0 : 0
  }

  /**
   * The primary has exited, and says no more: each connection is the one's to which it was given last.
   * @param {boolean} isSucceeded another primary has had what was offered
   */
  endAll (isSucceeded) {
    this.inbox.settleAll(connection => this.#ownerOf(connection) === process.pid)
    this.relinquish(this.#addon !== null || !isSucceeded)
  }

  /** @param {Connection} connection @param {'moved' | 'unacked'} fate */
  #end (connection, fate) {
    this.#forget(connection)
    connection.fate = fate
    connection.handle?.close()
    if (fate === 'unacked') return connection.trail?.lost()
    this.moved++
    connection.trail?.moved()
  }

  /**
   * @param {Connection} connection @param {boolean} isStalled @param {boolean} [isOwner] its session is this worker's
   */
  #back (connection, isStalled, isOwner = false) {
    const { parcel, handle } = connection
    if (!parcel || !handle || this.#offered.get(connection.id) !== connection) return
    this.#forget(connection)
    // The session of one whose protocol is the app's has an owner here for a while only: it is offered again
    if (connection.trail) return this.#goOn(connection, handle, isStalled || isOwner)
    this.tracker.adopt(connection, { ...parcel, isOwned: isOwner }, handle)
    this.inbox.wait(connection)
    if (!isOwner) this.onBack(connection, isStalled)
  }

  /**
   * The app has not heard that it was away.
   * @param {Connection} connection @param {Handle} handle @param {boolean} isStalled
   */
  #goOn (connection, handle, isStalled) {
    const { socket, trail } = connection
    connection.trail = null
    if (socket.destroyed) return handle.close() // by the app, meanwhile
    this.tracker.resume(connection)
    returnHandle(socket, handle)
    trail?.back(socket)
    this.onBack(connection, isStalled)
  }

  /** @param {Connection} connection */
  #forget (connection) {
    if (isStream(connection)) this.#streams--
    this.#offered.delete(connection.id)
    this.#unsent.delete(connection)
    this.#send()
  }
}

/** @param {Connection} connection that is offered */
function isStream ({ parcel }) {
  return parcel?.kind !== undefined
}

module.exports = { Handoff }
