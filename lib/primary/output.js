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

/** @typedef {{ bytes: Buffer, isLog: boolean }} Entry no more than is written at once, unless a line is longer */

class Output extends EventEmitter {
  /** Entries that are not being written yet. @type {Entry[]} */
  #queue = []
  #isWriting = false
  #writtenAt = -Infinity
  /** @type {NodeJS.Timeout | undefined} */
  #rest
  /** Not written yet: of the queue, and those that are being written. */
  #bytes = 0
  /** The log's, of the queue. */
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
    if (this.#bytes > 0) await once(this, 'empty')
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
    this.#bytes = this.#logBytes = 0
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
    const isLog = source === null
    for (let at = 0, end = 0; at < whole.length; at = end) {
      end = cutAfter(whole, at, this.descriptor.mostBytes)
      this.#queue.push({ bytes: whole.subarray(at, end), isLog })
    }
    this.#bytes += whole.length
    if (isLog) this.#logBytes += whole.length
    this.#write()
  }

  /** @returns {boolean} there was one that is not being written */
  #dropOldest () {
    const oldest = this.#queue.findIndex(({ isLog }) => isLog)
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
    const at = now() // which may write, of a sleep, and so comes first
    if (this.#isWriting || this.#rest || this.#queue.length === 0) return
    if (this.#bytes < this.descriptor.mostBytes && at - this.#writtenAt < REST_MS) {
      this.#rest = setTimeout(() => {
        this.#rest = undefined
        this.#writtenAt = -Infinity
        this.#write()
      }, REST_MS)
      return
    }
    this.#isWriting = true
    const bytes = this.#takeFirst()
    this.descriptor.write(bytes, error => {
      this.#writtenAt = now()
      this.#isWriting = false
      if (this.isGone) return
      if (!error || !GONE.includes(error.code ?? '')) return this.#written(bytes, error)
      for (const lost of [bytes, ...this.#queue.map(({ bytes }) => bytes)]) {
        this.#lose(linesOf(lost), error.code ?? '', true)
      }
      this.close()
      this.#againAt = now() + AGAIN_MS
    })
  }

  /** @returns {Buffer} the first entries, as many as fit into a write */
  #takeFirst () {
    let bytes = this.#queue[0].bytes.length
    let entries = 1
    for (; entries < this.#queue.length; entries++) {
      bytes += this.#queue[entries].bytes.length
      if (bytes > this.descriptor.mostBytes) break
    }
    const first = this.#queue.splice(0, entries)
    for (const { bytes, isLog } of first) if (isLog) this.#logBytes -= bytes.length
    return entries === 1 ? first[0].bytes : Buffer.concat(first.map(({ bytes }) => bytes))
  }

  /** @param {Buffer} bytes @param {NodeJS.ErrnoException | null} error */
  #written (bytes, error) {
    const wasFull = this.isFull
    this.#bytes -= bytes.length
    if (error) this.#lose(linesOf(bytes), error.code ?? error.message, true)
    else this.written += bytes.length
    if (!error && this.#bytes === 0 && this.#isLosing) this.#tellLost()
    if (wasFull && !this.isFull) this.emit('room')
    if (this.#bytes === 0) this.emit('empty')
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
