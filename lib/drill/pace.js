'use strict'

/**
 * When requests are due. With a rate they are due at even intervals, whether or not a client is free to send them: one
 * that must wait is sent late, and its latency is measured from when it was due. A slow server cannot hide its slowness
 * by keeping its clients from asking ("coordinated omission"; Tene, wrk2). Pure.
 */
class Pace {
  #taken = 0

  /**
   * @param {number} rate requests per second
   * @param {number} startAt ms
   */
  constructor (rate, startAt) {
    this.intervalMs = 1000 / rate
    this.startAt = startAt
  }

  /** When the next request is due, ms. */
  get nextAt () {
    return this.startAt + this.#taken * this.intervalMs
  }

  /** @param {number} t ms @returns {number | null} when the request that is to be sent now was due; null: none is due */
  take (t) {
    const dueAt = this.nextAt
    if (dueAt > t) return null
    this.#taken++
    return dueAt
  }
}

module.exports = { Pace }
