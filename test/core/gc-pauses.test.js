'use strict'

const t = require('tap')
const { NO_DELAYS, withLongest } = require('../../lib/core/gc-pauses')

t.test('of two beats the later one counts, with the longest pause of both', async t => {
  const beat = (/** @type {number} */ count, /** @type {number[]} */ [scavengeMs, markSweepMs, loopLagMs]) => ({
    gc: {
      scavenges: { count, totalMs: 10 * count, longestMs: scavengeMs },
      markSweeps: { count, totalMs: 20 * count, longestMs: markSweepMs }
    },
    loopLagMs,
    requests: count
  })
  t.same(withLongest(beat(2, [1, 9, 3]), beat(1, [5, 4, 8])), beat(2, [5, 9, 8]))
  t.same(withLongest(beat(2, [1, 9, 3]), NO_DELAYS), beat(2, [1, 9, 3]))
  t.same(withLongest({ ...NO_DELAYS, requests: 0 }, NO_DELAYS), beat(0, [0, 0, 0]), 'nothing before the first beat')
})
