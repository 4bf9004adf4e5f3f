'use strict'

/** In a worker: its rows and the heads of its requests, in memory that the primary can read when this process is dead. It is mapped as it is needed. */

const { performance } = require('node:perf_hooks')
const { ROW_BYTES, MOST_ROWS, HEADS, HEAD_PREFIX, CLOSES, MEMORY_BYTES, SERIAL, LATEST, STATES, READ, WRITTEN, HEAD, headAt, printHead } = require('./row')

const CHUNK_BYTES = 65_536
const ROWS_OF_CHUNK = CHUNK_BYTES / ROW_BYTES
const NUMBERS_OF_ROW = ROW_BYTES / 8

class Table {
  /** @type {Float64Array[]} */
  #rows = []
  /** @type {number[]} */
  #freeRows = []
  #nextRow = 0
  #lastSerial = 0
  #heads

  /** @param {Pick<import('../../mold/addon').Addon, 'memory' | 'map'>} addon @throws {Error} where there is no such memory */
  constructor (addon) {
    this.addon = addon
    this.fd = addon.memory(MEMORY_BYTES)
    this.#heads = HEADS.map(size => new Heads(addon, this.fd, size))
  }

  /** @returns {Note | null} null: all rows are taken */
  take () {
    const row = this.#freeRows.pop() ?? this.#nextRow
    if (row === this.#nextRow) {
      if (row === MOST_ROWS) return null
      if (row % ROWS_OF_CHUNK === 0) this.#rows.push(new Float64Array(this.addon.map(this.fd, row * ROW_BYTES, CHUNK_BYTES)))
      this.#nextRow++
    }
    return new Note(row, ++this.#lastSerial, this.#rows[Math.floor(row / ROWS_OF_CHUNK)], this.#heads)
  }

  /** @param {number} row that no one will look for any more */
  free (row) {
    this.#freeRows.push(row)
  }

  /** That it has touched. */
  get bytes () {
    return this.#nextRow * ROW_BYTES + this.#heads.reduce((sum, { touchedBytes }) => sum + touchedBytes, 0)
  }
}

/** Heads of one size. */
class Heads {
  /** Buffers, whose latin1Write() has no type. @type {any[]} */
  #chunks = []
  /** @type {Float64Array[]} */
  #numbers = []
  /** @type {number[]} */
  #free = []
  #next = 0

  /** @param {Pick<import('../../mold/addon').Addon, 'map'>} addon @param {number} fd @param {typeof HEADS[number]} size */
  constructor (addon, fd, { bytes, from, count }) {
    this.addon = addon
    this.fd = fd
    this.bytes = bytes
    this.from = from
    this.count = count
    this.ofChunk = CHUNK_BYTES / bytes
  }

  get touchedBytes () {
    return this.#next * this.bytes
  }

  /** @param {string} text one that fits @returns {number} by headAt(); 0: there is no room */
  keep (text) {
    const at = this.#free.pop() ?? this.#next
    if (at === this.#next) {
      if (at === this.count) return 0
      if (at % this.ofChunk === 0) this.#map(at)
      this.#next++
    }
    const chunk = Math.floor(at / this.ofChunk)
    const offset = (at % this.ofChunk) * this.bytes
    this.#numbers[chunk][offset / 8] = performance.timeOrigin + performance.now() // which another process has, too
    this.#chunks[chunk].latin1Write(text, offset + HEAD_PREFIX, text.length)
    return headAt(this.from + at * this.bytes, text.length + HEAD_PREFIX)
  }

  /** @param {number} at the first of a chunk */
  #map (at) {
    const memory = this.addon.map(this.fd, this.from + at * this.bytes, CHUNK_BYTES)
    this.#chunks.push(Buffer.from(memory))
    this.#numbers.push(new Float64Array(memory))
  }

  /** @param {number} head by headAt() */
  drop (head) {
    this.#free.push((Math.floor(head / 2 ** 15) - this.from) / this.bytes)
  }
}

/** One connection's row. Counts of bytes are as the kernel has them, which are those of its handle and what passed before that had it. */
class Note {
  #view
  #at
  #heads
  #latest = 0
  /** Of the request in flight. */
  #head = 0
  /** @type {Heads | null} */
  #headOf = null
  readBefore = 0
  writtenBefore = 0

  /** @param {number} row @param {number} serial @param {Float64Array} view @param {Heads[]} heads */
  constructor (row, serial, view, heads) {
    this.row = row
    this.serial = serial
    this.#view = view
    this.#at = (row % ROWS_OF_CHUNK) * NUMBERS_OF_ROW
    this.#heads = heads
  }

  /** @param {number} read @param {number} written @param {number} [replayed] */
  begin (read, written, replayed = 0) {
    for (const state of STATES) this.#write(state, read, written)
    this.#view[this.#at + LATEST] = 2 * replayed
    this.#view[this.#at + SERIAL] = this.serial
  }

  /** It will be so after one more write. @param {number} read @param {number} written @param {boolean} isLast this process will close it then */
  announce (read, written, isLast) {
    const next = STATES[1 - this.#latest]
    this.#write(next, read, written)
    if (isLast) this.#view[this.#at + next + HEAD] = CLOSES
  }

  /** It is between two requests. @param {number} read NaN: or it is not @param {number} written @param {boolean} isLast this process closes it now */
  rest (read, written, isLast) {
    this.announce(read, written, isLast)
    const latest = 1 - this.#latest
    this.#view[this.#at + LATEST] = this.#latest = latest
    this.#dropHead()
  }

  /** A request has come. @param {import('../../core/request-replay').Head} head */
  keep (head) {
    const text = printHead(head)
    const heads = this.#heads.find(({ bytes }) => text.length + HEAD_PREFIX <= bytes)
    if (!heads) return
    this.#dropHead()
    this.#headOf = heads
    this.#head = heads.keep(text)
    this.#view[this.#at + STATES[this.#latest] + HEAD] = this.#head
  }

  end () {
    this.#view[this.#at + SERIAL] = 0
    this.#dropHead()
  }

  #dropHead () {
    if (this.#head !== 0) this.#headOf?.drop(this.#head)
    this.#head = 0
  }

  /** @param {number} state @param {number} read @param {number} written */
  #write (state, read, written) {
    const at = this.#at + state
    this.#view[at + HEAD] = 0
    this.#view[at + READ] = read
    this.#view[at + WRITTEN] = written
  }
}

module.exports = { Table }
