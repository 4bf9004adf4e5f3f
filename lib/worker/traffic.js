'use strict'

/**
 * The census: which connections there are, and which requests are in flight on them. It only watches, through
 * diagnostics channels and events. A request counts until its response's `close`: `finish` stays silent on aborts.
 */

const diagnostics = require('node:diagnostics_channel')
const { EventEmitter } = require('node:events')
const { betweenRequests, currentChunk } = require('../core/internals')
const { Connection } = require('./connection')

const kConnection = Symbol('recycle.connection')
const kExchange = Symbol('recycle.exchange')
const HEAD_END = '\r\n\r\n'

/**
 * Emits `connection` (it was accepted or admitted), `request` (a request's head has come), `rest` (a response has
 * ended) and `gone`, each with the Connection; `request` with the exchange too.
 */
class Traffic extends EventEmitter {
  /** @type {Set<Connection>} */
  connections = new Set()
  /** Requests begun since the start. */
  requests = 0
  /** Requests begun whose response has not closed. */
  inFlight = 0
  /** @type {Connection | null} */
  #latest = null

  constructor () {
    super()
    const traffic = this
    diagnostics.subscribe('http.server.request.start', message => this.#begin(/** @type {any} */ (message)))
    this.onResponseClose = /** @this {any} */ function () {
      traffic.#end(this[kExchange])
    }
  }

  /** @param {import('./gate').Gate} gate */
  watch (gate) {
    const server = /** @type {any} */ (gate.server)
    server.prependListener('connection', (/** @type {any} */ socket) => this.#track(socket, gate))
    server.prependListener('secureConnection', (/** @type {any} */ secure) => this.#trackSecure(secure, gate))
    server.on('session', (/** @type {any} */ session) => this.#trackSession(session))
  }

  /**
   * The plain HTTP/1 connections on which nothing is under way in either direction, exactly: no half-received head, no
   * response still to be flushed, nothing in flight; and those on which nothing was ever received.
   *
   * @param {import('./gate').Gate} gate
   * @returns {Connection[]}
   */
  idle (gate) {
    const between = new Set(betweenRequests(gate.server).map(socket => socket[kConnection]))
    return [...this.connections].filter(c =>
      c.gate === gate && c.secure === null && c.isQuiet && !c.isForeign && !c.isEnding &&
      (between.has(c) || c.socket.bytesRead === 0))
  }

  /** @param {any} socket @returns {Connection | undefined} */
  of (socket) {
    return socket[kConnection]
  }

  /** @param {any} socket @param {import('./gate').Gate} gate */
  #track (socket, gate) {
    const connection = new Connection(socket, gate)
    if (gate.arriving) {
      socket.unshift(gate.arriving.bytes)
      connection.isPinned = gate.arriving.isPinned
      connection.isAdopted = true
    }
    socket[kConnection] = connection
    this.#latest = connection
    this.connections.add(connection)
    socket.on('close', () => this.#lose(connection))
    this.emit('connection', connection)
  }

  /** @param {any} secure @param {import('./gate').Gate} gate */
  #trackSecure (secure, gate) {
    if (!secure._parent?.[kConnection]) this.#track(secure, gate)
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
      stream.once('close', () => this.#end(exchange))
    })
    this.emit('session', connection)
  }

  /** @param {{ request: any, response: any, socket: any }} message */
  #begin ({ request, response, socket }) {
    const connection = socket[kConnection]
    if (connection === undefined) return // a server that does not listen through a gate
    const exchange = { request, response, since: performance.now(), connection }
    connection.exchanges.push(exchange)
    this.requests++
    this.inFlight++
    response[kExchange] = exchange
    response.on('close', this.onResponseClose)
    this.emit('request', connection, exchange)
  }

  /** @param {any} exchange */
  #end (exchange) {
    const { exchanges } = exchange.connection
    const at = exchanges.indexOf(exchange)
    if (at === -1) return
    exchanges.splice(at, 1)
    this.inFlight--
    exchange.connection.idleSince = performance.now()
    this.emit('rest', exchange.connection, exchange)
  }

  /** @param {Connection} connection */
  #lose (connection) {
    // A pipelined response that never had its turn hears no `close` of its own.
    for (const exchange of [...connection.exchanges]) this.#end(exchange)
    this.connections.delete(connection)
    this.emit('gone', connection)
  }
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

module.exports = { Traffic, isFollowed }
