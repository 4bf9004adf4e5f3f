'use strict'

/**
 * The requests in flight on the connections of this worker, and how many there have been. It patches nothing: it
 * subscribes to http's diagnostics channels. A request counts until its response has been handed to the kernel, or its
 * connection closes: `finish` is not emitted for an aborted one. This runs for every request, so it is kept short.
 */

const diagnostics = require('node:diagnostics_channel')
const { performance } = require('node:perf_hooks')
/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import { Head } from '../../core/request-replay' */
/** @import { Connection, Exchange } from './connection' */

/** @typedef {{ request: IncomingMessage, response: ServerResponse, socket: import('node:net').Socket }} Begun */

class Requests {
  /** Since the start. */
  begun = 0
  /** Messages of connections whose protocol is the app's, as far as they are counted, since the start. */
  messages = 0
  /** Requests whose response has not closed. */
  inFlight = 0
  /**
   * The clock is read as each begins and ends; else Connection.looked() says when: the clock is most of what a request
   * costs.
   */
  areTimed = false
  /**
   * Called in the context in which the app's handler is about to be: for each request, so it is no listener.
   * @type {((connection: Connection, exchange: Exchange) => void) | null}
   */
  starting = null

  /** @param {import('./tracker').ConnectionTracker} tracker of their connections, which emits `request` and `rest` */
  constructor (tracker) {
    this.tracker = tracker
    tracker.on('newListener', event => { if (event === 'rest') this.#time() })
    tracker.on('removeListener', () => { this.areTimed = tracker.listenerCount('rest') > 0 })
    diagnostics.subscribe('http.server.request.start', message => this.#start(/** @type {Begun} */ (message)))
    diagnostics.subscribe('http.server.response.finish', message => this.#finish(/** @type {Begun} */ (message)))
  }

  /** From here on requests are timed: for an event that they end. */
  #time () {
    if (this.areTimed) return
    this.areTimed = true
    const now = performance.now()
    for (const connection of this.tracker.connections) connection.looked(now)
  }

  /** @param {Begun} message */
  #start ({ request, response, socket }) {
    const { tracker } = this
    const connection = tracker.find(socket)
    if (connection === undefined) return // its server has no acceptor
    const { method, url, httpVersion: version, rawHeaders } = /** @type {Head & IncomingMessage} */ (request)
    const head = { method, url, version, headers: rawHeaders.slice() } // the app may change its own
    const handle = /** @type {import('../../core/internals').Handle} */ (connection.socket._handle)
    const exchange = this.#begin(connection, head, response, handle?.bytesWritten)
    connection.head?.next(request)
    if (connection.replayed > 0) request.replayed = connection.replayed
    tracker.witness?.begun(connection, exchange)
    this.starting?.(connection, exchange)
    if (tracker.listenerCount('request') > 0) tracker.emit('request', connection, exchange, request)
  }

  /**
   * A request of an HTTP/2 session.
   * @param {Connection} connection @param {import('node:http2').ServerHttp2Stream} stream
   * @param {import('node:http2').IncomingHttpHeaders} headers
   */
  stream (connection, stream, headers) {
    const head = {
      method: String(headers[':method']), url: String(headers[':path'] ?? ''), version: '2', headers: []
    }
    const exchange = this.#begin(connection, head, /** @type {any} */ (stream), 0)
    stream.once('close', () => this.rest(exchange))
  }

  /**
   * @param {Connection} connection @param {Head} head @param {ServerResponse} response of HTTP/1, or a stream of HTTP/2
   * @param {number} written bytes that have been written to the connection @returns {Exchange}
   */
  #begin (connection, head, response, written) {
    const since = this.areTimed ? performance.now() : null
    const exchange = {
      head, response, number: this.begun, since, written, isMarked: false, isSuspect: false, connection, current: null
    }
    connection.exchanges.push(exchange)
    connection.requests++
    this.begun++
    this.inFlight++
    return exchange
  }

  /** @param {Connection} connection @param {number} count of messages that have come, each as a request makes load */
  heard (connection, count) {
    connection.requests += count
    this.messages += count
  }

  /** @param {Begun} message */
  #finish ({ response, socket }) {
    const connection = this.tracker.of(socket)
    if (connection === undefined) return
    const exchange = connection.exchanges[0] // responses end in the order of their requests
    if (exchange?.response !== response) return
    this.end(exchange)
    this.tracker.witness?.finished(connection, response)
    // The server detaches the response later in this tick.
    if (this.areTimed) process.nextTick(() => this.tracker.emit('rest', connection, exchange))
  }

  /** @param {Exchange} exchange one that has ended, which may have been noticed */
  rest (exchange) {
    if (this.end(exchange)) this.tracker.emit('rest', exchange.connection, exchange)
  }

  /** @param {Exchange} exchange @returns {boolean} it was still in flight */
  end (exchange) {
    const { connection } = exchange
    const { exchanges } = connection
    const at = exchanges.indexOf(exchange)
    if (at === -1) return false
    if (exchanges.length === 1) exchanges.pop() // the array keeps its room, as with shift() it does not
    else exchanges.splice(at, 1)
    this.inFlight--
    if (exchange.current) exchange.current.exchange = null
    connection.replayed = connection.deaths = 0
    connection.hasResponded = true
    connection.idleSince = this.areTimed ? performance.now() : null
    return true
  }

  /**
   * Ends what no event has reported: a response whose `finish` reached no listener of http's. The event of one that has
   * just been flushed is still to come, so that one is ended at the next sweep.
   * @param {Connection} connection
   */
  sweep (connection) {
    for (const exchange of connection.exchanges.filter(exchange => hasEnded(connection, exchange))) {
      if (exchange.isSwept) this.rest(exchange)
      exchange.isSwept = true
    }
  }
}

/** @param {Connection} connection @param {Exchange} exchange */
function hasEnded ({ session }, { response }) {
  return session ? response.destroyed : response.writableFinished
}

module.exports = { Requests }
