'use strict'

/** What is made of the figures of several rounds. Pure. */

/** @param {number[]} values @returns {number} NaN where there are none */
function median (values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length === 0 ? NaN : sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** @param {number[]} values @returns {{ median: number, min: number, max: number, count: number }} */
function summary (values) {
  const finite = values.filter(Number.isFinite)
  return {
    median: median(finite),
    min: finite.length ? Math.min(...finite) : NaN,
    max: finite.length ? Math.max(...finite) : NaN,
    count: finite.length
  }
}

/**
 * Two subjects beside each other: within each round first, since the machine is not the same from round to round.
 *
 * @param {(Record<string, any> | null)[]} rounds figures of one, by round
 * @param {(Record<string, any> | null)[]} beside of the other
 * @param {string} key
 * @param {(a: number, b: number) => number} [compare] the ratio unless told
 */
function within (rounds, beside, key, compare = (a, b) => a / b) {
  return summary(rounds.map((figures, i) =>
    figures && beside[i] ? compare(Number(figures[key]), Number(beside[i][key])) : NaN))
}

/**
 * @param {number[]} values any order
 * @returns {{ p50: number, p90: number, p99: number, p999: number, max: number }} by nearest rank
 */
function percentiles (values) {
  const sorted = Float64Array.from(values).sort()
  const at = (/** @type {number} */ share) =>
    Math.round(1000 * (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN)) / 1000
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) }
}

module.exports = { median, summary, within, percentiles }
