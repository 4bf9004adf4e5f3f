'use strict'

/** In a worker: the notes of connections begin by how much is known to have been read of each. */

const { performance } = require('node:perf_hooks')
const { isWithinMessage, mostFieldsOf, onMessageEnd } = require('../../core/internals')
const { isBodyless, toWire } = require('../../core/request-replay')
const { ANSWERED, UNKNOWN } = require('./row')
const { watchWrites } = require('./write-ahead')
/** @import { Handle } from '../../core/internals' */
/** @import { Addon } from '../../native/addon' */
/** @import { Connection, Exchange } from '../../worker/connections/connection' */
/** @import { Table } from './table' */

/** @typedef {NonNullable<ReturnType<Table['take']>>} Note @typedef {Readonly<{ addon: Addon, table: Table }>} Memory */

/**
 * Of a connection that has come from a sibling.
 * @param {Connection} connection @param {Handle} handle @param {Memory} memory
 * @returns {Note | null} null: no row is free
 */
function noteAdopted (connection, handle, memory) {
  const { bytes, parcel } = connection
  const counted = parcel?.counted ?? memory.addon.bytesOf(handle.fd)
  const note = counted ? take(connection, handle, counted, memory) : null
  if (!counted || !note) return null
  const [read, written] = counted
  note.begin(read - bytes.length, written, { bytes, deaths: connection.deaths })
  return note
}

/**
 * Of a connection that has been open for a while.
 * @param {Connection} connection @param {Memory} memory @returns {Note | null} null: no row is free
 */
function noteFresh (connection, memory) {
  const { socket, exchanges: [exchange], stage, isAdopted, parcel, deaths } = connection
  const handle = /** @type {Handle} */ (socket._handle)
  const counted = isAdopted ? memory.addon.bytesOf(handle.fd) : [handle.bytesRead, handle.bytesWritten]
  const note = counted ? take(connection, handle, counted, memory) : null
  if (!counted || !note) return null
  const [read, written] = counted
  if (exchange) {
    const bytes = bytesOf(connection)
    watchWrites(socket)
    note.isUncertain = bytes === null
    note.begin(bytes ? read - bytes.length : UNKNOWN, note.writtenBefore + exchange.written, {
      bytes: bytes ?? undefined, deaths, isSeen: true, ageMs: ageOf(exchange)
    })
    return note
  }
  const isUnread = stage !== 'served' || (handle.bytesRead === 0 && !parcel)
  const part = isUnread ? null : connection.head?.part ?? null
  const at = isUnread ? read : part?.length ? read - part.length : readOf(note, connection)
  note.begin(socket.writableLength === 0 ? at : UNKNOWN, written, { bytes: part ?? undefined, deaths })
  if (at === ANSWERED) awaitEnd(connection, note)
  return note
}

/**
 * The chunk is parsed in which the head has ended of a request whose beginning is not kept.
 * @param {Connection} connection @param {Exchange} exchange
 */
function noteAgain (connection, exchange) {
  const note = /** @type {Note | null} */ (connection.copy)
  const { socket, exchanges: [first] } = connection
  const bytes = first === exchange && bytesOf(connection)
  if (!note || !bytes) return
  const handle = /** @type {Handle} */ (socket._handle)
  note.isUncertain = false
  note.begin(note.readBefore + handle.bytesRead - bytes.length, note.writtenBefore + exchange.written, {
    bytes, deaths: connection.deaths, isSeen: true, ageMs: ageOf(exchange)
  })
}

/** @param {Exchange} exchange @returns {number} ms */
const ageOf = ({ since }) => since === null ? 0 : performance.now() - since

/** The rest of the body of a request that is answered is to come. @param {Connection} connection @param {Note} note */
function awaitEnd (connection, note) {
  const { socket } = connection
  onMessageEnd(socket, () => process.nextTick(() => { // the chunk is parsed by then
    const handle = /** @type {Handle} */ (socket._handle)
    if (connection.copy !== note || connection.exchanges.length > 0 || !handle) return
    note.rest(readOf(note, connection), note.writtenBefore + handle.bytesWritten, false, false)
  }))
}

/**
 * How much had been read of a connection that has answered all its requests.
 * @param {Note} note of which a part is uncertain from here on, if the next head has begun
 * @param {Connection} connection @returns {number} or ANSWERED, or UNKNOWN
 */
function readOf (note, { socket, head }) {
  const isBetween = head?.isBetweenMessages === true
  note.isUncertain = !isBetween
  if (isBetween && socket.readableLength === 0) {
    return note.read ?? note.readBefore + /** @type {Handle} */ (socket._handle).bytesRead
  }
  return isWithinMessage(socket) ? ANSWERED : UNKNOWN
}

/**
 * The bytes of a connection's only request, if nothing has come behind it.
 * @param {Connection} connection @returns {Buffer | null} null: more has come, or a part of it is not known
 */
function bytesOf ({ socket, head: bytes, exchanges: [{ head }, ...more] }) {
  if (more.length > 0 || socket.readableLength > 0 || bytes?.isBetweenMessages !== true) return null
  const mostFields = mostFieldsOf(socket)
  return isBodyless(head) && (mostFields === 0 || head.headers.length < mostFields) ? toWire(head) : null
}

/**
 * @param {Connection} connection @param {Handle} handle @param {number[]} counted bytes read and written, by the kernel
 * @param {Memory} memory @returns {Note | null}
 */
function take ({ id }, handle, [read, written], { table }) {
  const note = table.take(handle.fd, id)
  if (note === null) return null
  note.readBefore = read - handle.bytesRead
  note.writtenBefore = written - handle.bytesWritten
  return note
}

module.exports = { noteAdopted, noteFresh, noteAgain, awaitEnd, readOf }
