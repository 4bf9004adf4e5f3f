'use strict'

/**
 * The stdout or stderr of this process, to which its log and the workers write whole lines. A reader that does not read
 * stops neither of them for long, and never the primary:
 *
 *     log     ── log() ──▶ queue ──▶ descriptor
 *     worker  ── pass() ─────┘
 *
 * Beyond KEPT_BYTES the oldest lines of the log are lost, and counted. While the queue is full the worker's pipe is not
 * read: the worker waits, as for any reader.
 *
 * An output without a reader loses what comes, and is tried again once a second: a FIFO may have another reader.
 *
 * Emits `room` when it is no longer full, `losing` with the reason when the first line is lost (and true, where a write
 * has failed, with its code), and `lost` with their number when all that was left has been written, `empty`.
 */

const { EventEmitter, once } = require('node:events')
const { prefixLines, NEWLINE } = require('../core/whole-lines')
const { now } = require('./clock')

const KEPT_BYTES = 1024 ** 2 // of the log
const FULL_BYTES = 256 * 1024
const REST_MS = 5 // between two small writes: each costs more than its bytes
const GONE = ['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED']
const AGAIN_MS = 1000 // without a reader

/**
 * @typedef {{ bytes: Buffer, logBytes: number }} Entry `logBytes`: those of the log, all or none until it is being
 *   written
 */

class Output extends EventEmitter {
  /** @type {Entry[]} */
  #queue = []
  /** How much of the first one has been written. */
  #at = 0
  #isWriting = false
  #writtenAt = -Infinity
  /** @type {NodeJS.Timeout | undefined} */
  #rest
  #bytes = 0
  #logBytes = 0
  /** Whose line the last one queued is, where it has no newline. @type {object | null} */
  #unfinished = null
  #lost = 0
  #isLosing = false
  /** The output has no reader: what comes is lost. */
  isGone = false
  /** When it is tried again; Infinity: it is closed. */
  #againAt = Infinity
  /** How many bytes have been written. */
  written = 0

  /** @param {() => import('./descriptor').Descriptor} open */
  constructor (open) {
    super()
    this.setMaxListeners(0)
    this.open = open
    this.descriptor = open()
  }

  get isFull () {
    return this.#bytes >= FULL_BYTES
  }

  /** All that it was given has been written, or it has no reader any more. */
  async emptied () {
    if (this.#queue.length > 0) await once(this, 'empty')
  }

  /** @param {string} line of the log, with its newline */
  log (line) {
    this.#add(Buffer.from(line), null)
    while (this.#logBytes > KEPT_BYTES && this.#dropOldest());
  }

  /**
   * @param {Buffer} bytes whole lines, or a part of one @param {object} source whose they are
   * @param {string} [linePrefix] put before each line
   */
  pass (bytes, source, linePrefix = '') {
    this.#add(linePrefix === '' ? bytes : prefixLines(bytes, linePrefix, this.#unfinished === source), source)
  }

  /** Output that has not been written by then is lost. */
  close () {
    this.isGone = true
    this.#againAt = Infinity
    clearTimeout(this.#rest)
    this.#rest = undefined
    this.#queue = []
    this.#at = this.#bytes = this.#logBytes = 0
    this.descriptor.close()
    this.emit('room')
    this.emit('empty')
  }

  /** @param {Buffer} bytes @param {object | null} source null: the log */
  #add (bytes, source) {
    if (this.isGone) {
      if (now() < this.#againAt) { this.#lost += linesOf(bytes); return }
      this.isGone = false
      this.descriptor = this.open()
    }
    const isWithin = this.#unfinished !== null && this.#unfinished !== source
    const whole = isWithin ? Buffer.concat([Buffer.of(NEWLINE), bytes]) : bytes
    this.#unfinished = bytes[bytes.length - 1] === NEWLINE ? null : source
    this.#queue.push({ bytes: whole, logBytes: source === null ? whole.length : 0 })
    this.#bytes += whole.length
    if (source === null) this.#logBytes += whole.length
    this.#write()
  }

  /** @returns {boolean} there was one that is not being written */
  #dropOldest () {
    const oldest = this.#queue.findIndex(({ logBytes }, i) => logBytes > 0 && (i > 0 || !this.#isWriting))
    if (oldest < 0) return false
    const [{ bytes }] = this.#queue.splice(oldest, 1)
    this.#bytes -= bytes.length
    this.#logBytes -= bytes.length
    this.#lose(1, 'it is not read')
    return true
  }

  /** @param {number} lines @param {string} why @param {boolean} [hasFailed] */
  #lose (lines, why, hasFailed = false) {
    this.#lost += lines
    if (this.#isLosing) return
    this.#isLosing = true
    this.emit('losing', why, hasFailed)
  }

  #write () {
    if (this.#isWriting || this.#rest || this.#queue.length === 0) return
    if (this.#bytes < this.descriptor.mostBytes && now() - this.#writtenAt < REST_MS) {
      this.#rest = setTimeout(() => {
        this.#rest = undefined
        this.#writtenAt = -Infinity
        this.#write()
      }, REST_MS)
      return
    }
    this.#isWriting = true
    const entry = this.#at === 0 ? this.#gather() : this.#queue[0]
    const part = entry.bytes.subarray(this.#at, cutAfter(entry.bytes, this.#at, this.descriptor.mostBytes))
    this.descriptor.write(part, error => {
      this.#isWriting = false
      this.#writtenAt = now()
      if (this.isGone) return
      if (!error || !GONE.includes(error.code ?? '')) return this.#written(entry, part, error)
      for (const { bytes } of this.#queue) this.#lose(linesOf(bytes), error.code ?? '', true)
      this.close()
      this.#againAt = now() + AGAIN_MS
    })
  }

  /** Makes one of the first entries, as many as fit into a write. @returns {Entry} */
  #gather () {
    let entries = 0
    for (let bytes = 0; entries < this.#queue.length &&
      (entries === 0 || bytes + this.#queue[entries].bytes.length <= this.descriptor.mostBytes); entries++) {
      bytes += this.#queue[entries].bytes.length
    }
    const first = this.#queue.splice(0, entries)
    const logBytes = first.reduce((sum, entry) => sum + entry.logBytes, 0)
    const entry = first.length === 1 ? first[0] : { bytes: Buffer.concat(first.map(({ bytes }) => bytes)), logBytes }
    this.#queue.unshift(entry)
    return entry
  }

  /** @param {Entry} entry @param {Buffer} part @param {NodeJS.ErrnoException | null} error */
  #written (entry, part, error) {
    const wasFull = this.isFull
    this.#at += part.length
    this.#bytes -= part.length
    if (this.#at === entry.bytes.length) {
      this.#queue.shift()
      this.#at = 0
      this.#logBytes -= entry.logBytes
    }
    if (error) this.#lose(linesOf(part), error.code ?? error.message, true)
    else this.written += part.length
    if (!error && this.#queue.length === 0 && this.#isLosing) this.#tellLost()
    if (wasFull && !this.isFull) this.emit('room')
    if (this.#queue.length === 0) this.emit('empty')
    this.#write()
  }

  #tellLost () {
    const lost = this.#lost
    this.#lost = 0
    this.#isLosing = false
    this.emit('lost', lost)
  }
}

/** As many whole lines as fit, one at least. @param {Buffer} bytes @param {number} from @param {number} most */
function cutAfter (bytes, from, most) {
  if (bytes.length - from <= most) return bytes.length
  const last = bytes.lastIndexOf(NEWLINE, from + most - 1)
  if (last >= from) return last + 1
  const first = bytes.indexOf(NEWLINE, from + most)
  return first < 0 ? bytes.length : first + 1
}

/** @param {Buffer} bytes */
function linesOf (bytes) {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return Math.max(1, lines)
}

module.exports = { Output }
