'use strict'

/**
 * The census: which connections there are, and which requests are in flight on them. It only watches, through
 * diagnostics channels and events. A request counts until its response has been handed to the kernel, or its connection
 * closes: `finish` stays silent on aborts. All of this runs for every request, so it is kept short.
 *
 * An app may take every listener off its sockets, responses and servers, ours and Node's. So that a connection is gone is
 * told by its handle, and what only a listener would tell, sweep() finds out with the beats.
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
  /** Somebody listens for `rest`, which would otherwise cost something at each response. */
  isRestHeard = false
  /** @type {Connection | null} */
  #latest = null
  /** The app's servers, by which a connection is found that no listener has told of. @type {WeakMap<object, import('../accepting/acceptor').Acceptor>} */
  #acceptors = new WeakMap()
  /** In a later tick, as its `close` event would: the app may be destroying it in the midst of anything. */
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
   * The HTTP/1 connections, plain or by TLS, on which nothing is under way in either direction, exactly: no half-received
   * head, no response still to be flushed, nothing in flight; and those on which nothing was ever received.
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

  /** How many connections have proved that they last. Only the latest have not, so only they are looked at. */
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
   * It is no longer ours: its socket has closed, or has been handed over, and would be counted twice until it closes in a
   * later tick.
   *
   * @param {Connection} connection
   */
  release (connection) {
    if (connection.isGone) return
    connection.isGone = true
    // A pipelined response that never had its turn hears no `close` of its own.
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
   * Ends what has ended without a word: a response whose `finish` reached no listener of http's, a socket that is no TCP
   * or pipe. A response that has just been flushed is about to be told, so it is ended at the next sweep.
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

  /** net has accepted a connection, and its server's listeners have heard. @param {{ socket: any }} message */
  #accepted ({ socket }) {
    const acceptor = this.#acceptors.get(socket.server)
    if (acceptor) this.#track(socket, acceptor)
  }

  /** @param {any} socket @param {import('../accepting/acceptor').Acceptor} acceptor */
  #track (socket, acceptor) {
    if (socket[kConnection]) return // a server that listens again, or is fed by another one of ours
    if (socket.destroyed) return // by a listener of the app's that came before us
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

  /** @param {any} socket a TLS socket where no listener has told of it @returns {Connection | undefined} */
  #connectionOf (socket) {
    if (socket[kConnection] === undefined && socket._parent?.[kConnection]) this.#trackSecure(socket, socket._parent[kConnection].acceptor)
    return socket[kConnection]
  }

  /** @param {{ request: any, response: any, socket: any }} message */
  #begin ({ request, response, socket }) {
    const connection = this.#connectionOf(socket)
    if (connection === undefined) return // a server that does not listen through a acceptor
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
    // The server has yet to let go of the response.
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
 * Whether the bytes that are being parsed go on behind the head which has just been parsed: a client that pipelines has
 * sent its next request in the same chunk. To be asked once per request, while its `request` event is emitted.
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
