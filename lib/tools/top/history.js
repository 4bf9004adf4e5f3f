'use strict'

const KEPT = 60

/** The last minute of a figure, sampled once a second. */
class History {
  /** @type {(number | null)[]} */
  #values = []
  #pushed = 0

  /** @param {number | null} value */
  push (value) {
    this.#pushed++
    this.#values.push(value)
    if (this.#values.length > KEPT) this.#values.shift()
  }

  /**
   * The values in `columns` groups, the highest of each. A value stays in its group, so that the picture moves and does
   * not flicker.
   *
   * @param {number} columns @returns {(number | null)[]} the newest last
   */
  in (columns) {
    const size = Math.ceil(KEPT / columns)
    /** @type {(number | null)[]} */
    const highest = Array(columns).fill(null)
    const newest = Math.ceil(this.#pushed / size)
    for (const [i, value] of this.#values.entries()) {
      const column = columns - 1 - (newest - Math.ceil((this.#pushed - this.#values.length + i + 1) / size))
      if (value !== null && column >= 0) highest[column] = Math.max(highest[column] ?? 0, value)
    }
    return highest
  }
}

module.exports = { History }
