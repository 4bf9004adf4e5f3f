'use strict'

/**
 * Cuts what a process writes behind its newlines, byte for byte. What has no newline yet is held back, so that the
 * lines of several processes do not mix; a line that is longer than MOST_HELD_BYTES goes on in parts.
 */

const NEWLINE = 10
const MOST_HELD_BYTES = 1024 ** 2

class WholeLines {
  /** @type {Buffer[]} */
  #held = []
  #heldBytes = 0

  /** @param {Buffer} chunk @returns {Buffer | null} whole lines, or a part of one that is too long to be held */
  push (chunk) {
    const cut = chunk.lastIndexOf(NEWLINE) + 1
    const lines = cut === 0 ? null : this.#release(chunk.subarray(0, cut))
    // A copy: not the whole chunk for a few bytes
    if (cut < chunk.length) this.#hold(cut === 0 ? chunk : Buffer.from(chunk.subarray(cut)))
    return lines ?? (this.#heldBytes > MOST_HELD_BYTES ? this.end() : null)
  }

  /** @returns {Buffer | null} what is held */
  end () {
    return this.#heldBytes === 0 ? null : this.#release()
  }

  /** @param {Buffer} bytes */
  #hold (bytes) {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
  }

  /** @param {Buffer} [rest] */
  #release (rest) {
    const parts = rest ? [...this.#held, rest] : this.#held
    this.#held = []
    this.#heldBytes = 0
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }
}

/**
 * @param {Buffer} lines @param {string} linePrefix put before each line, in ASCII
 * @param {boolean} isRest they begin within a line @returns {Buffer}
 */
function prefixLines (lines, linePrefix, isRest) {
  const text = lines.toString('latin1') // a character a byte: none is changed
  const isWhole = text.endsWith('\n')
  const prefixed = (isWhole ? text.slice(0, -1) : text).replaceAll('\n', `\n${linePrefix}`)
  return Buffer.from(`${isRest ? '' : linePrefix}${prefixed}${isWhole ? '\n' : ''}`, 'latin1')
}

module.exports = { WholeLines, prefixLines, MOST_HELD_BYTES, NEWLINE }
