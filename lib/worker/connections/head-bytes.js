'use strict'

/**
 * The bytes of a request's head as the client sent them, from its first one on. What Node's parser says of a head does
 * not give them again: it leaves out headers behind the first thousand, joins folded lines, and says nothing of a head
 * that has come in part.
 *
 * Only a head that begins where a chunk does, behind a whole request, is known to be complete in these chunks. Such a
 * chunk is known by what came before it, so the parser tells of a beginning only from a head's end to that of the chunk
 * in which its request ends. This runs for every request, so it is kept short.
 */

const { EventEmitter } = require('node:events')
const { currentChunk, isRefused, isWithinMessage, watchBegin, watchParser } = require('../../core/internals')
/** @import { Parser } from '../../core/internals' */

const MOST_BYTES = 1_000_000 // a message to the primary has a limit
const MOST_CHUNKS = 32 // each takes much more than its bytes

/** @type {readonly Buffer[]} */
const NONE = Object.freeze([])
const NOTHING = () => {}
const LINE_ENDS = /^[\r\n]*$/ // which no parser heeds before a head

class HeadBytes {
  /** The chunks before the current one. */
  #earlier = NONE
  #length = 0
  /** With the current chunk they begin where the head does. */
  #isExact = true
  #isInHead = false
  /** The parser tells when a head begins. */
  #isWatched = false
  #began = () => { this.#isInHead = true }
  /** The latest whose head has ended. @type {{ complete: boolean } | null} */
  #request = null
  /** The count of bytes that had been read from the handle when this last knew where the client is. */
  #readTo = 0
  #follows = false
  #whenParsed = NOTHING

  /** @param {import('node:net').Socket} socket that http has just given a parser */
  constructor (socket) {
    this.socket = socket
    this.parser = /** @type {Parser} */ (socket.parser)
    watchParser(this.parser, this)
    if (socket.readableLength > 0) this.follow() // what it was adopted with is parsed from the stream
  }

  /** The parser reads the stream, or may do so, and not the handle. */
  follow () {
    if (this.#follows) return
    this.#follows = true
    const { socket, parser } = this
    const onData = (/** @type {Buffer} */ chunk) => {
      if (socket.parser === parser) this.#endChunk(chunk)
      else socket.removeListener('data', onData)
    }
    // By http's own on() the parser would stop to read the handle.
    EventEmitter.prototype.on.call(socket, 'data', onData)
  }

  /** A chunk from the handle has been parsed. */
  executed () {
    this.#endChunk()
    this.#whenParsed()
  }

  /**
   * @param {() => void} fn to be called from now on as each chunk has been parsed, and so the handlers of its requests
   *   have been called; it costs less than a promise @returns {boolean} false: the parser may read the stream
   */
  whenParsed (fn) {
    if (!this.#follows) this.#whenParsed = fn
    return !this.#follows
  }

  /** @param {Buffer} [chunk] of the stream */
  #endChunk (chunk) {
    if (!this.#isWatched) return this.#endChunkOfHead(chunk ?? currentChunk(this.socket))
    if (this.#isInHead) return this.#unwatch()
    this.#earlier = NONE
    this.#length = 0
    this.#isExact = this.#request?.complete === true
    if (this.#isExact) this.#unwatch()
  }

  /** No head has ended in it, and no body. @param {Buffer | undefined} chunk */
  #endChunkOfHead (chunk) {
    this.#isInHead ||= !chunk || !LINE_ENDS.test(chunk.toString('latin1'))
    if (!this.#isInHead && this.#request === null) this.#readTo = this.socket.bytesRead
    if (this.#isInHead && this.#isExact) this.#keep(chunk)
  }

  #unwatch () {
    this.#isWatched = false
    if (this.socket.parser === this.parser) watchBegin(this.parser, null)
  }

  /** @param {Buffer | undefined} chunk */
  #keep (chunk) {
    this.#length += chunk?.length ?? Infinity
    this.#isExact = this.#length <= MOST_BYTES
    const chunks = [...this.#earlier, ...chunk ? [chunk] : []]
    this.#earlier = !this.#isExact ? NONE : chunks.length < MOST_CHUNKS ? chunks : [Buffer.concat(chunks)]
    this.#readTo = this.socket.bytesRead
  }

  /** Of no message a part has come that is not whole. As long as a chunk is being parsed, its rest has not. */
  get isBetweenMessages () {
    return !this.#isInHead && this.socket.parser === this.parser && !isWithinMessage(this.socket)
  }

  /**
   * A part of a head has come; empty: nothing of one has, though blank lines may have come.
   * @returns {Buffer | null} null: it is not known, a request is under way, or the parser has refused it
   */
  get part () {
    const { socket } = this
    const isKnown = this.#isExact && this.#readTo === socket.bytesRead && socket.readableLength === 0
    if (isKnown && isRefused(socket)) return null // the next worker would refuse it, too
    return isKnown && (this.#isInHead || this.#request === null) ? Buffer.concat(this.#earlier) : null
  }

  /**
   * To be called in the parser's `onIncoming`, before next().
   * @returns {Buffer | null} to the end of the chunk in which the head ends; null: they are not known
   */
  take () {
    const chunk = currentChunk(this.socket)
    if (!this.#isExact || !chunk) return null
    const bytes = Buffer.concat([...this.#earlier, chunk])
    return bytes.length > MOST_BYTES ? null : bytes
  }

  /**
   * Another head in this chunk does not begin where the chunk does.
   * @param {{ complete: boolean }} request whose head has just ended
   */
  next (request) {
    this.#isInHead = this.#isExact = false
    this.#request = request
    if (this.#isWatched || this.socket.parser !== this.parser) return
    this.#isWatched = true
    watchBegin(this.parser, this.#began)
  }
}

module.exports = { HeadBytes }
