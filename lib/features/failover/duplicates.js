'use strict'

/** In a worker: gives the primary a descriptor of each connection that lasts, and tells which have ended. */

const { performance } = require('node:perf_hooks')
const { setTimeout } = require('node:timers')
const { noteFresh } = require('./notes')
const { MOST_DESCRIPTORS, MOST_PREFACES, MOST_ENDED, TICK_MS, encode } = require('./packet')
/** @import { Handle } from '../../core/internals' */
/** @import { Addon } from '../../native/addon' */
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { WorkerKernel } from '../interface' */
/** @import { Note } from './notes' */
/** @import { Table } from './table' */

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
   * @param {WorkerKernel} kernel @param {Addon} addon
   * @param {{ fd: number, close: () => void }} socket @param {Table} table
   */
  constructor ({ tracker }, addon, socket, table) {
    this.tracker = tracker
    this.addon = addon
    this.socket = socket
    this.table = table
    /** The primary has died: no process takes a descriptor. */
    this.isOver = false
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

  /**
   * The row of a connection is of no use any more.
   * @param {Note} note @param {boolean} isTold the primary is to be told
   */
  ended (note, isTold) {
    if (!isTold) return this.table.free(note.row)
    this.#ended.push(note.row, note.serial)
    this.sendSoon()
  }

  /** Connections have come or gone. */
  sendSoon () {
    if (this.#timer !== null || this.isOver) return
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
    if (this.#ended.length > 0 || this.#hasYounger) this.sendSoon()
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

module.exports = { Duplicates }
