'use strict'

/**
 * Knows the connections of this worker. It patches nothing: it subscribes to a diagnostics channel and to events.
 *
 * An app may remove every listener of its sockets, responses and servers, ours and Node's. So the end of a connection
 * is noticed by its handle, and sweep(), which runs with the heartbeat, finds what only a listener would have reported.
 */

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const { performance } = require('node:perf_hooks')
const { betweenRequests, handleWatcher } = require('../../core/internals')
const { Connection } = require('./connection')
const { ConnectionList } = require('./connection-list')
const { HeadBytes } = require('./head-bytes')
const { pack, unpack } = require('./parcel')
const { awaitParser } = require('./preface')
const { Requests } = require('./requests')
const { Waiting } = require('./waiting')
/** @import net from 'node:net' */
/** @import { ServerHttp2Session } from 'node:http2' */
/** @import { Handle } from '../../core/internals' */
/** @import { Acceptor } from '../accepting/acceptor' */
/** @import { Exchange } from './connection' */
/** @import { ParcelFields } from '../../tables/message' */

/**
 * @typedef {object} Witness is told of each step of a connection as it happens, before anything else runs
 * @property {(connection: Connection) => void} added it is accepted, or back from an offer
 * @property {(connection: Connection, handle: Handle) => void} adopted it has come from a sibling, and is held unread
 * @property {(connection: Connection, exchange: Exchange) => void} begun the app is about to be
 *   given a request
 * @property {(connection: Connection, response: http.ServerResponse) => void} finished a response is with the kernel
 * @property {(connection: Connection) => void} threw the app's code has thrown for a request of it, and the app's own
 *   listener is about to be called
 * @property {(connection: Connection) => void} stays no sibling can go on with it: its protocol is found to be the
 *   app's own, or the app has pinned it
 * @property {(connection: Connection, handle: Handle, isReset: boolean) => void} closing before its handle is closed
 */

const kConnection = Symbol('recycle.connection')
/** @typedef {{ [kConnection]?: Connection, [kIgnored]?: true }} Marked by this tracker */
/** @typedef {net.Socket & Marked & { _handle: (Handle & Marked) | null }} Socket the client's, or one of TLS upon it */

const READ_ELSEWHERE = 'the app reads the first bytes of each itself, and they are not of the PROXY protocol'
const kIgnored = Symbol('recycle.ignored')

/**
 * Emits `connection` (it was accepted or adopted), `request` (a request's head has come), `rest` (a response has ended)
 * and `gone`, each with the Connection; `connection` with the handle too, where it has one, `request` and `rest` with
 * the exchange, and `request` with the app's request behind it.
 */
class ConnectionTracker extends EventEmitter {
  /** All that are queued, held, waiting or served. */
  connections = new ConnectionList()
  /** Connections here, and the offered ones. */
  total = 0
  requests = new Requests(this)
  /** @type {Witness | null} */
  witness = null
  /** @type {Connection | null} */
  #latest = null
  /**
   * By the app's server: finds the acceptor of a connection that none has reported.
   *
   * @type {WeakMap<object, Acceptor>}
   */
  #acceptors = new WeakMap()
  /** In a later tick, like a `close` event: the app may destroy a socket at any point of its code. */
  #watchHandle = handleWatcher((/** @type {Handle & Marked} */ handle, isReset) => {
    const connection = handle[kConnection]
    if (!connection) return
    this.witness?.closing(connection, handle, isReset)
    process.nextTick(this.#onClosed, connection)
  })

  #onClosed = (/** @type {Connection} */ connection) => this.release(connection)

  constructor () {
    super()
    diagnostics.subscribe('net.server.socket', message =>
      this.#accepted(/** @type {{ socket: Socket & { server: net.Server } }} */ (message).socket))
  }

  /** @param {Acceptor} acceptor the one of this server from here on */
  watch (acceptor) {
    const server = acceptor.server
    const isKnown = this.#acceptors.has(server)
    this.#acceptors.set(server, acceptor)
    if (isKnown) return
    const current = () => /** @type {Acceptor} */ (this.#acceptors.get(server))
    server.prependListener('connection', socket => this.#track(socket, current()))
    server.prependListener('secureConnection', (/** @type {Socket} */ secure) => this.#trackSecure(secure, current()))
    // Behind http's own listener, which gives it its parser
    if (server instanceof http.Server) server.on('connection', socket => this.#watchHead(socket))
    server.on('session', (/** @type {ServerHttp2Session} */ session) => this.#trackSession(session))
  }

  /** The socket that is to be made of this handle is no client's: it is not tracked. @param {Handle & Marked} handle */
  ignore (handle) {
    handle[kIgnored] = true
  }

  /** Notes which HTTP/1 connections are between two requests now, for Connection.isIdle. */
  noteIdle () {
    const now = performance.now()
    const servers = new Set() // also those that the app has closed
    for (const connection of this.connections) {
      connection.looked(now)
      servers.add(connection.acceptor.server)
    }
    for (const server of servers) {
      for (const socket of betweenRequests(server)) {
        const connection = this.of(socket)
        if (connection && connection.top === socket) connection.idleBytes = connection.socket.bytesRead
      }
    }
  }

  /**
   * A connection comes from a sibling, or back from an offer, and is held unread.
   *
   * @param {Connection} connection @param {ParcelFields} parcel @param {Handle} handle
   */
  adopt (connection, parcel, handle) {
    unpack(connection, parcel, handle)
    const isBack = connection.stage === 'offered'
    connection.become('held') // its server counts it before anything hears of it
    if (!isBack) this.#add(connection, handle)
    else this.connections.add(connection)
    if (parcel.kind !== undefined || !connection.acceptor.isMovable) return // no sibling could go on with it
    if (isBack) this.witness?.added(connection)
    else this.witness?.adopted(connection, handle)
  }

  /**
   * Of a connection that is accepted there is no room for in its server.
   *
   * @param {Acceptor} acceptor @param {Handle} handle @returns {Connection} to be served when there is
   */
  queue (acceptor, handle) {
    const connection = new Connection(null, acceptor)
    const socket = /** @type {any} */ (new Waiting(handle))
    Object.assign(connection, { handle, socket, parcel: { key: acceptor.key, leftMs: null } })
    connection.become('queued')
    this.#add(connection, handle)
    this.witness?.added(connection)
    return connection
  }

  /**
   * Takes a connection out, to be offered to a sibling; see handoff/handoff.js.
   *
   * @param {Connection} connection @param {Buffer} [request] @param {import('./connection').Packed | null} [packed]
   * @returns {ParcelFields}
   */
  take (connection, request, packed) {
    this.connections.delete(connection)
    connection.parcel = pack(connection, request, packed)
    connection.requests = 0 // the next heartbeat does not see it
    for (const exchange of [...connection.exchanges]) this.requests.end(exchange)
    connection.become('offered')
    return connection.parcel
  }

  /** An offered connection goes on here, by the socket that it had. @param {Connection} connection */
  resume (connection) {
    this.#unparcel(connection, { isAdopted: true, since: performance.now() })
    connection.become('served')
    this.connections.add(connection)
  }

  /**
   * A connection whose protocol is the app's: no server makes its socket.
   *
   * @param {Connection} connection @param {Socket} socket
   */
  adopted (connection, socket) {
    const server = connection.acceptor.server
    connection.become('served')
    socket.server = socket._server = server // net counts it there until it closes
    server._connections++
    socket[kConnection] = connection
    this.#unparcel(connection, { socket })
  }

  /** The connection goes on by a socket. @param {Connection} connection @param {object} more of its properties */
  #unparcel (connection, more) {
    Object.assign(connection, { parcel: null, handle: null, bytes: Buffer.alloc(0), ...more })
  }

  /** The handle of the connection has been closed. @param {Connection} connection */
  release (connection) {
    if (connection.stage === 'gone') return
    // A pipelined response that was never written gets no `close` event.
    for (const exchange of [...connection.exchanges]) this.requests.rest(exchange)
    if (connection.stage !== 'offered') this.connections.delete(connection)
    connection.become('gone')
    this.total--
    this.emit('gone', connection)
  }

  /** @param {Socket | (Handle & Marked) | null} [socket] @returns {Connection | undefined} */
  of (socket) {
    return socket?.[kConnection]
  }

  /** The app keeps a connection in this worker, if it is one of ours. @param {Socket} socket */
  pin (socket) {
    const connection = this.of(socket)
    if (!connection) return
    connection.isPinned = true
    this.witness?.stays(connection)
  }

  /** Finds what no event has reported: the end of a response, or of a socket that is neither TCP nor a pipe. */
  sweep () {
    const now = performance.now()
    for (const connection of this.connections) {
      connection.looked(now)
      if (connection.socket?.destroyed) this.release(connection)
      if (connection.isForeign) this.witness?.stays(connection)
      this.requests.sweep(connection)
    }
  }

  /** net has made and announced a socket for a connection. @param {Socket & { server: net.Server }} socket */
  #accepted (socket) {
    const acceptor = this.#acceptors.get(socket.server)
    if (acceptor) this.#track(socket, acceptor)
  }

  /** @param {Socket} socket @param {Acceptor} acceptor */
  #track (socket, acceptor) {
    // A server that listens again, or gets its connections from another server
    if (socket[kConnection]) return
    if (isIgnored(socket)) return uncount(socket)
    if (socket.destroyed) return // by an earlier listener of the app's
    const known = socket._handle?.[kConnection]
    const connection = known?.stage === 'served' && known.parcel ? known : new Connection(socket, acceptor)
    if (!acceptor.isOfOurs(socket)) connection.isPinned = true
    socket[kConnection] = connection
    this.#latest = connection
    if (connection === known) {
      socket.unshift(Buffer.concat([connection.preface, connection.bytes]))
      this.#unparcel(connection, { socket, idleBytes: null })
    } else if (!this.#add(connection, socket._handle)) {
      socket.on('close', () => this.release(connection))
    } else {
      this.witness?.added(connection)
    }
  }

  /** @param {Socket} socket http's, unless another protocol is before it, such as PROXY */
  #watchHead (socket) {
    const connection = this.of(socket)
    if (!connection || socket.destroyed) return
    if (socket.parser) connection.head = new HeadBytes(socket)
    else if (!connection.isPinned) awaitParser(socket, preface => this.#parsed(connection, socket, preface))
  }

  /**
   * @param {Connection} connection @param {Socket} socket @param {Buffer | null} preface what the app has read before
   */
  #parsed (connection, socket, preface) {
    if (socket.parser) connection.head = new HeadBytes(socket)
    if (preface === null) return connection.acceptor.pin(READ_ELSEWHERE)
    if (connection.isAdopted || connection.stage !== 'served') return
    connection.preface = preface
    this.witness?.stays(connection) // and is new to it, with the preface
    this.connections.delete(connection)
    connection.since = performance.now()
    this.connections.add(connection)
    this.witness?.added(connection)
  }

  /**
   * @param {Connection} connection @param {Handle & Marked | null} handle @returns {boolean} its end is noticed by it
   */
  #add (connection, handle) {
    const isWatched = handle !== null && this.#watchHandle(handle)
    if (isWatched) handle[kConnection] = connection
    this.connections.add(connection)
    this.total++
    this.emit('connection', connection, handle)
    return isWatched
  }

  /** @param {Socket} secure @param {Acceptor} acceptor */
  #trackSecure (secure, acceptor) {
    if (isIgnored(secure) || isIgnored(secure._parent)) return
    if (!this.of(secure._parent)) this.#track(secure, acceptor)
    const connection = /** @type {Connection} */ (this.of(secure._parent) ?? this.of(secure))
    connection.secure = secure
    secure[kConnection] = connection
    this.#latest = connection
  }

  /** @param {ServerHttp2Session} session it is made while its (secure) connection is being announced */
  #trackSession (session) {
    const connection = /** @type {Connection} */ (this.#latest)
    connection.session = session
    session.on('stream', (stream, headers) => this.requests.stream(connection, stream, headers))
    this.emit('session', connection)
  }

  /** @param {Socket} socket possibly a TLS socket that no listener has reported @returns {Connection | undefined} */
  find (socket) {
    const beneath = this.of(socket) ? undefined : this.of(socket._parent)
    if (beneath) this.#trackSecure(socket, beneath.acceptor)
    return this.of(socket)
  }
}

/** @param {Socket} [socket] */
function isIgnored (socket) {
  return socket?._handle?.[kIgnored] === true
}

/** So that no client's place is taken where the server has its maxConnections. @param {Socket} socket */
function uncount (socket) {
  if (!socket._server) return
  socket._server._connections--
  socket._server = null // net would count it out as it closes
}

module.exports = { ConnectionTracker }
