'use strict'

/**
 * Latency in steady state, and latency while a worker was being replaced. Whether a tick overlaps a recycle is known
 * only after the recycle, and the lines may come in any order, so ticks are buffered. The buffer holds ten minutes. The
 * result is exact for a run of up to ten minutes, and for longer runs whose lines are roughly in the order of time.
 */

const { Histogram } = require('./histogram')
/** @import { Percentiles } from './histogram' */

const MOST_WAITING = 2400

/** @typedef {{ from: number, to: number, pairs: Float64Array }} Tick times in ms, pairs as readPairs() gives them */

class Latency {
  #steady = new Histogram()
  #recycling = new Histogram()
  /** @type {Tick[]} */
  #waiting = []

  /** @param {import('./figures').TimeSpans} spans of recycles */
  constructor (spans) {
    this.spans = spans
  }

  /** @param {Tick} tick */
  add (tick) {
    this.#waiting.push(tick)
    if (this.#waiting.length > MOST_WAITING) this.#settle(this.#waiting.splice(0, MOST_WAITING / 2))
  }

  /** @returns {{ steady: Percentiles | null, recycling: Percentiles | null }} */
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
