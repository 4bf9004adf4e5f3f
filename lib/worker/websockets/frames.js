'use strict'

/** Messages of a server in WebSocket frames (RFC 6455), message by message. Pure. */

const CONTROL = 8

class Messages {
  /** @type {Buffer} */
  #rest = Buffer.alloc(0)
  /** The frames of a message that is not complete. @type {Buffer[]} */
  #fragments = []

  /**
   * @param {Buffer} bytes that follow the last ones
   * @returns {Buffer[]} the messages and control frames that are complete by now, each with all its frames
   */
  push (bytes) {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    const messages = []
    for (let length; (length = frameLength(this.#rest)) <= this.#rest.length;) {
      const frame = this.#rest.subarray(0, length)
      this.#rest = this.#rest.subarray(length)
      if (isControl(frame)) messages.push(frame)
      else if ((frame[0] & 0x80) === 0) this.#fragments.push(frame)
      else messages.push(this.#fragments.length > 0 ? Buffer.concat([...this.#fragments.splice(0), frame]) : frame)
    }
    return messages
  }

  /** @returns {Buffer} what has come of a message that is not complete */
  takeRest () {
    const rest = Buffer.concat([...this.#fragments.splice(0), this.#rest])
    this.#rest = Buffer.alloc(0)
    return rest
  }
}

/** @param {Buffer} frame */
const isControl = frame => (frame[0] & 0x0f) >= CONTROL

/** @param {Buffer} bytes from the beginning of a frame @returns {number} Infinity: its header is not complete */
function frameLength (bytes) {
  const from = headLength(bytes)
  return bytes.length < from ? Infinity : from + payloadLength(bytes)
}

/** @param {Buffer} bytes from the beginning of a frame @returns {number} with the mask, which those of clients have */
function headLength (bytes) {
  const length = bytes[1] & 0x7f // NaN is 0, where it has not come
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((bytes[1] & 0x80) !== 0 ? 4 : 0)
}

/** @param {Buffer} bytes with a whole head */
function payloadLength (bytes) {
  const length = bytes[1] & 0x7f
  if (length === 126) return bytes.readUInt16BE(2)
  return length === 127 ? Number(bytes.readBigUInt64BE(2)) : length
}

/** @param {Buffer} frame a whole one of a server's, without a mask @returns {Buffer} */
const payloadOf = frame => frame.subarray(headLength(frame))

/**
 * @param {Buffer} frame a whole one
 * @returns {{ code: number | undefined, reason: string } | null} null: it is none that closes
 */
function closeOf (frame) {
  if ((frame[0] & 0x0f) !== CONTROL) return null
  const payload = payloadOf(frame)
  if (payload.length < 2) return { code: undefined, reason: '' }
  return { code: payload.readUInt16BE(0), reason: String(payload.subarray(2)) }
}

module.exports = { Messages, headLength, payloadLength, payloadOf, closeOf, isControl }
