'use strict'

/**
 * A connection on its way from one worker to another. It is passed on whole by each process, so that a further property
 * is declared here and in lib/tables/message.js alone.
 *
 * @typedef {Required<Omit<ParcelFields, keyof Own>> & Own} Parcel
 *
 * @typedef {object} Own what is not as in the message
 * @property {Handle} handle TCP or pipe; the message comes with it, unless the primary has it by `row`
 * @property {Buffer} bytes @property {Buffer} preface @property {Buffer} state
 * @property {string | null} session @property {number | null} row @property {boolean} [byLoad]
 * @property {string | null} kind null: it is the server's
 *
 * @typedef {object} Copy where the primary has a descriptor of a connection of a worker's
 * @property {number} row
 * @property {number} serial the number of the connection: rows are used again
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
 * @param {Packed | null} [packed] of one whose protocol is the app's @returns {Parcel}
 */
function pack (connection, request, packed) {
  const { socket, acceptor: { key }, exchanges: [exchange], replayed, deaths } = connection
  const { preface, sessionId: session, copy, load, byLoad } = connection
  const begun = packed?.unread ?? request ?? (exchange ? toWire(exchange.head) : NOTHING)
  const bytes = Buffer.concat([begun, takeUnread(socket)])
  const leftMs = packed || request || exchange ? null : timeLeft(connection) // a request that has come is waited for
  const isFollowed = Boolean(packed?.trail)
  return { // by name: spread, they cost a third more
    handle: isFollowed ? takeHandle(socket) : detachHandle(socket), key, leftMs, bytes, preface, session, load, byLoad,
    replayed: replayed + (exchange ? 1 : 0), deaths: deaths + (exchange?.isSuspect ? 1 : 0), isOwned: false,
    row: copy && copy.row, kind: packed?.kind ?? null, state: packed?.state ?? NOTHING, isFollowed
  }
}

/** @param {Connection} connection whose socket is to be made of it @param {Parcel} parcel */
function unpack (connection, parcel) {
  connection.parcel = parcel
  connection.socket = /** @type {any} */ (null)
  connection.head = null
  connection.isAdopted = true
  connection.preface = parcel.preface
  connection.replayed = parcel.replayed
  connection.deaths = parcel.deaths
  connection.sessionId = parcel.session
  // Of a part of a head the session is not known yet
  connection.isSettled = HEAD_END.test(parcel.bytes.toString('latin1'))
  connection.isOwned = parcel.isOwned
  connection.load = parcel.load
  connection.since = performance.now()
  connection.until = parcel.leftMs === null ? null : connection.since + parcel.leftMs
}

/**
 * Bytes that have been read from the handle, or put back by the app, and not consumed.
 * @param {import('node:net').Socket} socket @returns {Buffer}
 */
function takeUnread (socket) {
  if (socket.readableLength === 0) return NOTHING
  socket.removeAllListeners('data') // read() would emit it, for the parser
  return socket.read() ?? NOTHING
}

/** @param {Parcel} parcel @returns {ParcelFields} */
function toFields (parcel) {
  const { key, leftMs, bytes, preface, replayed, deaths, session, row, load, byLoad } = parcel
  const { kind, state, isFollowed } = parcel
  return {
    key,
    leftMs,
    ...(bytes.length > 0 && { bytes: bytes.toString('base64') }),
    ...(preface.length > 0 && { preface: preface.toString('base64') }),
    ...(replayed > 0 && { replayed }),
    ...(deaths > 0 && { deaths }),
    ...(session !== null && { session }),
    ...(load >= LIGHT && { load: Math.round(1e5 * load) / 1e5 }),
    ...(byLoad && { byLoad }),
    ...(row !== null && { row }),
    ...(kind !== null && { kind, state: state.toString('base64') }),
    ...(isFollowed && { isFollowed })
  }
}

/** @param {ParcelFields} fields @param {Handle} handle @returns {Parcel} */
function fromFields (fields, handle) {
  const { key, leftMs, bytes, preface, replayed = 0, deaths = 0, session = null } = fields
  const { isOwned = false, load = 0, kind = null, state, isFollowed = false } = fields
  const decode = (/** @type {string | undefined} */ text) => text === undefined ? NOTHING : Buffer.from(text, 'base64')
  const [read, before, ofApp] = [decode(bytes), decode(preface), decode(state)]
  return {
    handle, key, leftMs, bytes: read, preface: before, replayed, deaths, session, isOwned, row: null, load, kind,
    state: ofApp, isFollowed
  }
}

/**
 * How long this idle connection may stay open: in the inbox what is left of its time, else what its server grants it.
 * @param {Connection} connection @returns {number | null} milliseconds, at least 1; null: for ever
 */
function timeLeft ({ stage, until, idleSince, since, acceptor }) {
  if (stage === 'waiting') return until === null ? null : Math.max(1, until - performance.now())
  const server = /** @type {import('node:http').Server & { keepAliveTimeoutBuffer?: number }} */ (acceptor.server)
  const limits = acceptor.isTls
    ? [HANDSHAKE_MS]
    : idleSince === null
      ? [server.headersTimeout, server.requestTimeout].filter(limit => limit > 0)
      : [server.keepAliveTimeout && server.keepAliveTimeout + (server.keepAliveTimeoutBuffer ?? 1000)].filter(Boolean)
  if (limits.length === 0) return null
  const limit = Math.min(...limits)
  const left = Math.round(limit - Math.max(0, performance.now() - (idleSince ?? since)))
  if (left > 0) return left
  // Still open: the rest of a request's body came after its response, and Node counts anew
  return idleSince === null ? 1 : limit
}

module.exports = { pack, unpack, takeUnread, toFields, fromFields, timeLeft }
