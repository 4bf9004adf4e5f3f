'use strict'

/**
 * The times at which requests are due: even intervals, whether or not a client is free. A request that waits for a
 * client is sent late, and its latency counts from the time it was due. So a slow server cannot hide delays by keeping
 * clients busy ("coordinated omission"; Tene, wrk2). Pure.
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

  /** @param {number} t ms @returns {number | null} when the next request was due; null: none is due yet */
  take (t) {
    const dueAt = this.nextAt
    if (dueAt > t) return null
    this.#taken++
    return dueAt
  }
}

module.exports = { Pace }
