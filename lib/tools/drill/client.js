'use strict'

/**
 * A client of the load: one connection and one request at a time. It counts the drops.
 *
 * It does not use autocannon, whose clients do not count exactly. They write the next request after
 * `Connection: close`. They ignore a close without a response, and take the next response for that of the lost request.
 * At the end they discard requests in flight. Node's own client parses by llhttp, tells a complete response from a
 * truncated one, and honours `Connection: close`.
 *
 * Outcomes:
 *
 *   sent        the request was written to an established connection. From here on it is answered or dropped.
 *   answered    a complete response with an expected status
 *   dropped     reset                    the peer reset the connection (RST). Right after the first bytes of a
 *                                        response, libuv may report it as a close: then it is closed-during-response
 *               closed-before-response   the peer closed before the first byte of a response; also on a connection that
 *                                        had been idle, if the request was sent
 *               closed-during-response   the peer closed before the length or the last chunk was complete
 *               timeout                  no complete response in time
 *               status                   a complete response with another status
 *               refused                  no connection could be made while the fleet should be up
 *               or the code of Node's error (HPE_… if the response was not HTTP)
 *   neither     an idle connection was closed, or a connect failed after the stop was announced: nothing was sent. This
 *               ends the client's work.
 */

const http = require('node:http')
const https = require('node:https')
const { now } = require('./clock')
/** @import { Socket } from 'node:net' */

const REST_AFTER_REFUSAL_MS = 100

/**
 * @typedef {object} Plan of each request
 * @property {import('./target').Target} target @property {string} method @property {string} path
 * @property {Record<string, string | string[]>} headers @property {Buffer | null} body
 * @property {number[][]} expect ranges of statuses, both ends included
 * @property {boolean} keepAlive @property {number} timeoutMs
 *
 * @typedef {object} Drop
 * @property {number} t when the client noticed it, ms since the epoch
 * @property {number} startedAt @property {string} error @property {number | null} status @property {string} method
 * @property {string} path @property {number | null} localPort
 * @property {boolean} reused the connection had served a request before
 *
 * @typedef {object} Exchange a request in progress
 * @property {number} startedAt
 * @property {number} dueAt when it should have been sent
 * @property {Socket | null} socket @property {boolean} isSent
 * @property {number} readBefore bytes that the connection had read when the request was sent
 * @property {boolean} reused @property {number | null} localPort @property {number | null} status
 * @property {string | null} socketError @property {boolean} isSettled
 */

class Client {
  /** The peer is stopping: a failed connect is the end of the work, and not a drop. */
  isStopAnnounced = false
  sockets = 0
  /** @type {http.Agent} */
  #agent
  /** The open connection, if there is one. @type {Socket | null} */
  #socket = null
  /** @type {Exchange | null} */
  #exchange = null

  /**
   * @param {Plan} plan @param {object} on @param {(latencyMs: number) => void} on.answered
   * @param {(drop: Drop) => void} on.dropped @param {() => void} on.free the client can send again
   * @param {() => void} on.over the peer is gone, after the stop was announced
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
      rejectUnauthorized: false // the app under test may have any certificate
    }
  }

  /** Sends a request; the next may follow after `free`. @param {number} [dueAt] when it should have been sent */
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
      this.#agent.destroy() // it may keep the request waiting for a connection that never closes
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
      response.on('error', () => {}) // truncated: `close` settles it
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

  /** Closes the connection. No request may be in progress. */
  close () {
    this.#agent.destroy()
  }

  /** @param {Exchange} exchange @param {Socket} socket */
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
    // Node's agent would use a connection that has ended, but is not yet closed, for the next request.
    socket.once('end', () => { if (this.#exchange?.socket !== socket) socket.destroy() })
    socket.once('close', () => { if (this.#socket === socket) this.#socket = null })
  }

  /**
   * Counts a request, once.
   * @param {Exchange} exchange
   * @param {string | null} cause why there is no complete response; null: the response is complete
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
    // With maxSockets, Node keeps connections alive in any case
    return new this.module.Agent({ keepAlive, maxSockets: keepAlive ? 1 : Infinity })
  }
}

/** @param {Exchange} exchange closed without a complete response @param {string | undefined} code of an error */
function causeOf ({ isSent, socketError, socket, readBefore }, code) {
  if (!isSent) {
    return ['ECONNREFUSED', 'ENOENT'].includes(socketError ?? code ?? '') ? 'refused' : socketError ?? code ?? 'refused'
  }
  if (socketError !== null) return ['ECONNRESET', 'EPIPE'].includes(socketError) ? 'reset' : socketError
  if (code !== undefined && code !== 'ECONNRESET') return code
  return socket && socket.bytesRead > readBefore ? 'closed-during-response' : 'closed-before-response'
}

module.exports = { Client }
