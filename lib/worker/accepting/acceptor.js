'use strict'

/**
 * An acceptor stands between the kernel's accept queue and one of the app's servers.
 *
 *        kernel's queue, held open by the primary, shared by all workers
 *              │ accept
 *        listening handle        this one is opened and shut (listening.js) …
 *              │ onconnection
 *        facade                  … while net.Server holds on to this one
 *              │ 'connection'
 *        the app's server
 *
 * net accepts any object with the right methods as a listening handle: cluster's round robin relies on that too. With
 * the facade a worker can stop accepting while the app's server stays open: no `close` is emitted, `server.address()`
 * still returns its address, and the app's own SIGTERM handler can close the server.
 */

const { EventEmitter } = require('node:events')
const http = require('node:http')
const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
const { hasMost, missingForHandoff } = require('../../core/internals')
const { callApp } = require('../call-app')
const { Listening } = require('./listening')
/** @import { Handle } from '../../core/internals' */
/** @import { Unread } from '../../native/descriptor' */
/** @import { FromWorker } from '../../messages' */

const EMPTYING_MS = 250

/**
 * Emits `listen` when the app's server listens, `close` when the app has closed it, and `pinned` once, with the reason,
 * where its connections turn out not to be movable.
 */
class Acceptor extends EventEmitter {
  /** Accepted and not yet passed to the server, while the acceptor is being shut. @type {Handle[] | null} */
  #held = null
  #handleClass
  /** By their facades. @type {WeakMap<object, Acceptor>} */
  static #all = new WeakMap()
  isClosed = false
  /** The app's close() leaves idle connections open, and they can move. */
  keepsIdle = false

  /**
   * @param {import('node:net').Server} server @param {string} key what it listens on, as asked, and an ordinal
   * @param {Handle} handle of the listening socket
   * @param {boolean} isQueued the queue is there: the app's server listens before anything is accepted here
   * @param {(take: (handle: Handle | null) => void) => void} request asks the primary for the listening socket again;
   *   null: it is not available
   */
  constructor (server, key, handle, isQueued, request) {
    super()
    this.server = server
    this.key = key
    this.isQueued = isQueued
    this.listening = new Listening(handle, (error, client) => this.#onConnection(error, client), request)
    this.#handleClass = /** @type {new (type: number) => Handle} */ (handle.constructor)
    this.facade = this.#makeFacade(handle)
    Acceptor.#all.set(this.facade, this)
    /** As the primary was asked for the listening handle. @type {Omit<FromWorker['listen'], 'id'>} */
    this.request = { key, query: { address: null, port: null, addressType: null } }
    /** The connections of this server can move to a sibling; known once it listens. */
    this.isMovable = false
    this.isTls = 'setSecureContext' in server
    /** At least those can of which nothing has been read; known once it listens. */
    this.isMovableUnread = false
  }

  /**
   * A stream is of the kind that this acceptor accepts, and no other stream that the app has passed to its server.
   * @param {import('node:net').Socket} socket
   */
  isOfOurs (socket) {
    return socket._handle?.constructor === this.#handleClass
  }

  /**
   * @param {Unread} connection
   * @returns {Handle | null} a handle of the kind that this acceptor accepts
   */
  handleOf (connection) {
    return connection.isDescriptor ? connection.handleOf(this.#handleClass) : connection
  }

  /** @returns {string | null} why this server's connections cannot move, where they could */
  selfTest () {
    // Of TLS the client speaks first, and plain HTTP/1 alone has no state between two requests
    if (this.isTls) this.isMovableUnread = typeof this.#handleClass.prototype.readStop === 'function'
    if (!(this.server instanceof http.Server)) return null
    const missing = missingForHandoff(this.server, this.#handleClass.prototype)
    this.isMovable = missing === null
    return missing && `this Node.js lacks ${missing}`
  }

  /** The server's connections stay in this worker from here on. @param {string} why */
  pin (why) {
    if (!this.isMovable) return
    this.isMovable = false
    this.emit('pinned', why)
  }

  /** Node would close them as the app calls close(), with the requests that are on their way. */
  keepIdle () {
    this.keepsIdle = true
    if ('closeIdleConnections' in this.server) this.server.closeIdleConnections = () => {}
  }

  /** @param {object} handle @returns {Acceptor | undefined} the acceptor of this facade; undefined: it is none */
  static of (handle) {
    return Acceptor.#all.get(handle)
  }

  get isOpen () {
    return this.listening.isOpen
  }

  /**
   * The server takes no more: net would close a connection for which a sibling may have room. An app may want that
   * (`dropMaxConnection`), as under cluster.
   */
  get isFull () {
    return this.server.dropMaxConnection !== true && hasMost(this.server)
  }

  /**
   * Shuts when no other process accepts from the queue. The kernel resets the connections in it when the last listening
   * handle is closed, so they are accepted first. They are served only afterwards: a client that opens a connection per
   * request would open its next one after each response.
   * @param {(held: Handle[]) => void} done
   */
  shutEmpty (done) {
    /** @type {Handle[]} */
    const held = []
    this.#held = held
    const until = performance.now() + EMPTYING_MS
    const step = (/** @type {number} */ before) => setImmediate(() => {
      // libuv accepts one connection per turn of its loop: the queue is empty when a whole turn has accepted none.
      if (held.length !== before && performance.now() < until) return step(held.length)
      this.listening.shut()
      this.#held = null
      done(held)
    })
    setImmediate(() => step(-1))
  }

  /** Accepts, unless the server takes no more. @param {() => void} [opened] */
  open (opened = () => {}) {
    if (this.isClosed || this.isFull) return opened()
    this.listening.open(opened)
  }

  /**
   * Passes on a connection that this acceptor has not accepted: net makes a socket of it, as of an accepted one (count,
   * noDelay, keep-alive, block list, `connection`).
   * @param {Handle} client a TCP or pipe handle
   */
  accept (client) {
    callApp('connection', () => this.facade.onconnection(0, client))
  }

  /** @param {number} error libuv's, 0 for none @param {Handle} client */
  #onConnection (error, client) {
    if (this.#held && !error) this.#held.push(client)
    else this.facade.onconnection(error, client)
  }

  #close () {
    this.isClosed = true
    if (!this.keepsIdle) this.isMovable = this.isMovableUnread = false // the app wants them closed
    this.listening.close()
    this.emit('close')
  }

  /** @param {Handle} first the first listening handle; later ones have the same address and class */
  #makeFacade (first) {
    /** With `onconnection`, which net sets. @type {Record<string, Function>} */
    const facade = {
      listen: (/** @type {number} */ backlog) => {
        const error = this.listening.listen(backlog, !this.isQueued)
        if (error === 0) this.emit('listen')
        return error
      },
      close: (/** @type {(() => void) | undefined} */ closed) => {
        this.#close()
        if (closed) process.nextTick(closed)
      },
      ref: () => this.listening.refer(true),
      unref: () => this.listening.refer(false),
      hasRef: () => this.listening.isRef,
      fchmod: (/** @type {number} */ mode) => this.listening.handle?.fchmod?.(mode) ?? 0
    }
    Object.defineProperty(facade, 'fd', { enumerable: true, get: () => this.listening.fd })
    if (first.getsockname) {
      const sockname = {}
      const error = first.getsockname(sockname)
      facade.getsockname = (/** @type {object} */ out) => {
        Object.assign(out, sockname)
        return error
      }
    }
    return facade
  }
}

module.exports = { Acceptor }
