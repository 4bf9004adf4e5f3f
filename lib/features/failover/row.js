'use strict'

/**
 * What a worker notes of a connection in memory that the primary can read when the worker is dead, and what follows
 * from that. Pure.
 *
 * A row has two states of its connection, the latest and the one before, or the one that follows: each is written whole
 * while the other one holds, so that a process that dies in between leaves one that is true. Whether one is true the
 * kernel tells, which has counted the same bytes.
 *
 * @typedef {object} State as of a moment between two requests
 * @property {number} read bytes that the worker had read, counted as the kernel does; NaN: it was not between two
 *   requests; CLOSES: the worker closes it then
 * @property {number} written
 *
 * @typedef {object} Row
 * @property {number} serial of the connection
 * @property {number} deaths how many workers have died with its request
 * @property {boolean} hasThrown the app's code has, for its request
 * @property {State} latest
 * @property {State} other
 * @property {number} kept how many of the bytes are kept that were read since then, or fewer, if it died as it read;
 *   negative: more were read. In the memory with AT_END, where the last of them end a head
 * @property {number} place where they are, in the file; 0: there is none
 *
 * @typedef {{ serial: number, at: number }} Spill `serial`: of the row whose connection was being read, or 0
 *
 * @typedef {object} Bytes what the kernel has counted
 * @property {number} read by any process
 * @property {number} written
 * @property {number} state TCP's
 *
 * @typedef {'ended' | 'idle' | 'unanswered' | 'begun'} Fate
 *   ended       the client has closed it, or the worker had
 *   idle        nothing is in flight; what has come since is with the kernel
 *   unanswered  a request has been read, or a part of one, and nothing was answered
 *   begun       a part of a response was written, and perhaps all of it
 */

const ROW_BYTES = 64
const MOST_ROWS = 2 ** 18
/** What was read of requests in flight: `from` is the file's offset. */
const PLACES = Object.freeze([
  { from: MOST_ROWS * ROW_BYTES, bytes: 1024, count: 2 ** 16 },
  { from: MOST_ROWS * ROW_BYTES + 1024 * 2 ** 16, bytes: 16_384, count: 2 ** 11 }
])
const PREFIX_BYTES = 8 // of each place: when the first of it came, ms since 1970
/**
 * What a place had no room for, behind the serial of its row and how much of the same is in the place: see
 * lib/native/addon/reads.c.
 */
const SPILL = Object.freeze({ from: PLACES[1].from + PLACES[1].bytes * PLACES[1].count, bytes: PLACES[1].bytes })
const SPILL_PREFIX_BYTES = 16
const MEMORY_BYTES = SPILL.from + SPILL.bytes

/**
 * Of a row, in numbers of eight bytes; `LATEST` is 0 or 1, with twice `deaths`, and THREW. KEPT and PLACE are written
 * by lib/native/addon/reads.c.
 */
const SERIAL = 0
const LATEST = 1
const THREW = 1024
const STATES = Object.freeze([2, 4])
const KEPT = 6
const PLACE = 7
const AT_END = 0.5
const CLOSES = -1

const ESTABLISHED = 1
const ENDED_BY_CLIENT = 8 // CLOSE_WAIT
const HEAD_END = '\r\n\r\n'

/** @param {DataView} view @param {number} at where the row begins, in bytes @returns {Row} */
function readRow (view, at) {
  const number = (/** @type {number} */ field) => view.getFloat64(at + 8 * field, true)
  const state = (/** @type {number} */ from) => ({ read: number(from), written: number(from + 1) })
  const flags = number(LATEST)
  const latest = flags % 2 === 1 ? 1 : 0
  const [deaths, kept] = [Math.floor((flags % THREW) / 2), Math.trunc(number(KEPT))]
  const [mine, other] = [state(STATES[latest]), state(STATES[1 - latest])]
  return { serial: number(SERIAL), deaths, hasThrown: flags >= THREW, latest: mine, other, kept, place: number(PLACE) }
}

/**
 * @param {[read: number, written: number, unread: number, state: number]} counted
 * @returns {Bytes} the end of the client's half counts as a byte there
 */
function bytesOf ([read, written, , state]) {
  return { read: state === ENDED_BY_CLIENT ? read - 1 : read, written, state }
}

/**
 * @param {Row} row
 * @param {Bytes} bytes
 * @param {boolean} isWholeRequest what is kept is one request without a body
 * @returns {Fate}
 */
function fateOf (row, bytes, isWholeRequest) {
  const { latest, other } = row
  if (bytes.state !== ESTABLISHED && bytes.state !== ENDED_BY_CLIENT) return 'ended'
  if ([latest, other].some(({ read, written }) => read === CLOSES && written === bytes.written)) return 'ended'
  const isIdle = [latest, other].some(({ read, written }) => read === bytes.read && written === bytes.written) ||
    isAnsweredAtOnce(row, bytes, isWholeRequest)
  if (isIdle) return bytes.state === ENDED_BY_CLIENT ? 'ended' : 'idle'
  return [latest, other].some(({ read, written }) => written === bytes.written && !(read > bytes.read)) ? 'unanswered' : 'begun'
}

/**
 * A response that ends while its request's head is being parsed: the parser does not tell how much it has read.
 *
 * @param {Row} row @param {Bytes} bytes @param {boolean} isWholeRequest
 */
function isAnsweredAtOnce (row, bytes, isWholeRequest) {
  const { latest, other } = row
  if (!isWholeRequest || !Number.isNaN(other.read) || bytes.read !== latest.read + keptOf(row, bytes)) return false
  return other.written > latest.written && other.written === bytes.written
}

/**
 * How many bytes are kept of a request in flight. The kernel's count is the later one.
 *
 * @param {Row} row @param {Bytes} bytes
 */
function keptOf ({ kept, latest }, bytes) {
  return kept >= 0 && bytes.read > latest.read + kept ? bytes.read - latest.read : Math.abs(kept)
}

/** @param {DataView} view of the spill @returns {Spill} */
function readSpill (view) {
  return { serial: view.getFloat64(0, true), at: view.getFloat64(8, true) }
}

/**
 * Where the bytes are that were read of a request in flight, in turn, behind the prefix of its place.
 *
 * @param {Row} row
 * @param {Bytes} bytes
 * @param {Spill} spill
 * @returns {{ offset: number, length: number }[] | null} null: nothing is kept, or it makes no sense
 */
function placesOf (row, bytes, spill) {
  const { place, serial } = row
  const kept = keptOf(row, bytes)
  const inSpill = spill.serial === serial && kept > spill.at ? kept - spill.at : 0
  const inPlace = kept - inSpill
  const end = PLACES[place < PLACES[1].from ? 0 : 1].bytes
  const isSane = [place, inPlace, inSpill].every(Number.isSafeInteger) && inPlace > 0 &&
    PREFIX_BYTES + inPlace <= end &&
    place >= PLACES[0].from && place + end <= SPILL.from && SPILL_PREFIX_BYTES + inSpill <= SPILL.bytes
  if (!isSane) return null
  const first = { offset: place, length: PREFIX_BYTES + inPlace }
  return inSpill === 0 ? [first] : [first, { offset: SPILL.from + SPILL_PREFIX_BYTES, length: inSpill }]
}

/**
 * @param {string} text as a client sent it, in latin1
 * @returns {{ head: import('../../core/request-replay').Head, length: number } | null} `length`: of the head; null: it
 *   is not whole, or none
 */
function parseHead (text) {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return null
  const [line, ...lines] = text.slice(0, end).replace(/^(?:\r\n)+/, '').split('\r\n')
  const [, method, url, version] = /^([^ ]+) ([^ ]+) HTTP\/(\d\.\d)$/.exec(line) ?? []
  if (version === undefined) return null
  const headers = lines.flatMap(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, Math.max(0, colon)), line.slice(colon + 1).trim()]
  })
  return { head: { method, url, version, headers }, length: end + HEAD_END.length }
}

module.exports = {
  ROW_BYTES,
  MOST_ROWS,
  PLACES,
  PREFIX_BYTES,
  SPILL,
  SPILL_PREFIX_BYTES,
  MEMORY_BYTES,
  SERIAL,
  LATEST,
  THREW,
  STATES,
  KEPT,
  AT_END,
  PLACE,
  CLOSES,
  ENDED_BY_CLIENT,
  readRow,
  bytesOf,
  fateOf,
  readSpill,
  placesOf,
  parseHead
}
