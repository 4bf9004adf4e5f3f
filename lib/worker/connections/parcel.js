'use strict'

/**
 * A connection's parcel: what goes with it from one worker to another, as lib/tables/message.js has it. Each process
 * passes it on whole.
 *
 * @typedef {object} Copy where the primary has a descriptor of a connection of a worker's
 * @property {number} row
 * @property {number} serial the number of the connection: rows are used again
 *
 * @typedef {Copy & { counted: (handle: Handle) => number[] }} Noted `counted`: how many bytes have been read and
 *   written, as the kernel has it
 */

const { performance } = require('node:perf_hooks')
const { detachHandle, takeHandle } = require('../../core/internals')
const { toWire } = require('../../core/request-replay')
const { LIGHT } = require('../../core/sharing')
/** @import { Handle } from '../../core/internals' */
/** @import { ParcelFields } from '../../tables/message' */
/** @import { Connection, Packed } from './connection' */

const NOTHING = Buffer.alloc(0)
const HANDSHAKE_MS = 120_000 // as net's by default
const HEAD_END = /[^\r\n](?:\r?\n\r?\n|\r\r)/ // as lenient parsers take it, too

/**
 * Takes the handle and the unread bytes out of a connection's socket, which closes for the app as if the client had
 * left: an idle connection's, or that of one whose request is to be handled by another worker.
 * @param {Connection} connection
 * @param {Buffer} [request] one that has been read, or a part of it, and that the app has not seen
 * @param {Packed | null} [packed] of one whose protocol is the app's @returns {ParcelFields}
 */
function pack (connection, request, packed) {
  const { socket, acceptor: { key }, exchanges: [exchange], preface, sessionId, copy, load } = connection
  const replayed = connection.replayed + (exchange ? 1 : 0)
  const deaths = connection.deaths + (exchange?.isSuspect ? 1 : 0)
  const begun = packed?.unread ?? request ?? (exchange ? toWire(exchange.head) : NOTHING)
  const unread = takeUnread(socket)
  const bytes = connection.bytes = unread.length > 0 ? Buffer.concat([begun, unread]) : begun
  const handle = connection.handle = packed?.trail ? takeHandle(socket) : detachHandle(socket)
  const leftMs = packed || request || exchange ? null : timeLeft(connection) // a request that has come is waited for
  const parcel = /** @type {ParcelFields} */ ({ key, leftMs })
  if (bytes.length > 0) parcel.bytes = bytes.toString('base64')
  else if (copy) parcel.counted = copy.counted(handle)
  if (preface.length > 0) parcel.preface = preface.toString('base64')
  if (replayed > 0) parcel.replayed = replayed
  if (deaths > 0) parcel.deaths = deaths
  if (sessionId !== null) parcel.session = sessionId
  if (load >= LIGHT) parcel.load = Math.round(1e5 * load) / 1e5
  if (copy) parcel.row = copy.row
  if (packed) {
    parcel.kind = packed.kind
    parcel.state = packed.state.toString('base64')
    if (packed.trail) parcel.isFollowed = true
  }
  return parcel
}

/**
 * @param {Connection} connection whose socket is to be made of it @param {ParcelFields} parcel @param {Handle} handle
 */
function unpack (connection, parcel, handle) {
  const { leftMs, bytes, preface, replayed = 0, deaths = 0, session = null, isOwned = false, load = 0 } = parcel
  connection.parcel = parcel
  connection.handle = handle
  connection.socket = /** @type {never} */ (null)
  connection.head = null
  connection.isAdopted = true
  connection.bytes = decode(bytes)
  connection.preface = decode(preface)
  connection.replayed = replayed
  connection.deaths = deaths
  connection.sessionId = session
  // Of a part of a head the session is not known yet
  connection.isSettled = bytes !== undefined && HEAD_END.test(connection.bytes.toString('latin1'))
  connection.isOwned = isOwned
  connection.load = load
  connection.since = performance.now()
  connection.until = leftMs === null ? null : connection.since + leftMs
}

/** @param {string | undefined} text */
const decode = text => text === undefined ? NOTHING : Buffer.from(text, 'base64')

/**
 * Bytes that have been read from the handle, or put back by the app, and not consumed.
 * @param {import('node:net').Socket} socket @returns {Buffer}
 */
function takeUnread (socket) {
  if (socket.readableLength === 0) return NOTHING
  socket.removeAllListeners('data') // read() would emit it, for the parser
  return socket.read() ?? NOTHING
}

/**
 * How long this idle connection may stay open: in the inbox what is left of its time, else what its server grants it.
 * @param {Connection} connection @returns {number | null} milliseconds, at least 1; null: for ever
 */
function timeLeft ({ stage, until, hasResponded, idleSince, since, acceptor }) {
  if (stage === 'waiting') return until === null ? null : Math.max(1, Math.ceil(until - performance.now()))
  const server = /** @type {import('node:http').Server & { keepAliveTimeoutBuffer?: number }} */ (acceptor.server)
  const limits = acceptor.isTls
    ? [HANDSHAKE_MS]
    : hasResponded
      ? [server.keepAliveTimeout && server.keepAliveTimeout + (server.keepAliveTimeoutBuffer ?? 1000)].filter(Boolean)
      : [server.headersTimeout, server.requestTimeout].filter(limit => limit > 0)
  if (limits.length === 0) return null
  const limit = Math.min(...limits)
  const now = performance.now()
  const left = Math.round(limit - (now - (hasResponded ? idleSince ?? now : since)))
  if (left > 0) return left
  // Still open: the rest of a request's body came after its response, and Node counts anew
  return hasResponded ? limit : 1
}

module.exports = { pack, unpack, takeUnread, timeLeft }
