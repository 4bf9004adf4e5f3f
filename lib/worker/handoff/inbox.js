'use strict'

/**
 * Where connections from a sibling wait for their next request.
 *
 * An adopted connection does not become the server's before its first bytes are here. As the server's it would have no
 * keepAliveTimeout until its next response, and would be sent an unsolicited 408 once headersTimeout has passed. In
 * the inbox it keeps what was left of its time, and as nothing has been read from it, it can move again at once.
 *
 *     adopt ──▶ held ──keep──▶ waiting ──first bytes──▶ acceptor.admit(): the server's from here on
 *                 └──drop──▶ closed      ├──offered again──▶ a sibling's
 *                                        └──time is up, or the client left──▶ closed
 *
 * While it is held nothing is read: the primary may yet have given it to another. It counts as one of the server's
 * connections all along.
 */

const { EventEmitter } = require('node:events')
const net = require('node:net')
const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
const { detachHandle } = require('../../core/internals')

/**
 * @typedef {object} Entry
 * @property {any} handle
 * @property {import('../accepting/acceptor').Acceptor} acceptor
 * @property {number} since ms, performance.now(), when it came
 * @property {number | null} until ms, performance.now(), when it is to be closed; null: never
 * @property {boolean} isPinned it came back from an offer, and stays
 * @property {boolean} isIdle it has been listened to: what had come while it was on its way would have been read
 * @property {net.Socket | null} socket reads its first bytes; null while it is held
 */

/** Emits `gone` with an entry and its fate. */
class Inbox extends EventEmitter {
  /** @type {Set<Entry>} */
  entries = new Set()
  /** @type {Map<number, Entry>} */
  #held = new Map()

  /**
   * @param {import('../channel').Channel} channel
   * @param {Set<import('../accepting/acceptor').Acceptor>} acceptors
   * @param {import('../accepting/admission').Admission} admission
   */
  constructor (channel, acceptors, admission) {
    super()
    this.admission = admission
    this.isClosed = false
    channel.on({
      adopt: ({ id, key, leftMs }, handle) => {
        const acceptor = [...acceptors].find(g => g.key === key)
        const why = this.#whyNot(acceptor, handle)
        if (why || !acceptor) {
          handle?.close()
          return channel.send('refused', { id, why })
        }
        this.#held.set(id, this.#add(handle, acceptor, leftMs, false))
        channel.send('adopted', { id })
      },
      keep: ({ id }) => {
        const entry = this.#held.get(id)
        this.#held.delete(id)
        if (entry && this.entries.has(entry)) this.#wait(entry)
      },
      drop: ({ id }) => {
        const entry = this.#held.get(id)
        this.#held.delete(id)
        if (!entry) return
        this.#leave(entry).close()
        this.emit('gone', entry, 'moved')
      }
    })
  }

  /** Entries that can move again. */
  get movable () {
    // A socket that is destroyed has no handle any more, and is here until its `close`.
    return [...this.entries].filter(entry => entry.socket !== null && !entry.socket.destroyed && !entry.isPinned)
  }

  /** An offer of ours came back: it is served here to its end. @param {any} handle @param {import('../accepting/acceptor').Acceptor} acceptor @param {number | null} leftMs @returns {Entry} */
  takeBack (handle, acceptor, leftMs) {
    const entry = this.#add(handle, acceptor, leftMs, true)
    this.#wait(entry)
    return entry
  }

  /** Takes a waiting entry out, to be offered to a sibling. @param {Entry} entry @returns {any} its handle */
  release (entry) {
    const handle = detachHandle(entry.socket)
    this.#leave(entry)
    return handle
  }

  /** The primary is gone and will not say `keep`: the sender has let go of its copy, so these are ours. */
  keepAll () {
    for (const entry of this.#held.values()) {
      if (this.entries.has(entry)) this.#wait(entry)
    }
    this.#held.clear()
  }

  /** Closes entries that have been idle for so long; of one server, where it is given. @param {number} idleMs @param {import('../accepting/acceptor').Acceptor} [acceptor] */
  close (idleMs, acceptor) {
    const latest = performance.now() - idleMs
    for (const entry of this.entries) {
      if (entry.socket && entry.isIdle && entry.since <= latest && (!acceptor || entry.acceptor === acceptor)) entry.socket.destroy()
    }
  }

  /** @param {import('../accepting/acceptor').Acceptor | undefined} acceptor @param {any} handle */
  #whyNot (acceptor, handle) {
    if (!handle) return 'no connection came with the message'
    if (this.isClosed) return 'this worker is leaving'
    if (this.admission.isOut) return 'this worker is out of rotation'
    if (this.admission.isAtCeiling) return 'no descriptors are left'
    if (!acceptor) return 'nothing listens there'
    if (!acceptor.isMovable) return 'connections of this server do not move'
    const server = /** @type {any} */ (acceptor.server)
    if (server.maxConnections && server._connections >= server.maxConnections) return 'maxConnections is reached'
    return null
  }

  /** @param {any} handle @param {import('../accepting/acceptor').Acceptor} acceptor @param {number | null} leftMs @param {boolean} isPinned */
  #add (handle, acceptor, leftMs, isPinned) {
    const since = performance.now()
    const until = leftMs === null ? null : since + leftMs
    const entry = /** @type {Entry} */ ({ handle, acceptor, since, until, isPinned, isIdle: false, socket: null })
    const server = /** @type {any} */ (acceptor.server)
    this.entries.add(entry)
    server._connections++
    return entry
  }

  /** @param {Entry} entry */
  #wait (entry) {
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle: entry.handle, allowHalfOpen: true }))
    entry.socket = socket
    socket.on('error', () => {}) // a reset: `close` follows
    socket.once('data', chunk => this.#admit(entry, chunk))
    socket.once('end', () => this.#end(entry, 'closedByClient'))
    socket.once('close', () => this.#end(entry, socket.errored ? 'closedByClient' : 'closedIdle'))
    setImmediate(() => setImmediate(() => { entry.isIdle = true })) // a poll for I/O lies between the two
    if (entry.until !== null) socket.setTimeout(Math.max(1, entry.until - performance.now()), () => socket.destroy())
  }

  /** @param {Entry} entry @param {Buffer} chunk */
  #admit (entry, chunk) {
    const socket = /** @type {net.Socket} */ (entry.socket)
    const rest = socket.read()
    const handle = this.release(entry)
    entry.acceptor.admit(handle, { bytes: rest ? Buffer.concat([chunk, rest]) : chunk, isPinned: entry.isPinned })
  }

  /** @param {Entry} entry @param {import('../connections/connection').Fate} fate */
  #end (entry, fate) {
    if (!this.entries.has(entry)) return
    this.#leave(entry)
    entry.socket?.destroy()
    this.emit('gone', entry, fate)
  }

  /** @param {Entry} entry @returns {any} its handle */
  #leave (entry) {
    const server = /** @type {any} */ (entry.acceptor.server)
    if (this.entries.delete(entry)) {
      server._connections--
      server._emitCloseIfDrained?.()
    }
    return entry.handle
  }
}

module.exports = { Inbox }
