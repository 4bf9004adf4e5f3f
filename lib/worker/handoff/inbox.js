'use strict'

/**
 * Where connections from a sibling are held, unread, until the primary says that they are this worker's, and wait for
 * their next request.
 *
 * An adopted connection does not become the server's before its first bytes are here. As the server's it would have no
 * keepAliveTimeout until its next response, and would be sent an unsolicited 408 once headersTimeout has passed. In the
 * inbox it keeps what was left of its time, and as nothing has been read from it, it can move again at once.
 *
 * A connection that comes with bytes does not wait: the server gets them at once.
 *
 * One that waits has no socket of net's: that was half of what it costs to adopt one.
 */

const net = require('node:net')
const { performance } = require('node:perf_hooks')
const { setImmediate, setTimeout } = require('node:timers')
const { detachHandle } = require('../../core/internals')
const { Connection } = require('../connections/connection')
const { Waiting } = require('../connections/waiting')
/** @import { Handle } from '../../core/internals' */
/** @import { Acceptor } from '../accepting/acceptor' */
/** @import { ParcelFields } from '../../tables/message' */

const LENT_MS = 1000 // until another primary has read what this one's had sent

class Inbox {
  /** By their numbers. @type {Map<number, Connection>} */
  #held = new Map()
  #onRead

  /** @param {Pick<import('../enter').Parts, 'tracker'>} parts */
  constructor ({ tracker }) {
    this.tracker = tracker
    const read = this.#read.bind(this)
    this.#onRead = /** @this {Handle} @param {ArrayBuffer | undefined} bytes */ function (bytes) {
      read(/** @type {Connection} */ (tracker.of(this)), bytes)
    }
    /**
     * Functions that take connections whose protocol is the app's, by their kind.
     * @type {Map<string, (socket: net.Socket, state: Buffer, unread: Buffer, id: number | null) => void>} `id`: what
     *   its sender's app sends to it comes behind it, by this number; null: nothing does
     */
    this.takers = new Map()
  }

  /**
   * @param {number} id @param {Acceptor} acceptor @param {ParcelFields} parcel @param {Handle} handle
   * @returns {Connection} that has come
   */
  hold (id, acceptor, parcel, handle) {
    this.settle(id, false) // the primary that had offered it before has died
    const connection = new Connection(null, acceptor, id)
    this.tracker.adopt(connection, parcel, handle)
    this.#held.set(id, connection)
    return connection
  }

  /** @param {number} id of a held one @param {boolean} ok it is ours; else another worker has it */
  settle (id, ok) {
    const connection = this.#held.get(id)
    this.#held.delete(id)
    if (connection?.stage !== 'held') return
    if (ok) return this.wait(connection)
    connection.fate = 'moved'
    connection.handle?.close()
  }

  /**
   * The primary has exited, and says no more; but another one that has lent it a connection may yet read that this
   * worker has it, and note so.
   * @param {(connection: Connection) => boolean} isOurs as of now
   */
  settleAll (isOurs) {
    const held = [...this.#held]
    const settle = (/** @type {boolean} */ isLate) => {
      for (const [id, connection] of held) {
        if (connection.stage !== 'held' || this.#held.get(id) !== connection) continue
        const ok = isOurs(connection)
        if (!ok && !isLate) continue
        delete connection.parcel?.isFollowed
        this.settle(id, ok)
      }
    }
    settle(false)
    if (this.#held.size > 0) setTimeout(settle, LENT_MS, true)
  }

  /** @param {Connection} connection a held one, which is ours from here on */
  wait (connection) {
    if (connection.parcel?.kind !== undefined) return this.#passOn(connection, connection.parcel)
    if (connection.bytes.length > 0) return connection.serve()
    connection.become('waiting')
    const handle = /** @type {Handle} */ (connection.handle)
    const socket = new Waiting(handle)
    connection.socket = /** @type {net.Socket} */ (socket)
    handle.onread = this.#onRead
    if (handle.readStart() !== 0) socket.destroy()
  }

  /** @param {Connection} connection that waits @param {ArrayBuffer | undefined} read undefined: it has ended */
  #read (connection, read) {
    const { socket } = connection
    if (read === undefined) return Object.assign(socket, { readableEnded: true }).destroy()
    connection.bytes = Buffer.from(read)
    detachHandle(socket)
    connection.serve()
  }

  /**
   * To be called at an interval: closes those whose time is over, and all of a server that the app has closed, unless
   * that keeps idle ones: some were still held at that time.
   */
  sweep () {
    const now = performance.now()
    this.#end(({ until, acceptor }) => (until !== null && until <= now) || (acceptor.isClosed && !acceptor.keepsIdle))
  }

  /** Closes connections idle for so long, all or one server's. @param {number} idleMs @param {Acceptor} [acceptor] */
  close (idleMs, acceptor) {
    const latest = performance.now() - idleMs
    this.#end(({ since, acceptor: own }) => since <= latest && (!acceptor || own === acceptor))
  }

  /**
   * A request that has come in time is read first: a poll for I/O lies between two immediates.
   * @param {(connection: Connection) => boolean} isDue
   */
  #end (isDue) {
    /** @type {net.Socket[]} */
    const sockets = []
    for (const connection of this.tracker.connections) {
      if (connection.stage === 'waiting' && isDue(connection)) sockets.push(connection.socket)
    }
    if (sockets.length === 0) return
    setImmediate(() => setImmediate(() => { for (const socket of sockets) socket.destroy() }))
  }

  /** @param {Connection} connection @param {ParcelFields} parcel of one whose protocol is the app's */
  #passOn (connection, { kind, state = '', isFollowed }) {
    const { handle, bytes, acceptor: { server: { allowHalfOpen } } } = connection
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle, allowHalfOpen }))
    this.tracker.adopted(connection, socket)
    const take = this.takers.get(/** @type {string} */ (kind))
    if (take) take(socket, Buffer.from(state, 'base64'), bytes, isFollowed ? connection.id : null)
    else socket.destroy() // back from an offer to a worker of other code
  }
}

module.exports = { Inbox }
