'use strict'

/**
 * Each slot's memory over time, for the charts. Of each time span the lowest and the highest sample are kept, in order,
 * so that no peak is lost.
 *
 * @typedef {object} Point
 * @property {number} t ms since the epoch
 * @property {number} bytes
 * @property {number | null} budget bytes
 *
 * @typedef {{ low: Point | null, high: Point | null }} Span
 */

const { Timeline } = require('./timeline')

const FINEST_MS = 100
const MOST_SPANS = 12_000 // over all slots
const FEWEST_SPANS = 50
const MOST_SLOTS = 1024

class Memory {
  /** @type {Map<number, Timeline<Span>>} */
  #slots = new Map()

  /** @param {number} slot @param {number} t @param {number} bytes @param {number | null} budget */
  add (slot, t, bytes, budget) {
    const span = this.#slot(slot)?.at(t)
    if (span) widen(span, { t, bytes, budget })
  }

  /** @returns {{ slot: number, points: Point[] }[]} */
  series () {
    return [...this.#slots].sort((a, b) => a[0] - b[0]).map(([slot, timeline]) => ({
      slot,
      points: timeline.list().flatMap(({ cell: { low, high } }) =>
        /** @type {Point[]} */ (low === high ? [low] : [low, high].sort(byTime)))
    }))
  }

  /** @param {number} slot */
  #slot (slot) {
    const known = this.#slots.get(slot)
    if (known || this.#slots.size >= MOST_SLOTS) return known
    /** @type {Timeline<Span>} */
    const timeline = new Timeline({
      widthMs: FINEST_MS,
      capacity: () => Math.min(1000, Math.max(FEWEST_SPANS, Math.floor(MOST_SPANS / this.#slots.size))),
      empty: () => /** @type {Span} */ ({ low: null, high: null }),
      merge (into, { low, high }) {
        if (low) widen(into, low)
        if (high) widen(into, high)
      }
    })
    this.#slots.set(slot, timeline)
    return timeline
  }
}

/** @param {Span} span @param {Point} point */
function widen (span, point) {
  if (span.low === null || point.bytes < span.low.bytes) span.low = point
  if (span.high === null || point.bytes > span.high.bytes) span.high = point
}

/** @param {Point | null} a @param {Point | null} b */
const byTime = (a, b) => /** @type {Point} */(a).t - /** @type {Point} */ (b).t

module.exports = { Memory }
