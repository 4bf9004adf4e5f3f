'use strict'

/**
 * Where connections from a sibling wait for their next request.
 *
 * An adopted connection does not become the server's before its first bytes are here. As the server's it would have no
 * keepAliveTimeout until its next response, and would be sent an unsolicited 408 once headersTimeout has passed. In the
 * inbox it keeps what was left of its time, and as nothing has been read from it, it can move again at once.
 *
 * A connection whose parcel has bytes does not wait: the server gets them at once.
 */

const net = require('node:net')
const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
const { detachHandle } = require('../../core/internals')
const { takeUnread } = require('../connections/parcel')
/** @import { Acceptor } from '../accepting/acceptor' */
/** @import { Connection } from '../connections/connection' */
/** @import { Parcel } from '../connections/parcel' */

class Inbox {
  /** Connections that have come since the last poll for I/O. @type {Connection[]} */
  #unpolled = []

  /** @param {Pick<import('../enter').Parts, 'tracker'>} parts */
  constructor ({ tracker }) {
    this.tracker = tracker
    /**
     * Functions that take connections whose protocol is the app's, by their kind.
     * @type {Map<string, (socket: net.Socket, state: Buffer, unread: Buffer, id: number | null) => void>} `id`: what
     *   its sender's app sends to it comes behind it, by this number; null: nothing does
     */
    this.takers = new Map()
  }

  /** @param {Connection} connection a held one, which is ours from here on */
  wait (connection) {
    const parcel = /** @type {Parcel} */ (connection.parcel)
    if (parcel.kind !== null) return this.#passOn(connection, parcel)
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
    socket.setTimeout(Math.max(1, Math.ceil(connection.until - performance.now())),
      () => setImmediate(() => { if (connection.stage === 'waiting') socket.destroy() }))
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

  /** @param {Connection} connection @param {Parcel} parcel of one whose protocol is the app's */
  #passOn (connection, { handle, kind, state, bytes, isFollowed }) {
    const { allowHalfOpen } = connection.acceptor.server
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen }))
    this.tracker.adopted(connection, socket)
    const take = this.takers.get(/** @type {string} */ (kind))
    if (take) take(socket, state, bytes, isFollowed ? connection.id : null)
    else socket.destroy() // back from an offer to a worker of other code
  }

  /** @param {Connection} connection */
  #serve (connection) {
    connection.become('served') // its server counts it
    connection.acceptor.accept(/** @type {Parcel} */ (connection.parcel).handle)
  }
}

function ignore () {}

/** @this {net.Socket} */
function destroy () {
  this.destroy()
}

module.exports = { Inbox }
