'use strict'

/** @import { Entry } from './entry' */

/**
 * The connections that wait for a receiver, in their order. There may be thousands of them, with every answer an
 * occasion to place one.
 */

class Queue {
  /** @type {Set<Entry>} */
  #entries = new Set()
  #isPumpScheduled = false

  /**
   * @param {(entry: Entry) => import('./placement').Why | null} place gives an entry to a receiver, where there is one;
   *   and why it waits, or goes back
   */
  constructor (place) {
    this.place = place
  }

  /** @param {Entry} entry */
  add (entry) {
    this.#entries.add(entry)
  }

  /** @param {Entry} entry */
  delete (entry) {
    this.#entries.delete(entry)
  }

  /** Places what can be placed. Behind one that waits for room, its sender's others wait too. */
  pump () {
    /** The keys of those, by sender. @type {Map<Entry['sender'], string>} */
    const full = new Map()
    for (const entry of this.#entries) {
      const { sender, parcel: { key }, isFresh } = entry
      if (isFresh && full.get(sender) === key) continue
      if (this.place(entry) === 'full' && isFresh) full.set(sender, key)
    }
  }

  /**
   * Once for all the answers of a batch, behind the next poll: a receiver that cannot be sent to has died, and the poll
   * tells of it.
   */
  pumpSoon () {
    if (this.#isPumpScheduled || this.#entries.size === 0) return
    this.#isPumpScheduled = true
    setImmediate(() => {
      this.#isPumpScheduled = false
      this.pump()
    })
  }
}

module.exports = { Queue }
