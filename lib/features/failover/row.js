'use strict'

/**
 * Notes of a worker on a connection in memory that the primary can read when the worker is dead, and what follows
 * from that. Pure.
 *
 * A row has two states of its connection, the latest and the one before, or the one that follows: each is written whole
 * while the other one holds, so that a process that dies in between leaves one that is true. Whether one is true the
 * kernel tells, which has counted the same bytes.
 *
 * @typedef {object} State as of a moment between two requests
 * @property {number} read bytes that the worker had read, counted as the kernel does; or UNKNOWN, ANSWERED, CLOSES
 * @property {number} written
 *
 * @typedef {object} Row
 * @property {number} serial of the connection
 * @property {number} deaths how many workers have died with what was read since it was idle
 * @property {boolean} isSeen the app has been given a request, and the response has not ended
 * @property {boolean} hasThrown the app's code has, for its request
 * @property {State} latest @property {State} other
 * @property {number} kept how many of the bytes are kept that were read since then, or fewer, if it died as it read;
 *   negative: more were read
 * @property {number} place where they are, in the file; 0: there is none
 *
 * @typedef {{ serial: number, at: number }} Spill `serial`: of the row whose connection was being read, or 0
 *
 * @typedef {object} Bytes what the kernel has counted
 * @property {number} read by any process
 * @property {number} written
 * @property {number} [unread] bytes that have come, and that no process has read
 * @property {number} state TCP's
 *
 * @typedef {'ended' | 'idle' | 'answered' | 'unanswered' | 'begun'} Fate
 *   ended       the client has closed it, or the worker had
 *   idle        nothing is in flight; what has come since is with the kernel
 *   answered    the response has ended, and the rest of its request's body was to come
 *   unanswered  a request has been read, or a part of one, and nothing was answered
 *   begun       a part of a response was written, and perhaps all of it
 */

const ROW_BYTES = 64
const MOST_ROWS = 2 ** 18
/** Bytes that were read of requests in flight: `from` is the file's offset. */
const PLACES = Object.freeze([
  { from: MOST_ROWS * ROW_BYTES, bytes: 1024, count: 2 ** 16 },
  { from: MOST_ROWS * ROW_BYTES + 1024 * 2 ** 16, bytes: 16_384, count: 2 ** 11 }
])
const PREFIX_BYTES = 8 // of each place: when the first of it came, ms of CLOCK_MONOTONIC
/**
 * Bytes for which a place had no room, behind the serial of its row and how much of the same is in the place: see
 * lib/native/addon/reads.c.
 */
const SPILL = Object.freeze({ from: PLACES[1].from + PLACES[1].bytes * PLACES[1].count, bytes: PLACES[1].bytes })
const SPILL_PREFIX_BYTES = 16
const MEMORY_BYTES = SPILL.from + SPILL.bytes

/** Of a row, in numbers of eight bytes. KEPT and PLACE are written by lib/native/addon/reads.c. */
const SERIAL = 0
const FLAGS = 1
const STATES = Object.freeze([2, 4])
const KEPT = 6
const PLACE = 7
/** The summands of FLAGS: LATEST where the second state is the latest one, and DEATH for each death. */
const LATEST = 1
const SEEN = 2
const THREW = 4
const DEATH = 8
/** In place of the bytes read in a state. */
const UNKNOWN = NaN // a part of the next request had been read, or there are more requests in flight
const CLOSES = -1 // the worker closes the connection then
const ANSWERED = -2 // the response has ended before all of its request was read

const ESTABLISHED = 1
const ENDED_BY_CLIENT = 8 // CLOSE_WAIT
const HEAD_END = /\r?\n\r?\n/ // a lenient parser takes a bare LF
const LINE_END = /\r?\n/

/** @param {DataView} view @param {number} at where the row begins, in bytes @returns {Row} */
function readRow (view, at) {
  const number = (/** @type {number} */ field) => view.getFloat64(at + 8 * field, true)
  const state = (/** @type {number} */ from) => ({ read: number(from), written: number(from + 1) })
  const flags = number(FLAGS)
  const has = (/** @type {number} */ flag) => (flags & flag) !== 0
  const [latest, other] = has(LATEST) ? [STATES[1], STATES[0]] : STATES
  return {
    serial: number(SERIAL),
    deaths: Math.floor(flags / DEATH),
    isSeen: has(SEEN),
    hasThrown: has(THREW),
    latest: state(latest),
    other: state(other),
    kept: number(KEPT),
    place: number(PLACE)
  }
}

/**
 * @param {Row} row @param {Bytes} bytes @param {boolean} isWholeRequest what is kept is one request without a body
 * @returns {Fate}
 */
function fateOf (row, bytes, isWholeRequest) {
  const { state, written } = bytes
  if (state !== ESTABLISHED && state !== ENDED_BY_CLIENT) return 'ended'
  const states = [row.latest, row.other].filter(state => state.written === written)
  if (states.some(({ read }) => read === CLOSES)) return 'ended'
  if (states.some(({ read }) => read === bytes.read) || isAnsweredAtOnce(row, bytes, isWholeRequest)) {
    return state === ENDED_BY_CLIENT ? 'ended' : 'idle'
  }
  const isAnnounced = row.other.written > row.latest.written // else it is the one before
  if (states.some(state => state.read === ANSWERED && (state === row.latest || isAnnounced))) return 'answered'
  return states.some(({ read }) => !(read > bytes.read)) ? 'unanswered' : 'begun'
}

/**
 * A response that ends while its request's head is being parsed: the parser does not tell how much it has read.
 * @param {Row} row @param {Bytes} bytes @param {boolean} isWholeRequest
 */
function isAnsweredAtOnce (row, bytes, isWholeRequest) {
  const { latest, other } = row
  if (!isWholeRequest || other.read !== ANSWERED || bytes.read !== latest.read + keptOf(row, bytes)) return false
  return other.written > latest.written && other.written === bytes.written
}

/**
 * How many bytes are kept of a request in flight. The kernel's count is the later one.
 * @param {Row} row @param {Bytes} bytes
 */
function keptOf ({ kept, latest }, bytes) {
  return kept >= 0 && bytes.read > latest.read + kept ? bytes.read - latest.read : Math.abs(kept)
}

/** @param {DataView} view of the spill @returns {Spill} */
const readSpill = view => ({ serial: view.getFloat64(0, true), at: view.getFloat64(8, true) })

/**
 * Where the bytes are that were read of a request in flight, in turn, behind the prefix of its place.
 * @param {Row} row @param {Bytes} bytes @param {Spill} spill
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
 * @returns {{ head: import('../../core/request-replay').Head, length: number } | null} `length`: of the head, with the
 *   empty lines around it; null: it is not whole, or none
 */
function parseHead (text) {
  const begin = lengthOfLineEnds(text)
  const end = text.slice(begin).search(HEAD_END)
  if (end === -1) return null
  const [line, ...lines] = text.slice(begin, begin + end).split(LINE_END)
  const [, method, url, version] = /^([^ ]+) ([^ ]+) HTTP\/(\d\.\d)$/.exec(line) ?? []
  if (version === undefined) return null
  const headers = lines.flatMap(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, Math.max(0, colon)), line.slice(colon + 1).trim()]
  })
  return { head: { method, url, version, headers }, length: begin + end + lengthOfLineEnds(text.slice(begin + end)) }
}

/** @param {string} text @returns {number} how many characters of line ends it begins with, which no parser heeds */
const lengthOfLineEnds = text => /** @type {RegExpExecArray} */(/^[\r\n]*/.exec(text))[0].length

/**
 * Whether the app may have been given a request in these bytes though it was not noted: of an upgrade no channel of
 * Node's tells. A lenient parser takes a bare CR, too, for the end of a line.
 * @param {string} text in latin1
 */
function mayBeUpgrade (text) {
  return /\n\n|\r\r|\n\r[^]/.test(text.slice(lengthOfLineEnds(text))) &&
    /^\s*CONNECT\s|[\r\n]upgrade[ \t]*:/i.test(text)
}

module.exports = {
  ROW_BYTES, MOST_ROWS, PLACES, PREFIX_BYTES, SPILL, SPILL_PREFIX_BYTES, MEMORY_BYTES, SERIAL, FLAGS, LATEST, SEEN,
  THREW, DEATH, STATES, KEPT, PLACE, UNKNOWN, CLOSES, ANSWERED, ENDED_BY_CLIENT, readRow, fateOf, readSpill, placesOf,
  parseHead, lengthOfLineEnds, mayBeUpgrade
}
