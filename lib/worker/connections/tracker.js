'use strict'

/**
 * Knows the connections of this worker and the requests in flight on them. It patches nothing: it subscribes to
 * diagnostics channels and events. A request counts until its response has been handed to the kernel, or its connection
 * closes: `finish` is not emitted for an aborted one. This runs for every request, so it is kept short.
 *
 * An app may remove every listener of its sockets, responses and servers, ours and Node's. So the end of a connection is
 * noticed by its handle, and sweep(), which runs with the heartbeat, finds what only a listener would have reported.
 */

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const { performance } = require('node:perf_hooks')
const { betweenRequests, currentChunk, handleWatcher } = require('../../core/internals')
const { Connection } = require('./connection')
const { ConnectionList } = require('./connection-list')

const kConnection = Symbol('recycle.connection')
const HEAD_END = '\r\n\r\n'

/**
 * Emits `connection` (it was accepted or admitted), `request` (a request's head has come), `rest` (a response has
 * ended) and `gone`, each with the Connection; `request` with the exchange too.
 */
class ConnectionTracker extends EventEmitter {
  connections = new ConnectionList()
  /** Requests begun since the start. */
  requests = 0
  /** Requests begun whose response has not closed. */
  inFlight = 0
  /** `rest` has a listener; without one, its cost per response is saved. */
  isRestHeard = false
  /** @type {Connection | null} */
  #latest = null
  /** By the app's server: finds the acceptor of a connection that no listener has reported. @type {WeakMap<object, import('../accepting/acceptor').Acceptor>} */
  #acceptors = new WeakMap()
  /** In a later tick, like a `close` event: the app may destroy a socket at any point of its code. */
  #watchHandle = handleWatcher(handle => {
    if (handle[kConnection]) process.nextTick(this.#onClosed, handle[kConnection])
  })

  #onClosed = (/** @type {Connection} */ connection) => this.release(connection)

  constructor () {
    super()
    this.on('newListener', event => { if (event === 'rest') this.isRestHeard = true })
    this.on('removeListener', event => { if (event === 'rest') this.isRestHeard = this.listenerCount('rest') > 0 })
    diagnostics.subscribe('net.server.socket', message => this.#accepted(/** @type {any} */ (message)))
    diagnostics.subscribe('http.server.request.start', message => this.#begin(/** @type {any} */ (message)))
    diagnostics.subscribe('http.server.response.finish', message => this.#finish(/** @type {any} */ (message)))
  }

  /** @param {import('../accepting/acceptor').Acceptor} acceptor */
  watch (acceptor) {
    const server = /** @type {any} */ (acceptor.server)
    this.#acceptors.set(server, acceptor)
    server.prependListener('connection', (/** @type {any} */ socket) => this.#track(socket, acceptor))
    server.prependListener('secureConnection', (/** @type {any} */ secure) => this.#trackSecure(secure, acceptor))
    server.on('session', (/** @type {any} */ session) => this.#trackSession(session))
  }

  /**
   * The HTTP/1 connections, plain or over TLS, on which nothing is under way in either direction: no partly received head, no
   * response still to be flushed, no request in flight; and those on which nothing was ever received.
   *
   * @param {import('../accepting/acceptor').Acceptor} acceptor
   * @returns {Connection[]}
   */
  idle (acceptor) {
    const between = new Set(betweenRequests(acceptor.server).map(socket => socket[kConnection]))
    return [...this.connections].filter(c =>
      c.acceptor === acceptor && c.session === null && c.isQuiet && !c.isForeign && !c.isEnding &&
      (between.has(c) || (c.secure ?? c.socket).bytesRead === 0))
  }

  /** How many connections have been open for a second. Only the newest have not, so only these are visited. */
  get lasting () {
    const now = performance.now()
    let { size } = this.connections
    for (const connection of this.connections.backwards()) {
      if (connection.hasStayed(now)) break
      if (!connection.isLasting(now)) size--
    }
    return size
  }

  /**
   * Removes a connection whose socket has closed, or has been handed over and would be counted twice until it closes in a
   * later tick.
   *
   * @param {Connection} connection
   */
  release (connection) {
    if (connection.isGone) return
    connection.isGone = true
    // A pipelined response that was never written gets no `close` event.
    for (const exchange of [...connection.exchanges]) {
      this.#end(exchange)
      this.emit('rest', connection, exchange)
    }
    this.connections.delete(connection)
    this.emit('gone', connection)
  }

  /** @param {any} socket @returns {Connection | undefined} */
  of (socket) {
    return socket?.[kConnection]
  }

  /**
   * Ends what no event has reported: a response whose `finish` reached no listener of http's, a socket that is neither TCP nor
   * a pipe. The event of a response that has just been flushed is still to come, so that one is ended at the next sweep.
   */
  sweep () {
    for (const connection of this.connections) {
      if (connection.socket.destroyed) this.release(connection)
      for (const exchange of [...connection.exchanges]) {
        if (!hasEnded(connection, exchange)) continue
        if (exchange.isSwept && this.#end(exchange)) this.emit('rest', connection, exchange)
        exchange.isSwept = true
      }
    }
  }

  /** net has accepted a connection and emitted `connection` on its server. @param {{ socket: any }} message */
  #accepted ({ socket }) {
    const acceptor = this.#acceptors.get(socket.server)
    if (acceptor) this.#track(socket, acceptor)
  }

  /** @param {any} socket @param {import('../accepting/acceptor').Acceptor} acceptor */
  #track (socket, acceptor) {
    if (socket[kConnection]) return // a server that listens again, or gets its connections from another server
    if (socket.destroyed) return // by an earlier listener of the app's
    const connection = new Connection(socket, acceptor)
    if (acceptor.arriving) {
      socket.unshift(acceptor.arriving.bytes)
      connection.isPinned = acceptor.arriving.isPinned
      connection.isAdopted = true
    }
    if (!acceptor.isOfOurs(socket)) connection.isPinned = true
    socket[kConnection] = connection
    this.#latest = connection
    this.connections.add(connection)
    if (this.#watchHandle(socket._handle)) socket._handle[kConnection] = connection
    else socket.on('close', () => this.release(connection))
    this.emit('connection', connection)
  }

  /** @param {any} secure @param {import('../accepting/acceptor').Acceptor} acceptor */
  #trackSecure (secure, acceptor) {
    if (!secure._parent?.[kConnection]) this.#track(secure, acceptor)
    const connection = secure._parent?.[kConnection] ?? secure[kConnection]
    connection.secure = secure
    secure[kConnection] = connection
    this.#latest = connection
  }

  /** @param {any} session an HTTP/2 session; it is made while its (secure) connection is being announced */
  #trackSession (session) {
    const connection = /** @type {Connection} */ (this.#latest)
    connection.session = session
    session.on('stream', (/** @type {any} */ stream, /** @type {any} */ headers) => {
      const request = { method: headers[':method'], url: headers[':path'] }
      const exchange = { request, response: stream, since: performance.now(), connection }
      connection.exchanges.push(/** @type {any} */ (exchange))
      this.requests++
      this.inFlight++
      stream.once('close', () => {
        if (this.#end(exchange)) this.emit('rest', connection, exchange)
      })
    })
    this.emit('session', connection)
  }

  /** @param {any} socket possibly a TLS socket that no listener has reported @returns {Connection | undefined} */
  #connectionOf (socket) {
    if (socket[kConnection] === undefined && socket._parent?.[kConnection]) this.#trackSecure(socket, socket._parent[kConnection].acceptor)
    return socket[kConnection]
  }

  /** @param {{ request: any, response: any, socket: any }} message */
  #begin ({ request, response, socket }) {
    const connection = this.#connectionOf(socket)
    if (connection === undefined) return // its server has no acceptor
    const exchange = { request, response, since: performance.now(), connection }
    connection.exchanges.push(exchange)
    this.requests++
    this.inFlight++
    this.emit('request', connection, exchange)
  }

  /** @param {{ response: any, socket: any }} message */
  #finish ({ response, socket }) {
    const connection = socket[kConnection]
    if (connection === undefined) return
    const exchange = connection.exchanges[0] // responses end in the order of their requests
    if (exchange?.response !== response) return
    this.#end(exchange)
    // The server detaches the response later in this tick.
    if (this.isRestHeard) process.nextTick(() => this.emit('rest', connection, exchange))
  }

  /** @param {any} exchange @returns {boolean} it was still in flight */
  #end (exchange) {
    const { connection } = exchange
    const { exchanges } = connection
    if (exchanges[0] === exchange) exchanges.shift()
    else if (exchanges.includes(exchange)) exchanges.splice(exchanges.indexOf(exchange), 1)
    else return false
    this.inFlight--
    connection.idleSince = performance.now()
    return true
  }
}

/** @param {Connection} connection @param {import('./connection').Exchange} exchange */
function hasEnded ({ session }, { response }) {
  return session ? response.destroyed : response.writableFinished
}

/**
 * Whether the chunk that is being parsed contains more than the request whose head has just been parsed: a client that
 * pipelines has sent its next request in the same chunk. To be called once per request, while `request` is emitted.
 *
 * @param {Connection} connection
 * @param {import('node:http').IncomingMessage} request
 * @returns {boolean}
 */
function isFollowed (connection, request) {
  const chunk = currentChunk(connection.secure ?? connection.socket)
  if (!chunk) return false
  if (connection.parsed === 0) process.nextTick(() => { connection.parsed = 0 }) // a chunk is parsed within one tick
  const headEnd = chunk.indexOf(HEAD_END, connection.parsed)
  if (headEnd === -1) return false
  connection.parsed = headEnd + HEAD_END.length + (Number(request.headers['content-length']) || 0)
  return connection.parsed < chunk.length && request.headers['transfer-encoding'] === undefined
}

module.exports = { ConnectionTracker, isFollowed }
