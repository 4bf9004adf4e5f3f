'use strict'

/**
 * What a worker notes of a connection in memory that the primary can read when the worker is dead, and what follows from that. Pure.
 *
 * A row has two states of its connection, the latest and the one before, or the one that follows: each is written whole while the other one
 * holds, so that a process that dies in between leaves one that is true. Whether one is true the kernel tells, which has counted the same bytes.
 *
 * @typedef {object} State as of a moment between two requests
 * @property {number} read bytes that the worker had read, counted as the kernel does; NaN: it was not between two requests
 * @property {number} written
 * @property {number} head where the head of the request is that has come since, by headAt(); 0: it is not kept, or none has come;
 *   CLOSES: none will, for the worker closes the connection
 *
 * @typedef {object} Row
 * @property {number} serial of the connection
 * @property {number} replayed how many workers have had its request before
 * @property {State} latest
 * @property {State} other
 *
 * @typedef {object} Bytes what the kernel has counted
 * @property {number} read by any process
 * @property {number} written
 * @property {number} state TCP's
 *
 * @typedef {'ended' | 'idle' | 'unanswered' | 'begun'} Fate
 *   ended       the client has closed it, or the worker had
 *   idle        nothing is in flight; what has come since is with the kernel
 *   unanswered  a request has been read, and nothing was answered
 *   begun       a part of a response was written, and perhaps all of it
 */

const ROW_BYTES = 64
const MOST_ROWS = 2 ** 18
/** Heads of requests, by their length: `from` is the file's offset. */
const HEADS = Object.freeze([
  { bytes: 1024, from: MOST_ROWS * ROW_BYTES, count: 2 ** 16 },
  { bytes: 16_384, from: MOST_ROWS * ROW_BYTES + 1024 * 2 ** 16, count: 2 ** 11 }
])
const HEAD_PREFIX = 8 // when it came, ms, by performance.timeOrigin and now()
const MEMORY_BYTES = HEADS[1].from + HEADS[1].bytes * HEADS[1].count
const LENGTHS = 2 ** 15
const CLOSES = -1

/** Of a row, in numbers of eight bytes; `LATEST` is 0 or 1, with twice `replayed`. */
const SERIAL = 0
const LATEST = 1
const STATES = Object.freeze([2, 5])
const READ = 0
const WRITTEN = 1
const HEAD = 2

const ESTABLISHED = 1
const ENDED_BY_CLIENT = 8 // CLOSE_WAIT

/** @param {DataView} view @param {number} at where the row begins, in bytes @returns {Row} */
function readRow (view, at) {
  const number = (/** @type {number} */ field) => view.getFloat64(at + 8 * field, true)
  const state = (/** @type {number} */ from) => ({ read: number(from + READ), written: number(from + WRITTEN), head: number(from + HEAD) })
  const flags = number(LATEST)
  const latest = flags % 2 === 1 ? 1 : 0
  return { serial: number(SERIAL), replayed: Math.floor(flags / 2), latest: state(STATES[latest]), other: state(STATES[1 - latest]) }
}

/** @param {[read: number, written: number, unread: number, state: number]} counted @returns {Bytes} the end of the client's half counts as a byte there */
function bytesOf ([read, written, , state]) {
  return { read: state === ENDED_BY_CLIENT ? read - 1 : read, written, state }
}

/**
 * @param {Row} row
 * @param {Bytes} bytes
 * @param {{ length: number, isBodyless: boolean } | null} request the one that is kept with the latest state; `length` of its head
 * @returns {Fate}
 */
function fateOf ({ latest, other }, bytes, request) {
  if (bytes.state !== ESTABLISHED && bytes.state !== ENDED_BY_CLIENT) return 'ended'
  if ([latest, other].some(({ written, head }) => head === CLOSES && written === bytes.written)) return 'ended'
  const isRead = [latest, other].some(({ read, written }) => read === bytes.read && written === bytes.written)
  if (isRead || isAnsweredAtOnce(latest, other, bytes, request)) return bytes.state === ENDED_BY_CLIENT ? 'ended' : 'idle'
  return latest.written === bytes.written && !(latest.read > bytes.read) ? 'unanswered' : 'begun'
}

/**
 * A response that ends while its request's head is being parsed: what that has read is not told by the parser, but by the head.
 *
 * @param {State} latest
 * @param {State} next
 * @param {Bytes} bytes
 * @param {{ length: number, isBodyless: boolean } | null} request
 */
function isAnsweredAtOnce (latest, next, bytes, request) {
  return request !== null && request.isBodyless && Number.isNaN(next.read) && next.written > latest.written && next.written === bytes.written && bytes.read === latest.read + request.length
}

/** @param {number} offset in the file @param {number} length of its text */
function headAt (offset, length) {
  return offset * LENGTHS + length
}

/** @param {number} head @returns {{ offset: number, length: number } | null} null: there is none, or it makes no sense */
function placeOf (head) {
  const [offset, length] = [Math.floor(head / LENGTHS), head % LENGTHS]
  const isSane = Number.isSafeInteger(head) && length > HEAD_PREFIX && offset >= HEADS[0].from && offset + length <= MEMORY_BYTES
  return isSane ? { offset, length } : null
}

/** @param {import('../../core/request-replay').Head} head @returns {string} from which parseHead() makes it again */
function printHead ({ method, url, version, headers }) {
  return `${method} ${url} ${version}\n${headers.join('\n')}`
}

/** @param {string} text @returns {import('../../core/request-replay').Head | null} */
function parseHead (text) {
  const [first, ...headers] = text.split('\n')
  const [method, url, version, ...rest] = first.split(' ')
  const isWhole = version !== undefined && rest.length === 0 && (headers.length % 2 === 0 || (headers.length === 1 && headers[0] === ''))
  return isWhole ? { method, url, version, headers: headers.length === 1 ? [] : headers } : null
}

module.exports = { ROW_BYTES, MOST_ROWS, HEADS, HEAD_PREFIX, CLOSES, MEMORY_BYTES, SERIAL, LATEST, STATES, READ, WRITTEN, HEAD, readRow, bytesOf, fateOf, headAt, placeOf, printHead, parseHead }
