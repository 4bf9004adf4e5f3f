'use strict'

/**
 * Delays of a worker's event loop, as its beats report them.
 *
 * @typedef {ValueOf<typeof PAUSES>} GcPauses of one kind of collection
 * @typedef {ValueOf<typeof GC>} Gc pauses of the worker's main thread; concurrent collection pauses nothing
 * @typedef {object} Delays
 * @property {Gc} gc
 * @property {number} loopLagMs longest delay of the event loop since the last report
 */

const { count, duration, record } = require('./shape')
/** @import { ValueOf } from './shape' */

/** Since the worker's start; `longestMs`: since the last report. */
const PAUSES = record({ count, totalMs: duration, longestMs: duration })
const GC = record({ scavenges: PAUSES, markSweeps: PAUSES }) // of the new space, of the whole heap

const NO_PAUSES = Object.freeze({ count: 0, totalMs: 0, longestMs: 0 })
/** @type {Readonly<Delays>} */
const NO_DELAYS = Object.freeze({ gc: { scavenges: { ...NO_PAUSES }, markSweeps: { ...NO_PAUSES } }, loopLagMs: 0 })

/**
 * Beats are more frequent than samples: carries the longest pauses of earlier beats over.
 * @template {Delays} Beat @param {Beat} beat @param {Delays} earlier a beat before it, of the same worker
 * @returns {Beat} the later beat, with the longest pauses of both
 */
function withLongest (beat, earlier) {
  const longer = (/** @type {keyof Gc} */ kind) =>
    ({ ...beat.gc[kind], longestMs: Math.max(beat.gc[kind].longestMs, earlier.gc[kind].longestMs) })
  return {
    ...beat,
    gc: { scavenges: longer('scavenges'), markSweeps: longer('markSweeps') },
    loopLagMs: Math.max(beat.loopLagMs, earlier.loopLagMs)
  }
}

module.exports = { GC, NO_DELAYS, withLongest }
