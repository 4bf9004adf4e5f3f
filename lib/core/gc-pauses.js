'use strict'

/**
 * What held a worker's event loop up, as its beats say it.
 *
 * @typedef {object} GcPauses of one kind of collection
 * @property {number} count since the worker's start
 * @property {number} totalMs since the worker's start
 * @property {number} longestMs since what was said last
 *
 * @typedef {object} Gc on the worker's main thread alone: what V8 collects beside it pauses nothing
 * @property {GcPauses} scavenges of the new space
 * @property {GcPauses} markSweeps of the whole heap
 *
 * @typedef {object} Delays
 * @property {Gc} gc
 * @property {number} loopLagMs longest delay of the event loop since what was said last
 */

const { count, duration, record } = require('./shape')

const PAUSES = record({ count, totalMs: duration, longestMs: duration })
const GC = record({ scavenges: PAUSES, markSweeps: PAUSES })

/** @type {Readonly<Delays>} */
const NO_DELAYS = Object.freeze({
  gc: { scavenges: { count: 0, totalMs: 0, longestMs: 0 }, markSweeps: { count: 0, totalMs: 0, longestMs: 0 } },
  loopLagMs: 0
})

/**
 * There are more beats than samples: what was longest in the earlier ones must not be lost.
 *
 * @template {Delays} Beat
 * @param {Beat} beat
 * @param {Delays} earlier a beat before it, of the same worker
 * @returns {Beat} the beat, with the longest of both
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
