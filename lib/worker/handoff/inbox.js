'use strict'

/**
 * Where connections from a sibling wait for their next request.
 *
 * An adopted connection does not become the server's before its first bytes are here. As the server's it would have no
 * keepAliveTimeout until its next response, and would be sent an unsolicited 408 once headersTimeout has passed. In the
 * inbox it keeps what was left of its time, and as nothing has been read from it, it can move again at once.
 *
 * While it is held nothing is read: the primary may have given it to another worker. A connection whose parcel has
 * bytes does not wait: the server gets them at once.
 */

const net = require('node:net')
const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
const { detachHandle } = require('../../core/internals')
const { Connection } = require('../connections/connection')
const { fromFields, takeUnread } = require('../connections/parcel')
/** @import { Acceptor } from '../accepting/acceptor' */
/** @import { Parcel } from '../connections/parcel' */

class Inbox {
  /** By the primary's id. @type {Map<number, Connection>} */
  #held = new Map()
  /** Of those, the ones that another primary has as well, as long as this worker's lives. @type {Set<number>} */
  #lent = new Set()
  /** Connections that have come since the last poll for I/O. @type {Connection[]} */
  #unpolled = []

  /** @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'acceptors' | 'admission' | 'tracker'>} parts */
  constructor ({ channel, state, acceptors, admission, tracker }) {
    this.state = state
    this.acceptors = acceptors
    this.admission = admission
    this.tracker = tracker
    /**
     * Functions that take connections whose protocol is the app's, by their kind.
     *
     * @type {Map<string, (socket: net.Socket, state: Buffer, unread: Buffer, id: number | null) => void>} `id`: what
     *   its sender's app sends to it comes behind it, by this number; null: nothing does
     */
    this.takers = new Map()
    /**
     * Whether this worker adopts a connection of this session of its own although it leaves.
     *
     * @type {(session: string) => boolean}
     */
    this.isExpected = () => false
    channel.on({
      adopt: ({ id, parcel, isLent }, socket) => {
        const acceptor = this.#acceptorOf(parcel.key)
        const why = this.#whyNot(acceptor, socket, parcel)
        const handle = why || !acceptor ? null : acceptor.handleOf(socket)
        if (!acceptor || !handle) {
          socket?.close()
          return channel.send('refused', { id, why: why ?? 'it is no connection of this kind' })
        }
        const connection = new Connection(null, acceptor)
        tracker.adopt(connection, fromFields(parcel, handle))
        admission.consider() // its server may have all that it takes now
        this.#held.set(id, connection)
        if (isLent) this.#lent.add(id)
        const { copy } = connection
        channel.send('adopted', { id, ...copy && { copy: { row: copy.row, serial: copy.serial } } })
      },
      keep: ({ id }) => this.#settle(id, connection => this.wait(connection, id)),
      drop: ({ id }) => this.#settle(id, connection => this.#drop(connection))
    })
  }

  /** @param {string} key */
  #acceptorOf (key) {
    for (const acceptor of this.acceptors) if (acceptor.key === key) return acceptor
  }

  /**
   * The primary has exited and will not send `keep`: a sender takes back its own. Of the others this is the last copy.
   */
  keepAll () {
    for (const id of [...this.#held.keys()]) {
      const isLent = this.#lent.has(id)
      this.#settle(id, connection => isLent ? this.#drop(connection) : this.wait(connection))
    }
  }

  /** @param {Connection} connection a held one, which is ours from here on @param {number | null} [id] the primary's */
  wait (connection, id = null) {
    const parcel = /** @type {Parcel} */ (connection.parcel)
    if (parcel.kind !== null) return this.#passOn(connection, parcel, parcel.isFollowed ? id : null)
    if (parcel.bytes.length > 0) return this.#serve(connection)
    connection.become('waiting')
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({
      handle: parcel.handle, allowHalfOpen: true
    }))
    connection.socket = socket
    connection.isPolled = false
    socket.on('error', ignore) // a reset: the handle is closed
    socket.once('data', chunk => {
      connection.parcel = { ...parcel, bytes: Buffer.concat([chunk, takeUnread(socket)]) }
      detachHandle(socket)
      this.#serve(connection)
    })
    socket.on('end', destroy)
    if (this.#unpolled.push(connection) === 1) setImmediate(() => this.#awaitPoll())
    if (connection.until === null) return
    // Closed after a poll for I/O: a request that came in time is read first, also where the time has ended on the way
    // here.
    socket.setTimeout(Math.max(1, Math.ceil(connection.until - performance.now())), () => setImmediate(() => { if (connection.stage === 'waiting') socket.destroy() }))
  }

  /** A poll for I/O lies between two immediates. */
  #awaitPoll () {
    const connections = this.#unpolled
    this.#unpolled = []
    setImmediate(() => { for (const connection of connections) connection.isPolled = true })
  }

  /** Closes connections idle for so long, all or one server's. @param {number} idleMs @param {Acceptor} [acceptor] */
  close (idleMs, acceptor) {
    const latest = performance.now() - idleMs
    for (const connection of this.tracker.connections) {
      if (connection.stage !== 'waiting' || !connection.isPolled || connection.since > latest) continue
      if (!acceptor || connection.acceptor === acceptor) connection.socket.destroy()
    }
  }

  /** @param {number} id @param {(connection: Connection) => void} outcome */
  #settle (id, outcome) {
    const connection = this.#held.get(id)
    this.#held.delete(id)
    this.#lent.delete(id)
    if (connection?.stage === 'held') outcome(connection)
  }

  /** @param {Connection} connection */
  #drop (connection) {
    connection.fate = 'moved'
    connection.parcel?.handle.close()
  }

  /**
   * @param {Acceptor | undefined} acceptor @param {any} socket a handle, or a Descriptor
   * @param {import('../../tables/message').ParcelFields} parcel
   */
  #whyNot (acceptor, socket, { session = '', isOwned, kind, bytes = '' }) {
    if (!socket) return 'no connection came with the message'
    if (this.state.refusal && !(isOwned && this.isExpected(session))) return this.state.refusal
    if (this.admission.isAtCeiling) return 'no descriptors are left'
    if (!acceptor) return 'nothing listens there'
    if (kind !== undefined && !this.takers.has(kind)) return 'the app does not take connections of this kind'
    const isMovable = acceptor.isMovable || (acceptor.isMovableUnread && bytes === '')
    if (kind === undefined && !isMovable) return 'connections of this server do not move'
    const server = /** @type {any} */ (acceptor.server)
    if (server.maxConnections && server._connections >= server.maxConnections) return 'maxConnections is reached'
    return null
  }

  /**
   * @param {Connection} connection @param {Parcel} parcel of one whose protocol is the app's
   * @param {number | null} id
   */
  #passOn (connection, { handle, kind, state, bytes }, id) {
    const { allowHalfOpen } = /** @type {any} */ (connection.acceptor.server)
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen }))
    this.tracker.adopted(connection, socket)
    const take = this.takers.get(/** @type {string} */ (kind))
    if (take) take(socket, state, bytes, id)
    else socket.destroy() // back from an offer to a worker of other code
  }

  /** @param {Connection} connection */
  #serve (connection) {
    connection.become('served') // its server counts it
    connection.acceptor.accept(connection.parcel?.handle)
  }
}

function ignore () {}

/** @this {net.Socket} */
function destroy () {
  this.destroy()
}

module.exports = { Inbox }
