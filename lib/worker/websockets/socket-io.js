'use strict'

/**
 * Clients of Socket.IO 4 that speak WebSocket go to another worker: to Socket.IO there each is one that comes back and
 * whose state is recovered, with its id, rooms and data; the client hears a second `connect` for it, and no
 * `disconnect`. Used are the protocol (https://socket.io/docs/v4/socket-io-protocol/), what Engine.IO documents, the
 * two functions of an adapter by which Socket.IO recovers states, and two names that are marked private: `_nsps`, the
 * namespaces that are there, and a socket's `pid`.
 *
 * A client goes between two packets, when nothing is to be sent to it, and no acknowledgement is awaited in either
 * direction: for ten seconds at the most, since one may never come. For a moment it is a client of both workers
 * (overlap.js), as any WebSocket; then it is disconnected here, for the reason `moved`.
 */

const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { setTimeout: delay } = require('node:timers/promises')
const { FrameBoundary } = require('./frame-boundary')
const { payloadOf } = require('./frames')
const { MOVED, followed, requestOf, skipResponse } = require('./moved-socket')
const { overlaps } = require('./overlap')
const { closeAtDrain } = require('./restart-close')
const { Packets } = require('./socket-io-packets')
/** @import { IncomingMessage } from 'node:http' */
/** @import { Socket } from 'node:net' */

const KIND = 'socket.io'
const OFFSET = 'moved'
const PROBE_FRAMES = 2 // with which a client upgrades from polling
const ENDING_SHARE = 0.5 // of the time until what is open is cut
const LONGEST_ENDING_MS = 5000
const TEXT = 1
const EVENT = /^4[25]/ // without a number: none with one is for more than one client
const PACKET_OFFSET = /,"[\w-]{6,}(\.[\w-]+)?"\]$/ // which an adapter adds to an event, for those that come back

/**
 * @typedef {object} Session as an adapter has it
 * @property {string} sid @property {string} pid @property {string[]} rooms @property {unknown} data
 *
 * @typedef {object} Member a client in one namespace
 * @property {string} namespace
 * @property {Record<string, unknown>} auth as the client has given it
 * @property {Session} session
 *
 * @typedef {import('node:events').EventEmitter & { id: string, protocol: number, readyState: string, transport:
 *   { name: string }, request: IncomingMessage, close: () => void }} Conn engine.io's, as far as it is used here
 * @typedef {import('node:events').EventEmitter & { conn: Conn, nsp: { name: string }, id: string, pid?: string, rooms:
 *   Set<string>, data: unknown, handshake: { auth: Record<string, unknown> } }} Client of a namespace
 * @typedef {Record<'url' | 'httpVersion', string> & { rawHeaders: string[], members: Member[] }} Kept goes with one
 */

/**
 * @param {any} io a Server of socket.io @param {Pick<import('./web-sockets').How, 'rebalance'>} how
 * @param {import('./restart-close').MovingApi} api
 * @throws {Error} if states are not kept
 */
function moveSocketIo (io, { rebalance }, { movable, onMoved, onDrain, onAlone, said }) {
  if (typeof io?.of !== 'function') {
    throw new TypeError('socketIO() takes a Server of the package socket.io; ' +
      `it is ${typeof io === 'object' ? 'another object' : String(io)}`)
  }
  const { engine } = io
  if (!engine) throw new Error('socketIO() is to be called when Socket.IO is attached to its HTTP server')
  if (!io.opts.connectionStateRecovery) {
    throw new Error('clients of Socket.IO move as those whose state is recovered: new Server(server, ' +
      '{ connectionStateRecovery: {} })')
  }
  // Packets that are not read here, and a window that cannot go to another process
  if (io.opts.parser || engine.opts.perMessageDeflate) return
  /** Messages that have come, until its clients are there. @type {Map<string, Session>} */
  const arriving = new Map()
  /** Of each engine's connection. @type {WeakMap<Conn, Set<Client>>} */
  const members = new WeakMap()
  const spaces = new WeakSet()
  /** The state with which a connection that has come is to begin. @type {WeakMap<IncomingMessage, Buffer>} */
  const held = new WeakMap()
  /** Of each WebSocket, by its request. @type {WeakMap<IncomingMessage, FrameBoundary>} */
  const boundaries = new WeakMap()
  /** The requests that upgrade from polling, by the connection's id. @type {Map<string, IncomingMessage>} */
  const upgrades = new Map()
  /** Of each connection that is a WebSocket. @type {WeakMap<object, Socket>} */
  const socketOf = new WeakMap()
  const close = (/** @type {Conn} */ conn) => { // its client comes back by itself
    said.restarted(/** @type {Socket} */ (socketOf.get(conn)), isLast())
    conn.close()
  }

  /** @param {any} namespace */
  function watchNamespace (namespace) {
    if (spaces.has(namespace)) return
    spaces.add(namespace)
    const { adapter } = namespace
    const { restoreSession } = adapter
    adapter.restoreSession = async (/** @type {string} */ pid, /** @type {string} */ offset) => {
      const session = offset === OFFSET ? arriving.get(nameOf(namespace.name, pid)) : undefined
      arriving.delete(nameOf(namespace.name, pid))
      return session ? { ...session, missedPackets: [] } : restoreSession.call(adapter, pid, offset)
    }
    namespace.prependListener('connection', (/** @type {Client} */ socket) => {
      /** @type {Set<Client>} */
      const of = members.get(socket.conn) ?? new Set()
      members.set(socket.conn, of.add(socket))
      socket.once('disconnect', () => of.delete(socket))
    })
  }

  /**
   * @param {Conn} conn @param {IncomingMessage} request
   * @param {number} framesBefore that were no packets of it
   */
  function track (conn, request, framesBefore) {
    const packets = new Packets(conn)
    socketOf.set(conn, request.socket)
    const boundary = boundaries.get(request)
    if (!boundary) return
    movable(request.socket, KIND, () => {
      const unread = boundary.rest
      const isBetween = unread !== null && packets.received + framesBefore >= boundary.frames
      const sockets = [...members.get(conn) ?? []]
      if (conn.readyState !== 'open' || conn.transport.name !== 'websocket' || !isBetween || packets.isBusy ||
        sockets.length === 0 || overlaps(request.socket)) {
        return null
      }
      const state = sockets.map(({ nsp, id, pid, rooms, data, handshake: { auth } }) => ({
        namespace: nsp.name,
        auth,
        session: { sid: id, pid: pid ?? randomBytes(12).toString('base64url'), rooms: [...rooms], data }
      }))
      const { url, rawHeaders, httpVersion } = request
      const follow = followed(request.socket, () => closeAsMoved(conn))
      return { state: { url, rawHeaders, httpVersion, members: state }, unread, follow }
    }, { rebalance, end: () => setImmediate(close, conn) })
  }

  // Servers that the app has made before
  for (const namespace of io._nsps?.values() ?? [io.of('/')]) watchNamespace(namespace)
  io.on('new_namespace', watchNamespace)
  engine.on('connection', (/** @type {Conn} */ conn) => {
    if (conn.protocol !== 4) return
    if (conn.transport.name === 'websocket') {
      const { request } = conn
      track(conn, request, 0)
      const bytes = held.get(request)
      if (!bytes) return
      request.socket.unshift(bytes)
      return request.socket.resume()
    }
    conn.once('upgrade', () => {
      const request = upgrades.get(conn.id)
      if (request) track(conn, request, PROBE_FRAMES)
    })
  })
  engine.on('headers', (/** @type {unknown} */ _, /** @type {IncomingMessage} */ request) => {
    if (request.headers.upgrade === undefined) return
    const boundary = new FrameBoundary()
    boundaries.set(request, boundary)
    const { socket } = request
    socket.prependListener('data', (/** @type {Buffer} */ chunk) => said.heard(socket, boundary.push(chunk)))
    const sid = new URL(String(request.url), 'http://here').searchParams.get('sid')
    if (!sid) return
    upgrades.set(sid, request)
    socket.once('close', () => upgrades.delete(sid))
  })

  const isWebSocket = (/** @type {Conn} */ conn) => conn.transport.name === 'websocket'
  const isLast = closeAtDrain({ onDrain, onAlone }, {
    all: () => Object.values(engine.clients).filter(isWebSocket),
    canGo: conn => members.has(conn),
    close
  })
  onDrain(({ deadlineMs }) => endPolling(engine, deadlineMs * ENDING_SHARE))
  onMoved(KIND,
    (/** @type {Socket} */ socket, /** @type {Kept} */ state, /** @type {Buffer} */ unread,
      /** @type {import('../../features/migration/trails').Arrived | null} */ arrived) => {
      const { url, rawHeaders, httpVersion, members } = state
      const here = new URL(url, 'http://here')
      here.searchParams.delete('sid')
      const request = requestOf(socket, { url: `${here.pathname}${here.search}`, rawHeaders, httpVersion })
      for (const { namespace, session } of members) {
        const key = nameOf(namespace, session.pid)
        arriving.set(key, session)
        socket.once('close', () => arriving.delete(key)) // the new code may not have the namespace
      }
      const joins = members.map(({ namespace, auth, session: { pid } }) =>
        textFrame(`40${namespace === '/' ? '' : `${namespace},`}${JSON.stringify({ ...auth, pid, offset: OFFSET })}`))
      skipResponse(socket, arrived, { keyOf, close: () => socket.destroy() })
      socket.pause() // what is read before the engine listens would be lost
      held.set(request, Buffer.concat([...joins, unread]))
      engine.handleUpgrade(request, socket, Buffer.alloc(0))
    })
}

/**
 * A client that polls has no connection of its own that could go: each of its requests is answered from a session in
 * this process. So its session ends, and it comes back to another worker.
 * @param {import('node:events').EventEmitter & { clients: Record<string, Conn> }} engine
 * @param {number} withinMs clients come back one after the other
 */
async function endPolling (engine, withinMs) {
  const isPolling = (/** @type {Conn} */ conn) => conn.transport.name === 'polling' && engine.clients[conn.id] === conn
  engine.on('connection', (/** @type {Conn} */ conn) => { if (isPolling(conn)) conn.close() })
  await Promise.all(Object.values(engine.clients).filter(isPolling).map(async (conn, i, all) => {
    await delay(Math.min(withinMs, LONGEST_ENDING_MS) * i / all.length)
    if (!isPolling(conn)) return
    const gone = Promise.race([once(conn, 'close'), once(conn, 'upgrade')])
    conn.close()
    await gone
  }))
}

/** @param {Conn} conn its transport is about to close */
function closeAsMoved (conn) {
  const { emit } = conn
  conn.emit = (/** @type {string} */ event, /** @type {unknown[]} */ ...args) =>
    Reflect.apply(emit, conn, event === 'close' ? ['close', MOVED] : [event, ...args])
}

/**
 * The traits that an event has in common with the same one of another worker.
 * @param {Buffer} message @returns {Buffer | string | null} null: it is a packet of Engine.IO's own
 */
function keyOf (message) {
  if ((message[0] & 0x0f) !== TEXT) return message
  const text = String(payloadOf(message))
  if (!text.startsWith('4')) return null
  return EVENT.test(text) ? text.replace(PACKET_OFFSET, ']') : text
}

/** @param {string} namespace @param {string} id */
const nameOf = (namespace, id) => `${namespace},${id}`

/** @param {string} text @returns {Buffer} as a client sends it, with a mask that changes nothing */
function textFrame (text) {
  const payload = Buffer.from(text)
  const size = Buffer.alloc(payload.length < 126 ? 1 : 9, payload.length)
  if (size.length > 1) size.writeBigUInt64BE(BigInt(payload.length), 1)
  size[0] = 0x80 | (size.length > 1 ? 127 : payload.length)
  return Buffer.concat([Buffer.from([0x81]), size, Buffer.alloc(4), payload])
}

module.exports = { moveSocketIo }
