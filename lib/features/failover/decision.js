'use strict'

/**
 * The end of a connection whose worker has died, by what the worker had noted, what the kernel has counted, and
 * what is kept of what was read. Pure.
 *
 * What was read is given to another worker once, whatever it is: a request, a part of one, or bytes that are neither.
 * If that worker dies too, no third one gets it. Ends of lines are not given, but count: the connection closes at the
 * second death that follows them.
 *
 * @typedef {object} Request what is kept of what was read since the connection was idle
 * @property {Buffer} bytes
 * @property {import('../../core/request-replay').Head | null} head null: it is not whole, or none
 * @property {boolean} isAlone it has no body, and nothing follows it
 * @property {boolean} isBlank there are but ends of lines
 * @property {boolean} mayBeSeen the app may have been given it, though its worker has not noted that
 *
 * @typedef {'closed' | 'closed-gently' | 'reset' | 'moved' | 'replayed' | 'answered'} End
 *   closed          the client has closed it, or the worker had; or no worker follows
 *   closed-gently   its request is answered, and the rest of the request was to come
 *   reset           a response had begun: the client must not take a part for the whole
 *   moved           to another worker, with what was read, of which the app has seen no request
 *   replayed        to another worker, which handles its request once more
 *   answered        502, or 500 where the app's code has thrown
 */

const { isBodyless, isReplaySafe } = require('../../core/request-replay')
const { ENDED_BY_CLIENT, fateOf, lengthOfLineEnds, mayBeUpgrade, parseHead } = require('./row')

/** @param {Buffer} bytes @returns {Request} */
function readRequest (bytes) {
  const text = bytes.toString('latin1')
  const parsed = parseHead(text)
  return {
    bytes,
    head: parsed && parsed.head,
    isAlone: parsed !== null && parsed.length === bytes.length && isBodyless(parsed.head),
    isBlank: lengthOfLineEnds(text) === bytes.length,
    mayBeSeen: mayBeUpgrade(text)
  }
}

/**
 * @param {import('./row').Row} row @param {import('./row').Bytes | null} counted null: the connection is gone
 * @param {Request | null} request null: nothing is kept
 * @param {{ isStopping: boolean, isBlocking: boolean, isReplaying: boolean }} how `isStopping`: no worker follows;
 *   `isBlocking`: this request has held the worker's event loop; `isReplaying`: `--replay safe`
 * @returns {{ end: End, given: Buffer | null, deaths: number, hasLeft: boolean }} `given`: what the other worker gets
 *   of what was read; `deaths`: of workers, by what has come since the last answer; `hasLeft`: the client has ended its
 *   half, and mostly waits for no answer
 */
function decide (row, counted, request, { isStopping, isBlocking, isReplaying }) {
  const to = (/** @type {End} */ end, given = request?.bytes ?? null, deaths = row.deaths + 1) =>
    ({ end, given, deaths, hasLeft: counted?.state === ENDED_BY_CLIENT })
  const fate = counted ? fateOf(row, counted, request?.isAlone === true) : 'ended'
  if (fate === 'ended') return to('closed')
  if (fate === 'answered') return to('closed-gently')
  if (fate === 'begun') return to('reset')
  if (fate === 'idle') {
    const atStop = Number(counted?.unread) > 0 ? 'answered' : 'closed' // to close it would reset a request
    return to(isStopping ? atStop : 'moved', null, row.deaths)
  }
  const isAllKept = request !== null && counted?.read === row.latest.read + request.bytes.length
  if (isAllKept && request.isBlank) return to(isStopping || row.deaths !== 0 ? 'closed' : 'moved', null)
  if (isStopping || !isAllKept) return to('answered')
  if (isBlocking || row.deaths !== 0 || row.hasThrown) return to('answered')
  if (!row.isSeen && !request.mayBeSeen) return to('moved')
  const isReplayed = isReplaying && request.head !== null && request.isAlone && isReplaySafe(request.head)
  return to(isReplayed ? 'replayed' : 'answered')
}

module.exports = { readRequest, decide }
