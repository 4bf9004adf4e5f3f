'use strict'

/**
 * Latency in steady state beside latency while a worker was being replaced. Whether a tick of the client falls into a
 * recycle is known when the recycle is over, and the two witnesses need not speak in order: so ticks wait here until
 * they are settled. Ten minutes of them wait at the most, which is exact for a run of ten minutes in any order, and for
 * one of any length whose lines are roughly in the order of time.
 */

const { Histogram } = require('./histogram')

const MOST_WAITING = 2400

/** @typedef {{ from: number, to: number, pairs: Float64Array }} Tick times in ms since the epoch, pairs as readPairs() gives them */

class Latency {
  #steady = new Histogram()
  #recycling = new Histogram()
  /** @type {Tick[]} */
  #waiting = []

  /** @param {import('./time-spans').TimeSpans} spans when a worker was being replaced */
  constructor (spans) {
    this.spans = spans
  }

  /** @param {Tick} tick */
  add (tick) {
    this.#waiting.push(tick)
    if (this.#waiting.length > MOST_WAITING) this.#settle(this.#waiting.splice(0, MOST_WAITING / 2))
  }

  /** @returns {{ steady: import('./histogram').Percentiles | null, recycling: import('./histogram').Percentiles | null }} */
  summary () {
    this.#settle(this.#waiting.splice(0))
    return { steady: this.#steady.summary(), recycling: this.#recycling.summary() }
  }

  /** @param {Tick[]} ticks */
  #settle (ticks) {
    for (const { from, to, pairs } of ticks) (this.spans.overlaps(from, to) ? this.#recycling : this.#steady).add(pairs)
  }
}

module.exports = { Latency }
