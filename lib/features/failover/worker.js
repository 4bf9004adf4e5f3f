'use strict'

/**
 * In a worker: gives the primary a descriptor of each connection that lasts, and notes in shared memory what has been
 * read from it and written to it. When this process has died, that is enough to know what it was doing with each
 * connection; nothing else is ever told.
 *
 * A descriptor in another process keeps a connection open, so the client would not hear that it is closed here: it is
 * shut first.
 */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { setTimeout } = require('node:timers')
const { loadAddon } = require('../../native/addon')
const { awaitEnd, noteAdopted, noteAgain, noteFresh, readOf } = require('./begin-note')
const { MEMORY, MOST_DESCRIPTORS, MOST_PREFACES, MOST_ENDED, TICK_MS, encode } = require('./packet')
const { ANSWERED, UNKNOWN } = require('./row')
const { Table } = require('./table')
const { tellLastWrites, watchWrites, forgetWrites } = require('./write-ahead')
/** @import { ServerResponse } from 'node:http' */
/** @import { Socket } from 'node:net' */
/** @import { Handle } from '../../core/internals' */
/** @import { Connection, Exchange } from '../../worker/connections/connection' */
/** @import { WorkerKernel, WorkerPart } from '../interface' */
/** @import { Note } from './begin-note' */

const OOM_SCORE_ADJ = 100 // a worker goes before the primary, which has most to lose

class Duplicates {
  /** @type {NodeJS.Timeout | null} */
  #timer = null
  /** Connections that were added before have been looked at: ms, performance.now(). */
  #lookedUntil = 0
  /** No descriptor has been given to this primary. */
  #isAnew = false
  /** There are some that have not been open for long enough. */
  #hasYounger = false
  #sentAt = -Infinity
  /** Rows and serials of those that have ended, in turn, which the primary does not know yet. @type {number[]} */
  #ended = []

  /**
   * @param {WorkerKernel} kernel @param {import('../../native/addon').Addon} addon
   * @param {{ fd: number, close: () => void }} socket @param {Table} table
   */
  constructor ({ tracker }, addon, socket, table) {
    this.tracker = tracker
    this.addon = addon
    this.socket = socket
    this.table = table
    /** The primary has died: no process takes a descriptor. */
    this.isOver = false
    tellLastWrites((socket, response, bytes) => this.#ending(socket, response, bytes))
  }

  /** Another primary takes the descriptors, all of them anew. @param {{ fd: number, close: () => void }} socket */
  goOn (socket) {
    this.socket.close()
    this.socket = socket
    for (let i = 0; i < this.#ended.length; i += 2) this.table.free(this.#ended[i])
    this.#ended = []
    this.#lookedUntil = 0
    this.#isAnew = true
    this.isOver = false
    this.#send()
  }

  /** @param {Connection} connection one that is back from an offer is noted as before */
  added ({ copy, socket }) {
    if (socket !== null) watchWrites(socket) // before http has it, which then sees sockets of one shape
    if (copy === null && this.#timer === null) this.#sendSoon()
  }

  /** @param {Connection} connection @param {Handle} handle */
  adopted (connection, handle) {
    connection.copy = noteAdopted(connection, handle, this)
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
    const connection = this.tracker.of(socket)
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
    if (connection.socket?._handle === handle) this.addon.shut(handle.fd, isReset)
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
    if (!isTold) return this.table.free(note.row)
    this.#ended.push(note.row, note.serial)
    if (this.#timer === null) this.#sendSoon()
  }

  #sendSoon () {
    if (this.isOver) return
    this.#timer = setTimeout(() => this.#send(), Math.max(0, this.#sentAt + TICK_MS - performance.now())).unref()
  }

  /** Connections that have come and gone since the last time. */
  #send () {
    this.#timer = null
    this.#sentAt = performance.now()
    const fresh = this.#takeFresh()
    while (this.#ended.length > 0) {
      const ended = this.#ended.slice(0, 2 * MOST_ENDED)
      // A packet without a descriptor would run together with the next one
      if (!this.#pass({ ended }, [this.table.fd])) break
      this.#ended.splice(0, ended.length)
      for (let i = 0; i < ended.length; i += 2) this.table.free(ended[i])
    }
    for (const [{ key, server }, connections] of fresh) {
      const hasPrefaces = connections.some(({ preface }) => preface.length > 0)
      const most = hasPrefaces ? MOST_PREFACES : MOST_DESCRIPTORS
      for (let i = 0; i < connections.length; i += most) {
        const some = connections.slice(i, i + most)
        const prefaces = hasPrefaces ? { prefaces: some.map(({ preface }) => preface.toString('base64')) } : {}
        const begun = some.flatMap(({ copy }) => copy ? [copy.row, copy.serial] : [])
        const { keepAliveTimeout, keepAliveTimeoutBuffer = 1000 } = /** @type {import('node:http').Server} */ (server)
        const idleMs = keepAliveTimeout > 0 ? keepAliveTimeout + keepAliveTimeoutBuffer : null
        const isPassed = this.#pass(
          { key, idleMs, begun, ...prefaces }, some.map(({ socket }) => /** @type {Handle} */ (socket._handle).fd)
        )
        if (isPassed) continue
        for (const connection of some) this.#giveUp(connection)
        this.#lookedUntil = Math.min(this.#lookedUntil, ...some.map(({ since }) => since))
        this.#hasYounger = true
      }
    }
    if (this.#ended.length > 0 || this.#hasYounger) this.#sendSoon()
  }

  /** The primary has not got it. @param {Connection} connection */
  #giveUp (connection) {
    const note = /** @type {Note} */ (connection.copy)
    note.end()
    this.table.free(note.row)
    connection.copy = null
  }

  /**
   * Gives a row to those that have lasted for a tick, without a row, and can have one; anew, those that have one are
   * among them.
   * @returns {Map<import('../../worker/accepting/acceptor').Acceptor, Connection[]>}
   */
  #takeFresh () {
    const fresh = new Map()
    const from = this.#lookedUntil
    const until = this.#lookedUntil = this.#sentAt - TICK_MS // most of one request each are closed by then
    this.#hasYounger = false
    for (const connection of this.tracker.connections.backwards()) {
      if (connection.since < from) break
      if (connection.copy === null && connection.since > until) {
        this.#hasYounger = true
        continue
      }
      if ((connection.copy !== null && !this.#isAnew) || !isSuited(connection)) continue
      connection.copy ??= noteFresh(connection, this)
      if (connection.copy === null) continue
      const ofServer = fresh.get(connection.acceptor)
      if (ofServer) ofServer.push(connection)
      else fresh.set(connection.acceptor, [connection])
    }
    this.#isAnew = false
    return fresh
  }

  /** @param {import('./packet').Packet} packet @param {number[]} descriptors @returns {boolean} */
  #pass (packet, descriptors) {
    try {
      this.addon.send(this.socket.fd, encode(packet), descriptors)
      return true
    } catch {
      return false // the primary has not read the last ones yet, or has gone
    }
  }
}

/** Plain HTTP/1 over TCP, which a sibling can go on with. @param {Connection} connection */
function isSuited (connection) {
  const { acceptor, stage, socket, head, isUntouched, session, secure, isPinned, isForeign } = connection
  if (stage === 'held') return false // without a socket
  if (stage === 'served' && head === null && !isUntouched) return false // what its app reads before http is not known
  const handle = socket._handle
  return acceptor.isMovable && session === null && secure === null && !isPinned && !isForeign &&
    !connection.isEnding && typeof handle?.getpeername === 'function' && handle.fd >= 0
}

/** @param {WorkerKernel} kernel @returns {WorkerPart} */
function noteConnections (kernel) {
  const { addon } = loadAddon()
  /** @type {Table | null} */
  let table = null
  /** @type {Duplicates | null} */
  let duplicates = null
  raiseOomScore()
  kernel.channel.on({
    duplicates (_, socket) {
      if (!socket || !addon) return socket?.close()
      socket.unref()
      try {
        table ??= new Table(addon)
        addon.send(socket.fd, MEMORY, [table.fd])
        if (duplicates) duplicates.goOn(socket)
        else duplicates = kernel.tracker.witness = new Duplicates(kernel, addon, socket, table)
      } catch {
        socket.close() // the primary sees that nothing comes
      }
    }
  })
  return {
    endCalls () { if (duplicates) duplicates.isOver = true },
    figures: () => ({ noteBytes: table?.sweep() ?? 0 })
  }
}

/** The kernel is to kill a worker where it must kill one of the fleet; unless it was told otherwise. */
function raiseOomScore () {
  try {
    if (fs.readFileSync('/proc/self/oom_score_adj', 'latin1').trim() === '0') {
      fs.writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE_ADJ))
    }
  } catch {} // no /proc, or not ours to write
}

module.exports = { part: noteConnections }
