'use strict'

/**
 * In the primary: the descriptors of one worker's connections, by their rows. They are numbers in an array: no handle,
 * and nothing of the event loop.
 */

const fs = require('node:fs')
const { attempt } = require('../../core/attempt')
const { Descriptor } = require('../../native/descriptor')
const { MOST_ROWS, ROW_BYTES, SPILL, SPILL_PREFIX_BYTES, placesOf, readRow, readSpill } = require('./row')
/** @import { Addon } from '../../native/addon' */
/** @import { Copy } from '../../worker/connections/parcel' */
/** @import { Bytes, Row, Spill } from './row' */

const BLOCK_BYTES = 65_536 // that are read at once
const ROWS_OF_BLOCK = BLOCK_BYTES / ROW_BYTES

/**
 * @typedef {object} Held
 * @property {Descriptor} socket @property {Row} row @property {string} key
 * @property {number | null | undefined} idleMs undefined: not known
 * @property {string} [preface] what its app reads before http, base64
 */

class Holdings {
  /** The descriptor of each row, and one more; 0: there is none. */
  #descriptors = new Int32Array(0)
  #serials = new Float64Array(0)
  /** The index of its server. */
  #servers = new Uint32Array(0)
  /** Of connections that have one, by their rows. @type {Map<number, string>} */
  #prefaces = new Map()
  /** The servers. @type {{ key: string, idleMs: number | null | undefined }[]} */
  #known = []
  /** Their indices, by their keys. @type {Map<string, number>} */
  #indices = new Map()
  count = 0
  /** @type {Descriptor | null} */
  memory = null

  /** @param {Descriptor} socket this process's end */
  constructor (socket) {
    this.socket = socket
  }

  /** @param {Pick<Addon, 'receive'>} addon @returns {Generator<{ text: string, descriptors: number[] }>} */
  * packets (addon) {
    try {
      for (let packet; (packet = addon.receive(this.socket.fd));) yield packet
    } catch {} // the worker has reset it
  }

  /**
   * @param {Copy} copy @param {number} fd ours from here on
   * @param {string} key @param {number | null} [idleMs] @param {string} [preface]
   */
  begin ({ row, serial }, fd, key, idleMs, preface = '') {
    if (row >= MOST_ROWS) return fs.closeSync(fd)
    this.#grow(row)
    this.#take(row)?.close()
    this.#serials[row] = serial
    this.#descriptors[row] = fd + 1
    this.#servers[row] = this.#serverOf(key, idleMs)
    if (preface !== '') this.#prefaces.set(row, preface)
    this.count++
  }

  /** @param {number} row @param {number} serial */
  end (row, serial) {
    this.take({ row, serial })?.close()
  }

  /** @param {Copy} copy @returns {Descriptor | null} the caller's from here on; null: there is none */
  take ({ row, serial }) {
    return this.#serials[row] === serial ? this.#take(row) : null
  }

  /** @param {number} row @returns {Descriptor | null} */
  #take (row) {
    if (this.#descriptors[row] === 0) return null
    const socket = new Descriptor(this.#descriptors[row] - 1)
    this.#prefaces.delete(row)
    this.#descriptors[row] = 0
    this.count--
    return socket
  }

  /** @param {number} row */
  #grow (row) {
    if (row < this.#descriptors.length) return
    const length = Math.max(64, 2 ** Math.ceil(Math.log2(row + 1)))
    const [descriptors, serials, servers] = [this.#descriptors, this.#serials, this.#servers]
    this.#descriptors = new Int32Array(length)
    this.#serials = new Float64Array(length)
    this.#servers = new Uint32Array(length)
    this.#descriptors.set(descriptors)
    this.#serials.set(serials)
    this.#servers.set(servers)
  }

  /** @param {string} key @param {number | null} [idleMs] */
  #serverOf (key, idleMs) {
    const at = this.#indices.get(key)
    if (at === undefined) {
      this.#indices.set(key, this.#known.length)
      return this.#known.push({ key, idleMs }) - 1
    }
    if (idleMs !== undefined) this.#known[at].idleMs = idleMs
    return at
  }

  /** When the worker is dead. @returns {Generator<Held>} each with its socket, which is the caller's from here on */
  * read () {
    let latest = -1
    /** @type {Buffer | null} */
    let bytes = null
    for (let row = 0; row < this.#descriptors.length; row++) {
      const preface = this.#prefaces.get(row)
      const socket = this.#take(row)
      if (socket === null) continue
      const [block, at] = [Math.floor(row / ROWS_OF_BLOCK), row % ROWS_OF_BLOCK]
      if (block !== latest) [latest, bytes] = [block, this.readAt(block * BLOCK_BYTES, BLOCK_BYTES)]
      const read = bytes && readRow(new DataView(bytes.buffer, bytes.byteOffset, BLOCK_BYTES), at * ROW_BYTES)
      if (read?.serial === this.#serials[row]) yield { socket, row: read, ...this.#known[this.#servers[row]], preface }
      else socket.close() // the worker has closed it
    }
  }

  /**
   * Bytes that were read of its request in flight, behind the prefix; null: nothing is.
   * @param {Row} row @param {Bytes} counted
   */
  keptOf (row, counted) {
    const places = placesOf(row, counted, this.#spill)
    const parts = places?.flatMap(({ offset, length }) => this.readAt(offset, length) ?? []) ?? []
    return parts.length > 0 && parts.length === places?.length ? Buffer.concat(parts) : null
  }

  /** @returns {Spill} */
  get #spill () {
    const bytes = this.readAt(SPILL.from, SPILL_PREFIX_BYTES)
    return bytes ? readSpill(new DataView(bytes.buffer, bytes.byteOffset)) : { serial: 0, at: 0 }
  }

  /** @param {number} offset @param {number} length @returns {Buffer | null} null: the memory is not there */
  readAt (offset, length) {
    const { fd = -1 } = this.memory ?? {}
    const bytes = Buffer.alloc(length)
    return attempt(() => fs.readSync(fd, bytes, 0, length, offset), 0) === length ? bytes : null
  }

  close () {
    this.socket.close()
    this.memory?.close()
  }
}

module.exports = { Holdings }
