'use strict'

const t = require('tap')
const { FLOOR, leavesToNew, nextLimit } = require('../../lib/core/accept-limit')

const vessel = (/** @type {number} */ connections, more = {}) => ({
  connections, isFull: false, isAtCeiling: false, isResponsive: true, ...more
})
const full = (/** @type {number} */ connections, more = {}) => vessel(connections, { isFull: true, ...more })

t.test('the limit rises when every worker is at it', async t => {
  t.ok(nextLimit(100, [full(100), full(100)]) > 100)
  t.equal(nextLimit(100, [full(100), vessel(99)]), 100, 'it stays while one worker has room')
})

t.test('a worker that does not respond does not keep the limit down', async t => {
  t.ok(nextLimit(100, [full(100), vessel(10, { isResponsive: false })]) > 100)
})

t.test('the limit does not rise where no worker has descriptors for more connections', async t => {
  t.equal(nextLimit(100, [full(100, { isAtCeiling: true }), full(100, { isAtCeiling: true })]), 100)
  t.ok(nextLimit(100, [full(100, { isAtCeiling: true }), full(100)]) > 100)
})

t.test('the limit falls with the number of connections, never below the floor', async t => {
  t.equal(nextLimit(10_000, [vessel(0), vessel(0)]), FLOOR)
  const level = nextLimit(10_000, [vessel(1000), vessel(1000)])
  t.ok(level < 10_000 && level > 1000)
  t.equal(nextLimit(10_000, [vessel(10), full(1000)]), 10_000, 'it does not fall while a worker is at it')
  t.equal(nextLimit(10_000, [vessel(0)]), 64)
  t.equal(nextLimit(10_000, []), 64, 'where no worker serves')
  t.equal(nextLimit(10_000, [vessel(500), vessel(1500)]), 1150, 'to a little more than the mean')
  t.equal(nextLimit(10_000, [vessel(1000)]), 1150)
  t.equal(nextLimit(1300, [vessel(1000), vessel(1000)]), 1300, 'not for a little')
  t.same([nextLimit(92, [vessel(69)]), nextLimit(93, [vessel(69)])], [92, 80])
})

t.test('in a rollout, workers of the old generation leave new connections to those of the new one where there are streams, and time for them', async t => {
  const old = (/** @type {number} */ streams) => ({ isStale: true, streams, elu: 0.5 })
  const fresh = (/** @type {number | null} */ elu, streams = 0) => ({ isStale: false, streams, elu })
  t.equal(leavesToNew([old(1), fresh(0.5)]), true)
  t.equal(leavesToNew([old(0), fresh(0.5, 3)]), true)
  t.equal(leavesToNew([old(0), fresh(0.5)]), false, 'no stream')
  t.equal(leavesToNew([old(1), old(1)]), false, 'no new worker')
  t.equal(leavesToNew([fresh(0.5, 1), fresh(0.5, 1)]), false, 'no rollout')
  t.equal(leavesToNew([old(1), fresh(0.8), fresh(0.9)]), false, 'the new ones are busy')
  t.equal(leavesToNew([old(1), fresh(0.79), fresh(0.9)]), true, 'one of them is not')
  t.equal(leavesToNew([old(1), fresh(null)]), true, 'it has just booted')
  t.equal(leavesToNew([old(1), fresh(0.9), fresh(null)]), false, 'another one has been busy since')
})
