'use strict'

/**
 * What is said over the control socket: JSON lines in UTF-8, one object a line, each with the version `v`.
 *
 *     fleet → client   { v: 1, hello: { name, pid, app, version } }      at once
 *     client → fleet   { v: 1, id?, verb, …arguments }                    several may be under way
 *     fleet → client   { v: 1, id, ok: true }                             understood and begun; then
 *                      { v: 1, id, progress: { … } }                      any number
 *                      { v: 1, id, event: { … } }                         `follow` alone: a line of the journal
 *                      { v: 1, id, result: … }                            done; or
 *                      { v: 1, id, error: { code, message, details } }    refused or failed, also in the place of `ok`
 *
 * `id` is the client's, a number or a short text; an answer without one is about the connection. Within a version fields
 * and verbs are added, and none changes its meaning: pass over what you do not know.
 *
 * A client may leave once it has heard `ok`: what it asked for goes on. It is closed when it sends a line that is too
 * long or half a line and no more, when it says nothing for long with nothing under way, and when it does not read.
 */

const { CATALOGUE, RecycleError } = require('../core/errors')

const VERSION = 1

/** @typedef {Record<string, any>} Message */

/** Puts lines together from chunks. */
class Lines {
  /** @type {Buffer[]} */
  #parts = []
  #length = 0

  /** @param {number} maxBytes of a line */
  constructor (maxBytes) {
    this.maxBytes = maxBytes
  }

  /** Part of a line has come, and not the rest. */
  get isHalf () {
    return this.#length > 0
  }

  /**
   * @param {Buffer} chunk
   * @returns {{ lines: string[], isTooLong: boolean }} whole lines, without empty ones; where one is too long, those before it
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
function encode (message) {
  return `${JSON.stringify({ v: VERSION, ...message })}\n`
}

/** @param {string} line @returns {Message | null} null: it is no message of ours */
function decode (line) {
  try {
    const message = JSON.parse(line)
    return message?.v === VERSION ? message : null
  } catch {
    return null
  }
}

/**
 * @param {string} line
 * @returns {{ id: string | number | null, verb: string, args: Record<string, any> }}
 * @throws {RecycleError} RECYCLE_BAD_REQUEST; its details have the `id` where there is one
 */
function readRequest (line) {
  /** @type {any} */
  let request
  try {
    request = JSON.parse(line)
  } catch {
    throw bad('it is not JSON')
  }
  if (request === null || typeof request !== 'object' || Array.isArray(request)) throw bad('it is not an object')
  const { v, id = null, verb, ...args } = request
  if (!(id === null || Number.isFinite(id) || (typeof id === 'string' && id.length <= 64))) throw bad('its id is neither a number nor a text of up to 64 characters')
  if (v !== VERSION) throw bad(`its v is ${JSON.stringify(v)?.slice(0, 20) ?? 'missing'}; this fleet speaks ${VERSION}`, id)
  if (typeof verb !== 'string') throw bad('it has no verb', id)
  return { id, verb, args }
}

/** @param {string} why @param {string | number | null} [id] */
function bad (why, id = null) {
  return new RecycleError('RECYCLE_BAD_REQUEST', { why, id })
}

/** @param {unknown} error @returns {{ code: string, message: string, details: Record<string, any> }} */
function writeError (error) {
  if (error instanceof RecycleError) return { code: error.code, message: error.message, details: error.details }
  const why = error instanceof Error ? error.message : String(error)
  return writeError(new RecycleError('RECYCLE_VERB_FAILED', { why }))
}

/** The error as the fleet has thrown it. @param {any} error @returns {RecycleError} */
function readError (error) {
  const { code, message = 'it did not say why', details } = error ?? {}
  if (Object.hasOwn(CATALOGUE, code)) {
    const thrown = new RecycleError(code, details)
    if (thrown.message === message) return thrown
  }
  return new RecycleError('RECYCLE_VERB_FAILED', { why: message })
}

module.exports = { VERSION, Lines, encode, decode, readRequest, writeError, readError }
