'use strict'

/**
 * The protocol of the control socket: JSON lines in UTF-8, one object a line, each with the version `v`.
 *
 *     fleet → client   { v: 1, hello: { name, pid, app, version } }      at once
 *     client → fleet   { v: 1, id?, verb, …arguments }                    several may run at a time
 *     fleet → client   { v: 1, id, ok: true }                             accepted and begun; then
 *                      { v: 1, id, progress: { … } }                      any number
 *                      { v: 1, id, event: { … } }                         `follow` alone: a line of the journal
 *                      { v: 1, id, result: … }                            done; or
 *                      { v: 1, id, error: { code, message, details } }    refused or failed, also instead of `ok`
 *
 * The client chooses `id`, a number or a short text; an answer without an id is about the connection. A version may
 * gain fields and verbs, and none changes its meaning: ignore what you do not know.
 *
 * A client may disconnect after `ok`: the fleet carries the request out. The fleet closes a connection that sends a
 * line that is too long or incomplete, that is idle for long with no request running, or that does not read.
 */

const { attempt } = require('../core/attempt')
const { CATALOGUE, RecycleError } = require('../core/errors')

const VERSION = 1

/** @typedef {Record<string, any>} Message */

/** Splits a stream of chunks into lines. */
class Lines {
  /** @type {Buffer[]} */
  #parts = []
  #length = 0

  /** @param {number} maxBytes of a line */
  constructor (maxBytes) {
    this.maxBytes = maxBytes
  }

  /** The last line received is incomplete. */
  get isHalf () {
    return this.#length > 0
  }

  /**
   * @param {Buffer} chunk
   * @returns {{ lines: string[], isTooLong: boolean }} complete lines that are not empty; if one is too long, those
   *   before it
   */
  push (chunk) {
    const lines = []
    let rest = chunk
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      if (this.#length + end > this.maxBytes) return { lines, isTooLong: true }
      const line = Buffer.concat([...this.#parts, rest.subarray(0, end)]).toString('utf8').trim()
      if (line !== '') lines.push(line)
      this.#parts = []
      this.#length = 0
      rest = rest.subarray(end + 1)
    }
    this.#length += rest.length
    if (this.#length > this.maxBytes) return { lines, isTooLong: true }
    if (rest.length > 0) this.#parts.push(rest)
    return { lines, isTooLong: false }
  }
}

/** @param {Message} message @returns {string} a line with its end */
const encode = message => `${JSON.stringify({ v: VERSION, ...message })}\n`

/** @param {string} line @returns {Message | null} null: not a message of this version */
function decode (line) {
  const message = attempt(() => JSON.parse(line), null)
  return message?.v === VERSION ? message : null
}

/**
 * @param {string} line @returns {{ id: string | number | null, verb: string, args: Record<string, unknown> }}
 * @throws {RecycleError} RECYCLE_BAD_REQUEST; `details.id` is the request's id, if it has one
 */
function readRequest (line) {
  const request = attempt(() => JSON.parse(line), undefined)
  if (request === undefined) throw bad('it is not JSON')
  if (request === null || typeof request !== 'object' || Array.isArray(request)) throw bad('it is not an object')
  const { v, id = null, verb, ...args } = request
  if (!(id === null || Number.isFinite(id) || (typeof id === 'string' && id.length <= 64))) {
    throw bad('its id is neither a number nor a text of up to 64 characters')
  }
  if (v !== VERSION) {
    throw bad(`its v is ${JSON.stringify(v)?.slice(0, 20) ?? 'missing'}; this fleet uses ${VERSION}`, id)
  }
  if (typeof verb !== 'string') throw bad('it has no verb', id)
  return { id, verb, args }
}

/** @param {string} why @param {string | number | null} [id] */
const bad = (why, id = null) => new RecycleError('RECYCLE_BAD_REQUEST', { why, id })

/** @param {unknown} error @returns {{ code: string, message: string, details: Record<string, unknown> }} */
function writeError (error) {
  if (error instanceof RecycleError) return { code: error.code, message: error.message, details: error.details }
  const why = error instanceof Error ? error.message : String(error)
  return writeError(new RecycleError('RECYCLE_VERB_FAILED', { why }))
}

/** The error that the fleet threw. @param {any} error @returns {RecycleError} */
function readError (error) {
  const { code, message = 'the fleet gave no reason', details } = error ?? {}
  if (Object.hasOwn(CATALOGUE, code)) {
    const thrown = new RecycleError(code, details)
    if (thrown.message === message) return thrown
  }
  return new RecycleError('RECYCLE_VERB_FAILED', { why: message })
}

module.exports = { Lines, encode, decode, readRequest, writeError, readError }
