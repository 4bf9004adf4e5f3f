'use strict'

const { asCount, asNumber } = require('../../core/journal-field')
/** @import { Count } from '../../core/journal-field' */

/**
 * How often each latency occurred. Values have three significant digits, so the number of different values is bounded.
 *
 * @typedef {object} Percentiles latencies in ms
 * @property {Count} requests how many
 * @property {Count} mean @property {Count} p50 @property {Count} p90 @property {Count} p99 @property {Count} p999
 * @property {Count} max
 */
class Histogram {
  /** @type {Map<number, number>} */
  #counts = new Map()
  total = 0

  /** @param {number} ms @param {number} [times] */
  count (ms, times = 1) {
    this.#counts.set(ms, (this.#counts.get(ms) ?? 0) + times)
    this.total += times
  }

  /** Latencies in ms, ascending, each with how often it occurred. @returns {[number, number][]} */
  get sorted () {
    return [...this.#counts].sort(([a], [b]) => a - b)
  }

  /** @param {Float64Array} pairs as readPairs() gives them */
  add (pairs) {
    for (let i = 0; i < pairs.length; i += 2) this.count(pairs[i], pairs[i + 1])
  }

  /** @param {Histogram} other */
  merge (other) {
    for (const [ms, count] of other.#counts) this.count(ms, count)
  }

  /** @param {number[]} shares 0 to 1, ascending @returns {(number | null)[]} ms; null if it is empty */
  percentiles (shares) {
    const { sorted } = this
    let i = 0
    let below = 0
    return shares.map(share => {
      const rank = Math.max(1, Math.ceil(share * this.total))
      while (i < sorted.length - 1 && below + sorted[i][1] < rank) below += sorted[i++][1]
      return sorted[i]?.[0] ?? null
    })
  }

  /** @returns {Percentiles | null} null: the histogram is empty */
  summary () {
    if (this.total === 0) return null
    const [p50, p90, p99, p999, max] = this.percentiles([0.5, 0.9, 0.99, 0.999, 1]).map(Number)
    let sum = 0
    for (const [ms, count] of this.#counts) sum += ms * count
    return { requests: this.total, mean: round(sum / this.total), p50, p90, p99, p999, max }
  }
}

/**
 * Pairs of a latency and its count, in a flat array, which takes far less memory than nested arrays.
 * @param {unknown} value the journal's `[[ms, count], …]`; items of another form are ignored @returns {Float64Array}
 */
function readPairs (value) {
  if (!Array.isArray(value)) return new Float64Array(0)
  const pairs = new Float64Array(2 * value.length)
  let end = 0
  for (const pair of value) {
    if (!Array.isArray(pair)) continue
    const ms = asNumber(pair[0])
    const count = asCount(pair[1])
    if (ms === null || ms < 0 || count === 0) continue
    pairs[end++] = round(ms)
    pairs[end++] = count
  }
  return pairs.subarray(0, end)
}

/** To three significant digits, or to a microsecond. @param {number} ms */
function round (ms) {
  if (ms < 1) return Math.round(ms * 1000) / 1000
  const step = 10 ** Math.abs(Math.floor(Math.log10(ms)) - 2)
  return ms < 100 ? Math.round(ms * step) / step : Math.round(ms / step) * step
}

const MOST_WAITING = 2400

/** @typedef {{ from: number, to: number, pairs: Float64Array }} Tick times in ms, pairs as readPairs() gives them */

/**
 * Latency in steady state, and latency while a worker was being replaced. Whether a tick overlaps a recycle is known
 * only after the recycle, and the lines may come in any order, so ticks are buffered. The buffer holds ten minutes. The
 * result is exact for a run of up to ten minutes, and for longer runs whose lines are roughly in the order of time.
 */
class Latency {
  #steady = new Histogram()
  #recycling = new Histogram()
  /** @type {Tick[]} */
  #waiting = []

  /** @param {import('./time-spans').TimeSpans} spans of recycles */
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

module.exports = { Histogram, Latency, readPairs }
