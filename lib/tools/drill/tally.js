'use strict'

/**
 * Counts ended requests in buckets of time. Pure: the time is an argument.
 *
 * @typedef {object} Tick
 * @property {number} t the bucket's start, ms since the epoch; a multiple of its length, so that the buckets of all
 *   processes align
 * @property {number} ms its length
 * @property {number} requests that ended in it, including dropped ones
 * @property {number} dropped
 * @property {[number, number][]} latency [ms, number of requests], ascending
 */

const { Histogram } = require('../report/histogram')

const BUCKET_MS = 250

class Tally {
  /** @type {{ t: number, requests: number, dropped: number, latency: Histogram }[]} */
  #buckets = []

  /** @param {number} t @param {number} latencyMs */
  answered (t, latencyMs) {
    const bucket = this.#bucket(t)
    bucket.requests++
    bucket.latency.count(latencyMs <= 0 ? 0 : Number(latencyMs.toPrecision(3)))
  }

  /** @param {number} t */
  dropped (t) {
    const bucket = this.#bucket(t)
    bucket.requests++
    bucket.dropped++
  }

  /**
   * Removes the buckets that end at `t` or earlier.
   * @param {number} t ms since the epoch; Infinity: all @returns {Tick[]} without gaps
   */
  take (t) {
    if (Number.isFinite(t)) this.#bucket(t)
    const over = this.#buckets.filter(bucket => bucket.t + BUCKET_MS <= t)
    this.#buckets = this.#buckets.slice(over.length)
    return over.map(({ latency, ...bucket }) => ({ ...bucket, ms: BUCKET_MS, latency: latency.sorted }))
  }

  /** @param {number} t */
  #bucket (t) {
    const start = Math.floor(t / BUCKET_MS) * BUCKET_MS
    let last = this.#buckets.at(-1)
    while (!last || last.t < start) {
      last = { t: last ? last.t + BUCKET_MS : start, requests: 0, dropped: 0, latency: new Histogram() }
      this.#buckets.push(last)
    }
    return last
  }
}

/** Adds two processes' ticks of the same bucket. @param {Tick} a @param {Tick} b @returns {Tick} */
function mergeTicks (a, b) {
  const { sorted: latency } = latencyOf([a, b])
  return { t: a.t, ms: a.ms, requests: a.requests + b.requests, dropped: a.dropped + b.dropped, latency }
}

/** @param {readonly Tick[]} ticks */
function latencyOf (ticks) {
  const latency = new Histogram()
  for (const tick of ticks) for (const [ms, times] of tick.latency) latency.count(ms, times)
  return latency
}

module.exports = { Tally, latencyOf, mergeTicks, BUCKET_MS }
