'use strict'

/** In a worker: its rows, in memory that the primary can read when this process is dead; mapped as it is needed. */

const {
  ROW_BYTES, MOST_ROWS, PLACES, SPILL, MEMORY_BYTES, SERIAL, FLAGS, LATEST, SEEN, THREW, DEATH, STATES, KEPT, CLOSES
} = require('./row')
/** @import { Handle } from '../../core/internals' */
/** @import { Addon } from '../../native/addon' */

const CHUNK_BYTES = 65_536
const ROWS_OF_CHUNK = CHUNK_BYTES / ROW_BYTES
const [FIRST, SECOND] = STATES
const NUMBERS_OF_ROW = ROW_BYTES / 8
const NOTHING = Buffer.alloc(0)

class Table {
  /** @type {Float64Array[]} */
  #rows = []
  /** @type {number[]} */
  #freeRows = []
  #nextRow = 0

  /** @param {Addon} addon @throws {Error} where there is no such memory */
  constructor (addon) {
    this.addon = addon
    this.fd = addon.memory(MEMORY_BYTES)
    const [{ from, bytes, count }, larger] = PLACES
    /** The bytes read are kept; else no request can be handled by another worker. */
    this.isKeeping = addon.watchReads(this.fd, from, bytes, count, larger.from, larger.bytes, larger.count, SPILL.bytes)
  }

  /**
   * @param {number} fd of a connection @param {number} serial its number
   * @returns {Note | null} null: all rows are taken
   */
  take (fd, serial) {
    const row = this.#freeRows.pop() ?? this.#nextRow
    if (row === this.#nextRow) {
      if (row === MOST_ROWS) return null
      if (row % ROWS_OF_CHUNK === 0) {
        this.#rows.push(new Float64Array(this.addon.map(this.fd, row * ROW_BYTES, CHUNK_BYTES)))
      }
      this.#nextRow++
    }
    return new Note(this, fd, row, serial, this.#rows[Math.floor(row / ROWS_OF_CHUNK)])
  }

  /** @param {number} row that no process will look for any more */
  free (row) {
    this.#freeRows.push(row)
  }

  /**
   * To be called from time to time: what idle connections have kept is free.
   * @returns {number} how much memory has been touched
   */
  sweep () {
    return this.#nextRow * ROW_BYTES + this.addon.sweepReads()
  }
}

/**
 * The row of a connection. Counts of bytes are as the kernel has them, which are those of its handle and what passed
 * before that had it.
 */
class Note {
  #view
  #at
  #latest = FIRST
  readBefore = 0
  writtenBefore = 0
  /** At the end of the last response the worker did not know whether the next request had begun to arrive. */
  isUncertain = false

  /** @param {Table} table @param {number} fd @param {number} row @param {number} serial @param {Float64Array} view */
  constructor ({ addon, isKeeping }, fd, row, serial, view) {
    this.addon = addon
    this.isKeeping = isKeeping
    this.fd = fd
    this.row = row
    this.serial = serial
    this.#view = view
    this.#at = (row % ROWS_OF_CHUNK) * NUMBERS_OF_ROW
    view[this.#at + KEPT] = 0 // as the row's last connection may have left it
  }

  /**
   * @param {number} read @param {number} written
   * @param {{ bytes?: Buffer, deaths?: number, isSeen?: boolean, ageMs?: number }} [request] `bytes`: read since, of a
   *   request in flight; `ageMs`: how long ago
   */
  begin (read, written, { bytes = NOTHING, deaths = 0, isSeen = false, ageMs = 0 } = {}) {
    this.#view[this.#at + SERIAL] = 0 // until all of it holds
    for (const state of STATES) this.#write(state, read, written)
    this.#latest = FIRST
    this.#view[this.#at + FLAGS] = DEATH * deaths + (isSeen ? SEEN : 0)
    this.addon.keepReads(this.fd, /** @type {ArrayBuffer} */ (this.#view.buffer), 8 * this.#at, bytes, ageMs)
    this.#view[this.#at + SERIAL] = this.serial
  }

  /** @param {Handle} handle of its connection @returns {number[]} how many bytes have been read and written */
  counted (handle) {
    return [this.readBefore + handle.bytesRead, this.writtenBefore + handle.bytesWritten]
  }

  /** The app is about to be given a request. */
  see () {
    this.#raise(SEEN)
  }

  /**
   * After one more write it will be between two requests, or closed.
   * @param {number} read @param {number} written @param {boolean} isLast
   */
  announce (read, written, isLast) {
    this.#write(FIRST + SECOND - this.#latest, isLast ? CLOSES : read, written)
  }

  /**
   * A response has ended.
   * @param {number} read @param {number} written @param {boolean} isLast @param {boolean} isSeen there are more
   */
  rest (read, written, isLast, isSeen) {
    this.announce(read, written, isLast)
    this.#latest = FIRST + SECOND - this.#latest
    this.#view[this.#at + FLAGS] = (this.#latest === SECOND ? LATEST : 0) + (isSeen ? SEEN : 0)
    if (read >= 0) this.#view[this.#at + KEPT] = 0
  }

  /** How much has been read, where all of it is kept. @returns {number | null} null: not known here */
  get read () {
    const kept = this.#view[this.#at + KEPT]
    const before = this.#view[this.#at + this.#latest]
    return this.isKeeping && kept > 0 && before >= 0 ? before + kept : null
  }

  /** The request of the connection is not to be handled by another worker. */
  threw () {
    this.#raise(THREW)
  }

  /** @param {number} flag */
  #raise (flag) {
    const at = this.#at + FLAGS
    this.#view[at] |= flag
  }

  end () {
    this.#view[this.#at + SERIAL] = 0
    this.addon.forgetReads(this.fd)
  }

  /** @param {number} state @param {number} read @param {number} written */
  #write (state, read, written) {
    this.#view[this.#at + state] = read
    this.#view[this.#at + state + 1] = written
  }
}

module.exports = { Table }
