'use strict'

/** The connections that are on their way from one worker to another, each by its number. */

const { Entry } = require('./entry')

const SETTLED_WITHIN_MS = 30_000

class UnderWay {
  /** @type {Map<number, Entry>} */
  #entries = new Map()
  #lastId = 0
  #onSettled = () => {}

  /** @param {Omit<import('./entry').Offered, 'id'>} offered */
  add (offered) {
    const entry = new Entry({ id: ++this.#lastId, ...offered })
    this.#entries.set(entry.id, entry)
    return entry
  }

  /**
   * By a new number, a late answer to the sending before is told from the one to the next: several receivers may be one
   * primary's.
   *
   * @param {Entry} entry
   */
  renumber (entry) {
    this.#entries.delete(entry.id)
    entry.id = ++this.#lastId
    this.#entries.set(entry.id, entry)
  }

  /** @param {number} id */
  get (id) {
    return this.#entries.get(id)
  }

  /** @param {Entry} entry */
  delete (entry) {
    this.#entries.delete(entry.id)
    if (this.#entries.size === 0) this.#onSettled()
  }

  [Symbol.iterator] () {
    return this.#entries.values()
  }

  /** @returns {Promise<void>} resolves when no connection is on its way, or after half a minute */
  async settled () {
    if (this.#entries.size === 0) return
    await new Promise(resolve => {
      const timer = setTimeout(resolve, SETTLED_WITHIN_MS)
      this.#onSettled = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  }
}

module.exports = { UnderWay }
