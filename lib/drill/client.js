'use strict'

/**
 * One client of the load: a connection at a time, a request at a time, and the counter of drops.
 *
 * Not autocannon, for its clients cannot be made to count exactly. They write the next request although the response
 * said `Connection: close`; a close without an answer counts as nothing, and the next response is taken for an answer to
 * the lost request; what is in flight when the time is up is thrown away. To correct that, their connect, request and
 * end would all have to be replaced, by which nothing of autocannon is left but its parser. Node's own client is strict
 * in all of it: it parses by llhttp, knows a complete response from one cut short, and honours `Connection: close`.
 *
 * What counts as what:
 *
 *   sent        the request was given to a connection that was established. From here on it is answered or dropped.
 *   answered    a complete response with an expected status
 *   dropped     reset                    the peer reset the connection (RST). Right behind the first bytes of a response,
 *                                        libuv may report it as a close: then it goes by closed-during-response
 *               closed-before-response   the peer closed, no byte of a response had come. Also on a connection that was
 *                                        idle before: the client has sent the request, and it is not answered
 *               closed-during-response   the peer closed in the midst of one: length or last chunk never came
 *               timeout                  no complete response in time
 *               status                   a complete response with another status
 *               refused                  no connection was to be had while the fleet was to be up
 *               or the code of Node's error (HPE_… where the response was no HTTP)
 *   neither     a connection closed while it was idle, with nothing sent on it; a connect that fails once the stop was
 *               announced: nothing was sent. That is how a client's work ends.
 */

const http = require('node:http')
const https = require('node:https')
const { now } = require('./clock')

const REST_AFTER_REFUSAL_MS = 100

/**
 * @typedef {object} Plan what each request is
 * @property {import('./target').Target} target
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string | string[]>} headers
 * @property {Buffer | null} body
 * @property {number[][]} expect ranges of statuses, both ends included
 * @property {boolean} keepAlive
 * @property {number} timeoutMs
 *
 * @typedef {object} Drop
 * @property {number} t when it was known, ms since the epoch
 * @property {number} startedAt
 * @property {string} error
 * @property {number | null} status
 * @property {string} method
 * @property {string} path
 * @property {number | null} localPort
 * @property {boolean} reused the connection had served a request before
 *
 * @typedef {object} Exchange a request under way
 * @property {number} startedAt
 * @property {number} dueAt when it should have been sent
 * @property {import('node:net').Socket | null} socket
 * @property {boolean} isSent
 * @property {number} readBefore bytes that the connection had read when the request was sent
 * @property {boolean} reused
 * @property {number | null} localPort
 * @property {number | null} status
 * @property {string | null} socketError
 * @property {boolean} isSettled
 */

class Client {
  /** The peer is going away: a connection that cannot be had is no drop any more, but the end. */
  isStopAnnounced = false
  sockets = 0
  /** @type {http.Agent} */
  #agent
  /** The connection that is open, if one is. @type {import('node:net').Socket | null} */
  #socket = null
  /** @type {Exchange | null} */
  #exchange = null

  /**
   * @param {Plan} plan
   * @param {object} on
   * @param {(latencyMs: number) => void} on.answered
   * @param {(drop: Drop) => void} on.dropped
   * @param {() => void} on.free it can send again
   * @param {() => void} on.over its peer is gone, in good order
   */
  constructor (plan, on) {
    this.plan = plan
    this.on = on
    this.module = plan.target.secure ? https : http
    this.#agent = this.#openAgent()
    const { host, port, socketPath } = plan.target
    this.options = {
      ...(socketPath ? { socketPath } : { host, port }),
      method: plan.method,
      path: plan.path,
      headers: plan.body ? { ...plan.headers, 'content-length': plan.body.length } : plan.headers,
      rejectUnauthorized: false // it is one's own app, with whatever certificate it has in tests
    }
  }

  /** Sends a request. One at a time: the next after `free`. @param {number} [dueAt] when it should have been sent */
  send (dueAt) {
    const startedAt = now()
    /** @type {Exchange} */
    const exchange = {
      startedAt,
      dueAt: dueAt ?? startedAt,
      socket: null,
      isSent: false,
      readBefore: 0,
      reused: false,
      localPort: null,
      status: null,
      socketError: null,
      isSettled: false
    }
    this.#exchange = exchange
    const request = this.module.request({ ...this.options, agent: this.#agent })
    const timer = setTimeout(() => {
      this.#settle(exchange, 'timeout')
      this.#agent.destroy() // it may hold the request back until a connection is closed that is not going to be
      request.destroy()
      this.#agent = this.#openAgent()
      this.#release(exchange)
    }, this.plan.timeoutMs)

    request.once('socket', socket => this.#attach(exchange, socket))
    /** @type {http.IncomingMessage | undefined} */
    let answer
    request.once('response', response => {
      answer = response
      exchange.status = response.statusCode ?? null
      response.resume()
      response.on('error', () => {}) // cut short: `close` finds it unsettled
      response.once('end', () => { if (response.complete) this.#settle(exchange, null) })
    })
    /** @type {string | undefined} */
    let code
    request.on('error', (/** @type {NodeJS.ErrnoException} */ error) => { code ??= error.code })
    request.once('close', () => {
      clearTimeout(timer)
      this.#settle(exchange, answer?.complete ? null : causeOf(exchange, code))
      this.#release(exchange)
    })
    request.end(this.plan.body ?? undefined)
  }

  /** Closes its connection. Nothing may be under way. */
  close () {
    this.#agent.destroy()
  }

  /** @param {Exchange} exchange @param {import('node:net').Socket} socket */
  #attach (exchange, socket) {
    exchange.socket = socket
    if (socket === this.#socket) {
      exchange.isSent = true
      exchange.reused = true
      exchange.readBefore = socket.bytesRead
      exchange.localPort = socket.localPort ?? null
      return
    }
    this.#socket = socket
    socket.once(this.plan.target.secure ? 'secureConnect' : 'connect', () => {
      this.sockets++
      exchange.isSent = true
      exchange.readBefore = socket.bytesRead
      exchange.localPort = socket.localPort ?? null
    })
    socket.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (this.#exchange?.socket === socket) this.#exchange.socketError ??= error.code ?? error.message
    })
    // Node's agent would give a connection that has ended, but is not yet closed, to the next request.
    socket.once('end', () => { if (this.#exchange?.socket !== socket) socket.destroy() })
    socket.once('close', () => { if (this.#socket === socket) this.#socket = null })
  }

  /**
   * Counts a request, once.
   *
   * @param {Exchange} exchange
   * @param {string | null} cause why there is no complete response; null: there is one
   */
  #settle (exchange, cause) {
    if (exchange.isSettled) return
    exchange.isSettled = true
    const t = now()
    const { status, startedAt, localPort, reused } = exchange
    const { method, path, expect } = this.plan
    if (!exchange.isSent && this.isStopAnnounced) return
    if (cause === null && expect.some(([from, to]) => Number(status) >= from && Number(status) <= to)) {
      return this.on.answered(t - exchange.dueAt)
    }
    this.on.dropped({ t, startedAt, error: cause ?? 'status', status, method, path, localPort, reused })
  }

  /** @param {Exchange} exchange */
  #release (exchange) {
    if (this.#exchange !== exchange) return
    this.#exchange = null
    if (exchange.isSent) return this.on.free()
    if (this.isStopAnnounced) return this.on.over()
    setTimeout(() => this.on.free(), REST_AFTER_REFUSAL_MS)
  }

  #openAgent () {
    const { keepAlive } = this.plan
    return new this.module.Agent({ keepAlive, maxSockets: keepAlive ? 1 : Infinity }) // with a limit, Node keeps alive all the same
  }
}

/**
 * @param {Exchange} exchange closed without a complete response
 * @param {string | undefined} code of the request's error
 */
function causeOf ({ isSent, socketError, socket, readBefore }, code) {
  if (!isSent) return ['ECONNREFUSED', 'ENOENT'].includes(socketError ?? code ?? '') ? 'refused' : socketError ?? code ?? 'refused'
  if (socketError !== null) return ['ECONNRESET', 'EPIPE'].includes(socketError) ? 'reset' : socketError
  if (code !== undefined && code !== 'ECONNRESET') return code
  return socket && socket.bytesRead > readBefore ? 'closed-during-response' : 'closed-before-response'
}

module.exports = { Client }
