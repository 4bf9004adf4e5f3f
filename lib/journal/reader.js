'use strict'

/**
 * Reads journals in any condition: still being written, truncated by a crash, rotated, compressed. Lines that are not
 * of a journal, or of an unknown version, are skipped and counted. Files are read in chunks: memory does not depend on
 * their size.
 */

const fs = require('node:fs')
const { pipeline } = require('node:stream')
const zlib = require('node:zlib')
const { addUp, pick } = require('../core/fields')
const { attempt } = require('../core/attempt')
const { RecycleError } = require('../core/errors')
const { fileId } = require('../core/file-id')
const { openForReading } = require('./regular-file')

const VERSION = 1
const INHERITED = /^\/dev\/(stdin|fd\/\d+)$|^\/proc\/self\/fd\/\d+$/ // may be a pipe, as of a process substitution
const CHUNK_BYTES = 256 * 1024
const NOT_BLANK = /[^\r\n][^\n]*/g // a blank line costs only its byte
const MAX_LINE_CHARS = 8 * 1024 * 1024 // a longer line is not of a journal, and must not fill the memory

/**
 * @typedef {Record<string, unknown>} Line
 *
 * @typedef {object} Tally the lines of a file
 * @property {number} lines journal lines
 * @property {number} skipped other lines that are not empty
 * @property {number} unknown those of them that are of another version of the journal
 * @property {number | null} at time of the last journal line
 * @property {number} damaged journal lines since then that cannot be read: cut short, overwritten, of another version
 */

const UNREADABLE = 'unreadable'
const OURS = /^\{"v":|"event":"|\0/ // what is left of a line that cannot be read

/**
 * Reads one journal line by line, in the file's order. A gzipped file is recognised by its content, not by its name.
 * @param {string} file @returns {AsyncGenerator<import('../lines').JournalLine>}
 * @throws {RecycleError} RECYCLE_UNREADABLE
 */
async function * readJournal (file) {
  for await (const lines of readFile(file, emptyTally())) {
    for (const line of lines) if (line.why !== UNREADABLE) yield /** @type {import('../lines').JournalLine} */ (line)
  }
}

/**
 * Reads the journals of one fleet as one, merged by time: rotated files, or files written in parallel. A file that is
 * named twice is read once.
 * @param {string[]} files in any order @param {Tally} [total] is added to
 * @returns {AsyncGenerator<Line[]>} lines, a batch at a time
 * @throws {RecycleError} RECYCLE_UNREADABLE, also for a file that is not empty and has no journal line
 */
async function * readJournals (files, total = emptyTally()) {
  const open = (await distinct(files)).map(file => new Cursor(file))
  await Promise.all(open.map(cursor => cursor.fill()))
  for (;;) {
    for (const cursor of open.filter(cursor => cursor.isAtEnd)) {
      open.splice(open.indexOf(cursor), 1)
      addUp(/** @type {Record<'lines' | 'skipped' | 'unknown', number>} */ (total),
        pick(cursor.check(), ['lines', 'skipped', 'unknown']))
    }
    if (open.length === 0) return
    const [first, second] = open.sort((a, b) => a.time - b.time)
    yield first.takeUntil(second ? second.time : Infinity)
    await first.fill()
  }
}

/** The read position in one file. */
class Cursor {
  tally = emptyTally()
  isAtEnd = false
  /** @type {Line[]} */
  #lines = []
  #next = 0

  /** @param {string} file */
  constructor (file) {
    this.file = file
    this.batches = readFile(file, this.tally)
  }

  /** The time of the next line. */
  get time () {
    return timeOf(this.#lines[this.#next])
  }

  /** Takes the next line, and the lines after it up to `time`. @param {number} time */
  takeUntil (time) {
    let end = this.#next + 1
    while (end < this.#lines.length && timeOf(this.#lines[end]) <= time) end++
    const taken = this.#lines.slice(this.#next, end)
    this.#next = end
    return taken
  }

  /** Reads on if no line is left. */
  async fill () {
    while (this.#next >= this.#lines.length && !this.isAtEnd) {
      const { value, done } = await this.batches.next()
      this.isAtEnd = done === true
      this.#lines = value ?? []
      this.#next = 0
    }
  }

  check () {
    const { file, tally } = this
    if (tally.lines > 0 || tally.skipped === 0) return tally
    const why = tally.unknown > 0
      ? 'its lines are of a journal version that this recycle does not know'
      : 'it has no journal line: recycle --journal <file> writes them'
    throw new RecycleError('RECYCLE_UNREADABLE', { file, why })
  }
}

/** @param {string} file @param {Tally} tally @returns {AsyncGenerator<Line[]>} */
async function * readFile (file, tally) {
  let rest = ''
  let isOverlong = false
  try {
    for await (const text of await openText(file)) {
      const end = text.lastIndexOf('\n')
      if (end === -1) {
        if (!isOverlong) rest += text
        if (rest.length > MAX_LINE_CHARS && OURS.test(rest.slice(0, 100))) tally.damaged++
        isOverlong ||= rest.length > MAX_LINE_CHARS
        if (isOverlong) rest = ''
        continue
      }
      const whole = isOverlong ? text.slice(text.indexOf('\n') + 1, end + 1) : rest + text.slice(0, end)
      if (isOverlong) tally.skipped++
      isOverlong = false
      rest = text.slice(end + 1)
      yield parseAll(whole, tally)
    }
  } catch (error) {
    throw new RecycleError('RECYCLE_UNREADABLE', { file, why: /** @type {Error} */ (error).message })
  }
  if (isOverlong) tally.skipped++
  else yield parseAll(rest, tally)
  if (!isOverlong && OURS.test(rest) && parse(rest) === null) tally.damaged-- // it may be being written
  if (tally.damaged > 0) yield [gapOf(tally, null)]
}

/** @param {string} file @returns {Promise<import('node:stream').Readable>} of text */
async function openText (file) {
  const fd = INHERITED.test(file) ? undefined : openForReading(file)
  const input = fs.createReadStream(file, { fd, highWaterMark: CHUNK_BYTES })
  await new Promise((resolve, reject) => input.once('readable', () => resolve(undefined)).once('error', reject))
  const head = input.read()
  if (head === null) return input // it is empty
  input.unshift(head)
  if (head[0] !== 0x1f || head[1] !== 0x8b) return input.setEncoding('utf8')
  // A file that a crash has truncated is not an error: it ends early, as a plain file does.
  const unzip = zlib.createGunzip({ chunkSize: CHUNK_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH })
  pipeline(input, unzip, () => {}) // an error surfaces where `unzip` is read
  return unzip.setEncoding('utf8')
}

/** @param {string} text whole lines @param {Tally} tally */
function parseAll (text, tally) {
  const lines = []
  for (const one of text.match(NOT_BLANK) ?? []) {
    const line = parse(one)
    if (line?.v === VERSION && typeof line.event === 'string') {
      if (tally.damaged > 0) lines.push(gapOf(tally, /** @type {number} */ (line.t)))
      if (typeof line.t === 'number') tally.at = line.t
      lines.push(line)
      tally.lines++
    } else {
      const isUnknown = typeof line?.v === 'number' && typeof line.event === 'string'
      tally.skipped++
      if (isUnknown) tally.unknown++
      if (isUnknown || (line === null && OURS.test(one))) tally.damaged++
    }
  }
  return lines
}

/** A line in place of those that cannot be read. @param {Tally} tally @param {number | null} to @returns {Line} */
function gapOf (tally, to) {
  const { damaged: lines, at: from } = tally
  tally.damaged = 0
  return { v: VERSION, t: from ?? to, event: 'journal.gap', lines, from: from ?? to, to, why: UNREADABLE }
}

/** @param {string} text @returns {Line | null} */
const parse = text => attempt(() => JSON.parse(text), null)

/** @param {Line} [line] */
const timeOf = line => typeof line?.t === 'number' ? line.t : -Infinity

/** @param {string[]} files */
async function distinct (files) {
  const seen = new Set()
  const different = []
  for (const file of files) {
    const stat = await fs.promises.stat(file).catch(() => null) // opening it reports the error
    const key = stat?.isFile() ? fileId(stat) : file
    if (!seen.has(key)) different.push(file)
    seen.add(key)
  }
  return different
}

/** @returns {Tally} */
const emptyTally = () => ({ lines: 0, skipped: 0, unknown: 0, at: null, damaged: 0 })

module.exports = { readJournal, readJournals, emptyTally }
