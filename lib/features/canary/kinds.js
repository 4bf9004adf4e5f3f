'use strict'

const { fromNames } = require('../../core/fields')

/**
 * Kinds of the options, and the arguments of a reload of the same names.
 * @param {typeof import('../../core/option-types').types} types
 */
const kinds = types => ({
  canary: types.orPercent(types.count(0, 1024), 'the workers'),
  bake: types.time(10_000, '10s'),
  undecided: types.oneOf('go', 'back')
})

/**
 * Kinds of responses: 5xx; ended before the response was complete, by the app, or by a client that had waited long;
 * 4xx; a redirect, or 200 without a body; slower than the threshold of the median, and of the tail.
 */
const RESPONSES = /** @type {const} */ (['errors', 'unfinished', 'refusals', 'empty', 'slowMedian', 'slowTail'])

const MOST_BUCKETS = 400 // of times to the response; see times.js

/** Of counts.js. @param {typeof import('../../core/shape')} shapes */
function countsOf ({ count, duration, number, record, mapOf, orNull }) {
  const ofKinds = record(fromNames(RESPONSES, () => count))
  const sums = record({ groups: count, n: count, nn: number, k: number, kk: number, kn: number })
  const point = orNull(record({ requests: count, liveBytes: count }))
  return record({
    requests: count,
    connections: count, // with a request
    squares: count, // Σ requests², over connections
    of: ofKinds, // requests of each kind
    ofSquares: ofKinds, // Σ (requests of the kind)², over connections
    ofProducts: ofKinds, // Σ requests of the kind × requests, over connections
    times: mapOf(count, MOST_BUCKETS), // to the response
    busyMs: duration, // in which the event loop was active; the caller sets it
    // How live memory grows with the requests, k bytes over n requests, a group from one collection to the next; from a
    // collection to the next scavenge, so that what a mark-sweep frees is no part of it, and between mark-sweeps
    memory: record({ ramps: sums, sweeps: sums, last: point, lastSweep: point })
  })
}

module.exports = { RESPONSES, countsOf, kinds }
