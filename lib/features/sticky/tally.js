'use strict'

/**
 * Counts what tells that a session is named wrongly: requests without one, and those of the most frequent session, by
 * Boyer and Moore's majority vote.
 */

const { hashOf } = require('./rendezvous')

const EACH = 1000 // requests, of which the primary is told

class Tally {
  #requests = 0
  #found = 0
  #begun = 0
  /** @type {string | null} */
  #candidate = null
  #votes = 0

  /** @param {(counts: import('./fleet-tally').Counts) => void} tell */
  constructor (tell) {
    this.tell = tell
  }

  /** @param {string | null} session of a request */
  count (session) {
    if (session !== null) {
      this.#found++
      if (this.#votes === 0) this.#candidate = session
      this.#votes += session === this.#candidate ? 1 : -1
    }
    if (++this.#requests < EACH) return
    const which = this.#candidate === null ? 0 : hashOf(this.#candidate)
    this.tell({ requests: this.#requests, found: this.#found, begun: this.#begun, most: this.#votes, which })
    this.#requests = this.#found = this.#begun = this.#votes = 0
  }

  /** A response has begun a session. */
  begin () {
    this.#begun++
  }
}

module.exports = { Tally }
