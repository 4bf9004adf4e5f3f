'use strict'

const t = require('tap')
const { nextLookMs, isNearLimit, startsThatFit } = require('../../lib/core/memory-room')

const memory = (/** @type {number} */ usedBytes, /** @type {number | null} */ freshBytes = 8) => ({
  limitBytes: 100, usedBytes, freshBytes
})

t.test('near the limit the guard looks more often', async t => {
  t.equal(nextLookMs(null, 1000), 1000)
  t.equal(nextLookMs(memory(79), 1000), 1000)
  t.equal(nextLookMs(memory(80), 1000), 500)
  t.equal(nextLookMs(memory(90), 1000), 250)
  t.equal(nextLookMs(memory(120), 1000), 250)
  t.equal(nextLookMs(memory(95), 100), 50)
  t.equal(nextLookMs(memory(95), 50), 50, 'never less often than the interval says')
})

t.test('the limit is near from 90 % on, and until less than 80 % are used', async t => {
  t.same([85, 90, 85, 80, 79, 85].reduce((/** @type {boolean[]} */ seen, used) =>
    [...seen, isNearLimit(memory(used), seen.at(-1) ?? false)], []),
  [false, true, true, true, false, false])
})

t.test('replacements fit as long as each has a quarter more than a fresh worker takes', async t => {
  t.equal(startsThatFit(memory(50), 0), 5)
  t.equal(startsThatFit(memory(50), 2), 3, 'those that boot have not taken theirs yet')
  t.equal(startsThatFit(memory(91), 0), 0)
  t.equal(startsThatFit(memory(90), 0), 1)
  t.equal(startsThatFit(memory(110), 3), 0)
  t.equal(startsThatFit(memory(99, null), 0), Infinity, 'what a worker takes is not known yet')
  t.equal(startsThatFit(null, 0), Infinity)
})
