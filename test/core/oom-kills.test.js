'use strict'

const t = require('tap')
const { OomKills } = require('../../lib/core/oom-kills')

t.test('a kill that the kernel has counted since is the reason for one exit', async t => {
  const kills = new OomKills()
  kills.observe(7, 0)
  t.notOk(kills.claim(), 'those before the start are of others')
  kills.observe(8, 100)
  t.ok(kills.claim())
  t.notOk(kills.claim(), 'once')
  kills.observe(8, 200)
  t.notOk(kills.claim())
  t.equal(kills.total, 1)
})

t.test('several workers may be killed before the first exit is heard of', async t => {
  const kills = new OomKills()
  kills.observe(0, 0)
  kills.observe(2, 100)
  t.same([kills.claim(), kills.claim(), kills.claim()], [true, true, false])
})

t.test('a kill that no exit has followed for five seconds was of another process', async t => {
  const kills = new OomKills()
  kills.observe(0, 0)
  kills.observe(1, 1000)
  kills.observe(1, 6000)
  t.ok(kills.claim(), 'a large process takes a while to exit')
  kills.observe(2, 7000)
  kills.observe(2, 12_001)
  t.notOk(kills.claim())
  t.equal(kills.total, 2)
})

t.test('a counter that cannot be read, or falls, is no kill', async t => {
  const kills = new OomKills()
  for (const [counter, now] of /** @type {const} */ ([[null, 0], [5, 1], [null, 2], [3, 3], [3, 4]])) {
    kills.observe(counter, now)
  }
  t.notOk(kills.claim())
  kills.observe(4, 5)
  t.ok(kills.claim())
})
