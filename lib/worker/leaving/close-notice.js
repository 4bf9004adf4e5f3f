'use strict'

/**
 * Announces to clients whose connections cannot move to a sibling that their connection closes, by their protocol:
 *
 *   HTTP/1      its next response says `Connection: close`; until then it is served
 *   HTTP/2      GOAWAY, and streams finish; see goaway.js
 *
 * Nothing is closed here: an idle connection stays open, because a request may be on its way.
 */

const { clearInterval, setImmediate, setInterval } = require('node:timers')
const { currentChunk } = require('../../core/internals')
const { Goaway } = require('./goaway')
const { closeAtOnce, closeLingering } = require('./lingering-close')
/** @import { IncomingMessage } from 'node:http' */
/** @import { Connection, Exchange } from '../connections/connection' */
/** @import { ConnectionTracker } from '../connections/tracker' */

const STEP_MS = 250
const HEAD_END = '\r\n\r\n'

class CloseNotice {
  /** @type {Set<Goaway>} */
  #goaways = new Set()
  /** The fleet is about to stop. */
  #isFinal = false

  /** @param {ConnectionTracker} tracker @param {(connection: Connection) => boolean} isMovable */
  constructor (tracker, isMovable) {
    this.tracker = tracker
    this.isMovable = isMovable
    this.listeners = /** @type {const} */ ({
      session: (/** @type {Connection} */ connection) => this.#goaway(connection),
      request: this.#onRequest.bind(this),
      rest: (/** @type {Connection} */ connection, /** @type {Exchange} */ exchange) => {
        if (connection.session !== null) return
        const { response } = exchange // the app may have announced it itself
        if (response.shouldKeepAlive === false || (connection.socket.writableEnded && response.writableFinished)) {
          connection.isAnnounced = true
        }
      }
    })
  }

  /** From here on responses to new requests announce it. */
  begin () {
    this.#unlisten()
    for (const [event, listener] of Object.entries(this.listeners)) this.tracker.on(event, listener)
    for (const connection of this.tracker.connections) if (connection.session) this.#goaway(connection)
  }

  /**
   * The fleet is about to stop: HTTP/1 responses announce it for good, also on connections that could move. HTTP/2
   * sessions go on until the drain.
   */
  beginForGood () {
    if (this.#isFinal) return
    this.#isFinal = true
    this.isMovable = () => false
    this.end()
    this.announce()
  }

  /** Announces it in the responses under way whose head has not been sent. */
  announce () {
    if (this.tracker.requests.inFlight === 0) return // many connections may be idle
    for (const connection of this.tracker.connections) {
      const exchange = connection.exchanges.at(-1)
      if (exchange && !this.isMovable(connection)) announceClose(connection, exchange)
    }
  }

  /** Does what is due by now for HTTP/2 sessions; called at an interval. */
  step () {
    for (const goaway of this.#goaways) {
      goaway.step()
      if (goaway.isOver) this.#goaways.delete(goaway)
    }
  }

  /**
   * This worker stays: what has not been sent is not announced any more. A GOAWAY of which the first was sent is
   * completed.
   */
  retract () {
    this.end()
    for (const connection of this.#isFinal ? [] : this.tracker.connections) {
      const exchange = connection.exchanges.at(-1)
      if (exchange && connection.session === null) retractClose(connection, exchange)
    }
    for (const goaway of this.#goaways) if (!goaway.hasBegun) this.#goaways.delete(goaway)
    if (this.#goaways.size === 0) return
    const stepper = setInterval(() => {
      this.step()
      if (this.#goaways.size === 0) clearInterval(stepper)
    }, STEP_MS)
  }

  end () {
    this.#unlisten()
    if (this.#isFinal) {
      for (const event of /** @type {const} */ (['request', 'rest'])) this.tracker.on(event, this.listeners[event])
    }
  }

  #unlisten () {
    for (const [event, listener] of Object.entries(this.listeners)) this.tracker.removeListener(event, listener)
  }

  /** @param {Connection} connection */
  #goaway (connection) {
    const goaway = new Goaway(connection)
    this.#goaways.add(goaway)
    setImmediate(() => { if (this.#goaways.has(goaway)) goaway.step() }) // a new session sends its SETTINGS first
  }

  /** @param {Connection} connection @param {Exchange} exchange @param {IncomingMessage} request */
  #onRequest (connection, exchange, request) {
    if (this.isMovable(connection)) return
    for (const earlier of connection.exchanges.slice(0, -1)) retractClose(connection, earlier)
    if (!isFollowed(connection, request)) announceClose(connection, exchange)
  }
}

/** @param {Connection} connection @param {Exchange} exchange the newest on this connection */
function announceClose (connection, { response }) {
  if (connection.session || response.headersSent || !response.shouldKeepAlive) return
  response.shouldKeepAlive = false
  connection.isAnnounced = true
  closeLingering(connection.top, response.req)
  insistOnClose(response)
}

/**
 * A header that the app sets would take precedence: proxies pass on the `Connection: keep-alive` of the server behind
 * them.
 * @param {import('node:http').ServerResponse} response
 */
function insistOnClose (response) {
  const { writeHead } = response
  response.writeHead = function (/** @type {unknown[]} */ ...args) {
    if (!response.shouldKeepAlive) {
      const headers = args.at(-1)
      if (Array.isArray(headers)) args[args.length - 1] = withClose(headers)
      else if (headers !== null && typeof headers === 'object') {
        args[args.length - 1] = Object.fromEntries(withClose(Object.entries(headers)))
      }
      if (response.hasHeader('connection')) response.setHeader('connection', 'close')
    }
    return Reflect.apply(writeHead, this, args)
  }
}

/** @param {any[]} headers pairs, or names and values in turn @returns {any[]} */
function withClose (headers) {
  const isConnection = (/** @type {unknown} */ name) => String(name).toLowerCase() === 'connection'
  if (Array.isArray(headers[0])) return headers.map(([name, value]) => [name, isConnection(name) ? 'close' : value])
  return headers.map((item, i) => i % 2 && isConnection(headers[i - 1]) ? 'close' : item)
}

/**
 * Another request follows on the same connection: it would be lost if this response announced `close`.
 * @param {Connection} connection @param {Exchange} exchange
 */
function retractClose (connection, { response }) {
  if (!connection.isAnnounced || response.headersSent) return
  response.shouldKeepAlive = true
  connection.isAnnounced = false
  closeAtOnce(connection.top)
}

/**
 * Whether the chunk that is being parsed contains more than the request whose head has just been parsed: a client that
 * pipelines has sent its next request in the same chunk. To be called once per request, while `request` is emitted.
 * @param {Connection} connection @param {IncomingMessage} request @returns {boolean}
 */
function isFollowed (connection, request) {
  const chunk = currentChunk(connection.top)
  if (!chunk) return false
  if (connection.parsed === 0) process.nextTick(() => { connection.parsed = 0 }) // a chunk is parsed within one tick
  const headEnd = chunk.indexOf(HEAD_END, connection.parsed)
  if (headEnd === -1) return false
  connection.parsed = headEnd + HEAD_END.length + (Number(request.headers['content-length']) || 0)
  return connection.parsed < chunk.length && request.headers['transfer-encoding'] === undefined
}

module.exports = { CloseNotice }
