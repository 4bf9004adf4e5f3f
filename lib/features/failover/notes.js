'use strict'

/**
 * In a worker: what has been read from each connection and written to it is noted in shared memory, step by step. When
 * this process has died, that is enough to know what it was doing with each; nothing else is ever told.
 *
 * A descriptor in another process keeps a connection open, so the client would not hear that it is closed here: it is
 * shut first.
 */

const { performance } = require('node:perf_hooks')
const { isWithinMessage, mostFieldsOf, onMessageEnd } = require('../../core/internals')
const { isBodyless, toWire } = require('../../core/request-replay')
const { ANSWERED, UNKNOWN } = require('./row')
const { tellLastWrites, watchWrites, forgetWrites } = require('./write-ahead')
/** @import { ServerResponse } from 'node:http' */
/** @import { Socket } from 'node:net' */
/** @import { Handle } from '../../core/internals' */
/** @import { Addon } from '../../native/addon' */
/** @import { Connection, Exchange } from '../../worker/connections/connection' */
/** @import { Duplicates } from './duplicates' */
/** @import { Table } from './table' */

/** @typedef {NonNullable<ReturnType<Table['take']>>} Note @typedef {Readonly<{ addon: Addon, table: Table }>} Memory */

/** Hears of each step of a connection: the tracker's witness. */
class Notes {
  /** @param {Duplicates} duplicates */
  constructor (duplicates) {
    this.duplicates = duplicates
    tellLastWrites((socket, response, bytes) => this.#ending(socket, response, bytes))
  }

  /** @param {Connection} connection one that is back from an offer is noted as before */
  added ({ copy, socket }) {
    if (socket !== null) watchWrites(socket) // before http has it, which then sees sockets of one shape
    if (copy === null) this.duplicates.sendSoon()
  }

  /** @param {Connection} connection @param {Handle} handle */
  adopted (connection, handle) {
    connection.copy = noteAdopted(connection, handle, this.duplicates)
  }

  /** The app is about to be given this request. @param {Connection} connection @param {Exchange} exchange */
  begun (connection, exchange) {
    const note = /** @type {Note | null} */ (connection.copy)
    if (note === null) {
      exchange.since ??= performance.now() // the note is to say how old it is
      return
    }
    watchWrites(connection.socket)
    note.see()
    if (note.isUncertain) process.nextTick(noteAgain, connection, exchange)
  }

  /**
   * A response is about to be handed to the kernel to its end.
   * @param {Socket} socket @param {ServerResponse} response @param {number} bytes of it
   */
  #ending (socket, response, bytes) {
    const connection = this.duplicates.tracker.of(socket)
    const note = /** @type {Note | null | undefined} */ (connection?.copy)
    const { _handle: handle } = socket
    if (!connection || !note || !handle || connection.exchanges.length === 0) return
    const isLast = connection.exchanges.length === 1
    note.announce(
      isLast ? readOf(note, connection) : UNKNOWN, note.writtenBefore + handle.bytesWritten + bytes,
      response._last === true
    )
  }

  /** @param {Connection} connection @param {ServerResponse} response */
  finished (connection, response) {
    const { copy, socket, exchanges } = connection
    const note = /** @type {Note | null} */ (copy)
    const { _handle: handle } = socket
    if (note === null || !handle) return
    const hasMore = exchanges.length > 0
    const read = hasMore ? UNKNOWN : readOf(note, connection)
    note.rest(read, note.writtenBefore + handle.bytesWritten, response._last === true, hasMore)
    if (read === ANSWERED) awaitEnd(connection, note)
  }

  /** @param {Connection} connection */
  threw ({ copy }) {
    /** @type {Note | null} */ (copy)?.threw()
  }

  /** @param {Connection} connection @param {Handle} handle @param {boolean} isReset */
  closing (connection, handle, isReset) {
    if (!connection.copy) return
    // Else another process has it: a sibling, or a child of the app's.
    if (connection.socket?._handle === handle) this.duplicates.addon.shut(handle.fd, isReset)
    // The primary has taken its copy of one that it has passed on by the row
    this.#end(connection, connection.fate !== 'moved' || connection.parcel?.row === undefined)
  }

  /** @param {Connection} connection */
  stays (connection) {
    if (connection.socket !== null) forgetWrites(connection.socket)
    if (connection.copy) this.#end(connection)
  }

  /** @param {Connection} connection @param {boolean} [isTold] the primary is to be told */
  #end (connection, isTold = true) {
    const note = /** @type {Note} */ (connection.copy)
    note.end()
    connection.copy = null
    this.duplicates.ended(note, isTold)
  }
}

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

module.exports = { Notes, noteFresh }
