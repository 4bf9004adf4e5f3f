'use strict'

/**
 * Each slot's memory over time, for the sawtooth. Of many samples the lowest and the highest of each stretch are kept,
 * in their order, so that no peak is lost.
 *
 * @typedef {object} Point
 * @property {number} t ms since the epoch
 * @property {number} bytes
 * @property {number | null} budget bytes
 *
 * @typedef {{ low: Point | null, high: Point | null }} Stretch
 */

const { Timeline } = require('./timeline')

const FINEST_MS = 100
const MOST_STRETCHES = 12_000 // over all slots
const FEWEST_STRETCHES = 50
const MOST_SLOTS = 1024

class Memory {
  /** @type {Map<number, Timeline<Stretch>>} */
  #slots = new Map()

  /** @param {number} slot @param {number} t @param {number} bytes @param {number | null} budget */
  add (slot, t, bytes, budget) {
    const stretch = this.#slot(slot)?.at(t)
    if (stretch) widen(stretch, { t, bytes, budget })
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
    /** @type {Timeline<Stretch>} */
    const timeline = new Timeline({
      widthMs: FINEST_MS,
      capacity: () => Math.min(1000, Math.max(FEWEST_STRETCHES, Math.floor(MOST_STRETCHES / this.#slots.size))),
      empty: () => /** @type {Stretch} */ ({ low: null, high: null }),
      merge (into, { low, high }) {
        if (low) widen(into, low)
        if (high) widen(into, high)
      }
    })
    this.#slots.set(slot, timeline)
    return timeline
  }
}

/** @param {Stretch} stretch @param {Point} point */
function widen (stretch, point) {
  if (stretch.low === null || point.bytes < stretch.low.bytes) stretch.low = point
  if (stretch.high === null || point.bytes > stretch.high.bytes) stretch.high = point
}

/** @param {Point | null} a @param {Point | null} b */
function byTime (a, b) {
  return /** @type {Point} */ (a).t - /** @type {Point} */ (b).t
}

module.exports = { Memory }
