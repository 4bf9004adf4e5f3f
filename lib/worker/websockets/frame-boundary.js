'use strict'

/** Where in a stream of WebSocket frames (RFC 6455) a client is, by its bytes alone. Pure. */

const { headLength, payloadLength } = require('./frames')

const MOST_KEPT = 1_000_000
const LONGEST_HEADER = 14
const CLOSE = 8

class FrameBoundary {
  /** Messages and control frames that have come whole, but for those that close. */
  frames = 0
  /** A message has come in part: more fragments follow. */
  #isFragmented = false
  /** The header of the frame under way, as far as it has come. */
  #header = Buffer.alloc(LONGEST_HEADER)
  #headerBytes = 0
  /** Bytes of its payload that are to come; meaningless while its header is. */
  #left = 0
  #isInPayload = false
  /** The bytes that have come of it; null: too much to keep. @type {Buffer[] | null} */
  #kept = []
  #keptBytes = 0

  /**
   * The bytes that have come of the next frame; null: the connection is in the middle of a message, or of a long frame.
   * @returns {Buffer | null}
   */
  get rest () {
    if (this.#isFragmented || this.#kept === null) return null
    return Buffer.concat(this.#kept)
  }

  /** @param {Buffer} chunk @returns {number} how many more `frames` there are by it */
  push (chunk) {
    const before = this.frames
    let at = 0
    while (at < chunk.length) {
      const from = at
      if (!this.#isInPayload) at = this.#readHeader(chunk, at)
      else {
        const taken = Math.min(this.#left, chunk.length - at)
        this.#left -= taken
        at += taken
      }
      this.#keep(chunk, from, at)
      if (this.#isInPayload && this.#left === 0) this.#end()
    }
    return this.frames - before
  }

  /** @param {Buffer} chunk @param {number} at @returns {number} behind what it has of the header */
  #readHeader (chunk, at) {
    for (; at < chunk.length; at++) {
      this.#header[this.#headerBytes++] = chunk[at]
      if (this.#headerBytes < 2 || this.#headerBytes < headLength(this.#header)) continue
      this.#left = payloadLength(this.#header)
      this.#isInPayload = true
      return at + 1
    }
    return at
  }

  /**
   * A view: the buffer that a socket reads into is not used again.
   * @param {Buffer} chunk @param {number} from @param {number} to
   */
  #keep (chunk, from, to) {
    this.#keptBytes += to - from
    if (this.#kept === null || this.#keptBytes > MOST_KEPT) this.#kept = null
    else this.#kept.push(chunk.subarray(from, to))
  }

  #end () {
    const isFinal = (this.#header[0] & 0x80) !== 0
    const opcode = this.#header[0] & 0x0f
    const isControl = opcode >= CLOSE
    if (!isControl) this.#isFragmented = !isFinal
    if (opcode !== CLOSE && isFinal) this.frames++
    this.#headerBytes = 0
    this.#isInPayload = false
    this.#kept = []
    this.#keptBytes = 0
  }
}

module.exports = { FrameBoundary }
