'use strict'

/**
 * Where connections from a sibling wait for their next request.
 *
 * An adopted connection does not become the server's before its first bytes are here. As the server's it would have no
 * keepAliveTimeout until its next response, and would be sent a 408 nobody asked for once headersTimeout has passed. In
 * the lobby it keeps what was left of its time, and as nothing has been read from it, it can move again at once.
 *
 *     adopt ──▶ held ──keep──▶ waiting ──first bytes──▶ gate.admit(): the server's from here on
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
const { detachHandle } = require('../core/internals')

/**
 * @typedef {object} Guest
 * @property {any} handle
 * @property {import('./gate').Gate} gate
 * @property {number} since ms, performance.now(), when it came
 * @property {number | null} until ms, performance.now(), when it is to be closed; null: never
 * @property {boolean} isPinned it came back from an offer, and stays
 * @property {boolean} isIdle it has been listened to: what had come while it was on its way would have been read
 * @property {net.Socket | null} socket reads its first bytes; null while it is held
 */

/** Emits `gone` with a guest and its fate. */
class Lobby extends EventEmitter {
  /** @type {Set<Guest>} */
  guests = new Set()
  /** @type {Map<number, Guest>} */
  #held = new Map()

  /**
   * @param {import('./link').Link} link
   * @param {Set<import('./gate').Gate>} gates
   * @param {import('./admission').Admission} admission
   */
  constructor (link, gates, admission) {
    super()
    this.admission = admission
    this.isClosed = false
    link.on({
      adopt: ({ id, key, leftMs }, handle) => {
        const gate = [...gates].find(g => g.key === key)
        const why = this.#whyNot(gate, handle)
        if (why || !gate) {
          handle?.close()
          return link.send('refused', { id, why })
        }
        this.#held.set(id, this.#welcome(handle, gate, leftMs, false))
        link.send('adopted', { id })
      },
      keep: ({ id }) => {
        const guest = this.#held.get(id)
        this.#held.delete(id)
        if (guest && this.guests.has(guest)) this.#wait(guest)
      },
      drop: ({ id }) => {
        const guest = this.#held.get(id)
        this.#held.delete(id)
        if (!guest) return
        this.#leave(guest).close()
        this.emit('gone', guest, 'moved')
      }
    })
  }

  /** Guests that may move again. */
  get movable () {
    // A socket that is destroyed has no handle any more, and is here until its `close`.
    return [...this.guests].filter(guest => guest.socket !== null && !guest.socket.destroyed && !guest.isPinned)
  }

  /** An offer of ours came back: it is served here to its end. @param {any} handle @param {import('./gate').Gate} gate @param {number | null} leftMs @returns {Guest} */
  takeBack (handle, gate, leftMs) {
    const guest = this.#welcome(handle, gate, leftMs, true)
    this.#wait(guest)
    return guest
  }

  /** Takes a waiting guest out, to be offered to a sibling. @param {Guest} guest @returns {any} its handle */
  release (guest) {
    const handle = detachHandle(guest.socket)
    this.#leave(guest)
    return handle
  }

  /** The primary is gone and will not say `keep`: the sender has let go of its copy, so these are ours. */
  keepAll () {
    for (const guest of this.#held.values()) {
      if (this.guests.has(guest)) this.#wait(guest)
    }
    this.#held.clear()
  }

  /** Closes who has been idle here for so long; of one server, where it is given. @param {number} idleMs @param {import('./gate').Gate} [gate] */
  close (idleMs, gate) {
    const latest = performance.now() - idleMs
    for (const guest of this.guests) {
      if (guest.socket && guest.isIdle && guest.since <= latest && (!gate || guest.gate === gate)) guest.socket.destroy()
    }
  }

  /** @param {import('./gate').Gate | undefined} gate @param {any} handle */
  #whyNot (gate, handle) {
    if (!handle) return 'no connection came with the message'
    if (this.isClosed) return 'this worker is leaving'
    if (this.admission.isOut) return 'this worker is out of rotation'
    if (this.admission.isAtCeiling) return 'no descriptors are left'
    if (!gate) return 'nothing listens there'
    if (!gate.isMovable) return 'connections of this server do not move'
    const server = /** @type {any} */ (gate.server)
    if (server.maxConnections && server._connections >= server.maxConnections) return 'maxConnections is reached'
    return null
  }

  /** @param {any} handle @param {import('./gate').Gate} gate @param {number | null} leftMs @param {boolean} isPinned */
  #welcome (handle, gate, leftMs, isPinned) {
    const since = performance.now()
    const until = leftMs === null ? null : since + leftMs
    const guest = /** @type {Guest} */ ({ handle, gate, since, until, isPinned, isIdle: false, socket: null })
    const server = /** @type {any} */ (gate.server)
    this.guests.add(guest)
    server._connections++
    return guest
  }

  /** @param {Guest} guest */
  #wait (guest) {
    const socket = new net.Socket(/** @type {net.SocketConstructorOpts} */ ({ handle: guest.handle, allowHalfOpen: true }))
    guest.socket = socket
    socket.on('error', () => {}) // a reset: `close` follows
    socket.once('data', chunk => this.#admit(guest, chunk))
    socket.once('end', () => this.#end(guest, 'closedByClient'))
    socket.once('close', () => this.#end(guest, socket.errored ? 'closedByClient' : 'closedIdle'))
    setImmediate(() => setImmediate(() => { guest.isIdle = true })) // a poll for I/O lies between the two
    if (guest.until !== null) socket.setTimeout(Math.max(1, guest.until - performance.now()), () => socket.destroy())
  }

  /** @param {Guest} guest @param {Buffer} chunk */
  #admit (guest, chunk) {
    const socket = /** @type {net.Socket} */ (guest.socket)
    const rest = socket.read()
    const handle = this.release(guest)
    guest.gate.admit(handle, { bytes: rest ? Buffer.concat([chunk, rest]) : chunk, isPinned: guest.isPinned })
  }

  /** @param {Guest} guest @param {import('./connection').Fate} fate */
  #end (guest, fate) {
    if (!this.guests.has(guest)) return
    this.#leave(guest)
    guest.socket?.destroy()
    this.emit('gone', guest, fate)
  }

  /** @param {Guest} guest @returns {any} its handle */
  #leave (guest) {
    const server = /** @type {any} */ (guest.gate.server)
    if (this.guests.delete(guest)) {
      server._connections--
      server._emitCloseIfDrained?.()
    }
    return guest.handle
  }
}

module.exports = { Lobby }
