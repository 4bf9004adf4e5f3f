'use strict'

/**
 * The bytes of a request's head as the client sent them, from its first one to the end of the chunk in which the head
 * ends. What Node's parser says of a head does not give them again: it leaves out headers behind the first thousand,
 * and joins folded lines.
 *
 * Only a head that begins where a chunk does, behind a whole request, is known to be complete in these chunks.
 */

const { EventEmitter } = require('node:events')
const { currentChunk, watchParser } = require('../../core/internals')

const MOST_BYTES = 1_000_000 // a message to the primary has a limit

class HeadBytes {
  /** The chunks before the current one. @type {Buffer[]} */
  #earlier = []
  /** With the current chunk they begin where the head does. */
  #isExact = true
  #isInHead = false
  /** The latest whose head has ended. @type {{ complete: boolean } | null} */
  #request = null

  /** @param {any} socket that http has just given a parser */
  constructor (socket) {
    this.socket = socket
    watchParser(socket.parser, {
      begin: () => { this.#isInHead = true },
      executed: () => this.#endChunk(() => currentChunk(socket))
    })
    // Where the parser reads the stream, and not the handle. By http's own on() the parser would stop to read the
    // handle.
    EventEmitter.prototype.on.call(socket, 'data', this.#onData)
  }

  #onData = (/** @type {Buffer} */ chunk) => this.#endChunk(() => chunk)

  /** @param {() => Buffer | undefined} chunk */
  #endChunk (chunk) {
    if (!this.#isInHead) {
      this.#earlier = []
      this.#isExact = this.#request === null || this.#request.complete
    } else if (this.#isExact) {
      this.#earlier.push(/** @type {Buffer} */ (chunk()))
    }
  }

  /** To be called in the parser's `onIncoming`, before next(). @returns {Buffer | null} null: they are not known */
  take () {
    const chunk = currentChunk(this.socket)
    if (!this.#isExact || !chunk) return null
    const bytes = Buffer.concat([...this.#earlier, chunk])
    return bytes.length > MOST_BYTES ? null : bytes
  }

  /**
   * Another head in this chunk does not begin where the chunk does.
   *
   * @param {{ complete: boolean }} request whose head has just ended
   */
  next (request) {
    this.#isInHead = this.#isExact = false
    this.#request = request
  }

  /** The connection is another protocol's from here on. */
  end () {
    this.socket.removeListener('data', this.#onData)
  }
}

module.exports = { HeadBytes }
