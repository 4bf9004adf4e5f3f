'use strict'

/**
 * A bounded set that forgets what has not been used for long: by second chance, as an operating system chooses the
 * pages to evict. A use costs nothing but a mark; a hand goes round, takes marks off, and takes out what has none.
 */

const CHANCES = 16 // marks taken off for one addition

class SecondChanceSet {
  /** Whether each has been used since the hand was there. @type {Map<string, boolean>} */
  #isUsed = new Map()
  /** An iterator of its own: the first entry of a table with many deleted ones is found slowly. */
  #hand = this.#isUsed.keys()

  /** @param {number} most */
  constructor (most) {
    this.most = most
  }

  get size () {
    return this.#isUsed.size
  }

  /** @returns {string[]} */
  get keys () {
    return [...this.#isUsed.keys()]
  }

  /** @param {string} key a use of it @returns {boolean} */
  has (key) {
    const isUsed = this.#isUsed.get(key)
    if (isUsed === false) this.#isUsed.set(key, true)
    return isUsed !== undefined
  }

  /** @param {string} key */
  add (key) {
    this.#isUsed.set(key, true)
    for (let chances = CHANCES; this.size > this.most; chances--) {
      const oldest = this.#next()
      if (chances > 0) this.forgetUnused(oldest)
      else this.delete(oldest)
    }
  }

  /**
   * @param {string} key is forgotten, unless it has been used since this was last asked
   * @returns {boolean} it is not there any more
   */
  forgetUnused (key) {
    if (this.#isUsed.get(key)) this.#isUsed.set(key, false)
    else this.#isUsed.delete(key)
    return !this.#isUsed.has(key)
  }

  /** @param {string} key */
  delete (key) {
    this.#isUsed.delete(key)
  }

  clear () {
    this.#isUsed.clear()
  }

  /** @returns {string} where the hand is; there is at least one */
  #next () {
    let { value } = this.#hand.next()
    if (value === undefined) {
      this.#hand = this.#isUsed.keys()
      value = this.#hand.next().value
    }
    return /** @type {string} */ (value)
  }
}

module.exports = { SecondChanceSet }
