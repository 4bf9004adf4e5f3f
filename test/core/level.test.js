'use strict'

const t = require('tap')
const fc = require('fast-check')
const { FLOOR, nextLevel, spread } = require('../../lib/core/level')

const vessel = (/** @type {number} */ connections, more = {}) => ({ connections, isFull: false, isAtCeiling: false, isResponsive: true, ...more })
const full = (/** @type {number} */ connections, more = {}) => vessel(connections, { isFull: true, ...more })

t.test('the level rises when all are full', async t => {
  t.ok(nextLevel(100, [full(100), full(100)]) > 100)
  t.equal(nextLevel(100, [full(100), vessel(99)]), 100, 'not as long as one has room')
})

t.test('a worker that does not respond keeps nobody waiting', async t => {
  t.ok(nextLevel(100, [full(100), vessel(10, { isResponsive: false })]) > 100)
})

t.test('the level does not rise where nobody has descriptors for more', async t => {
  t.equal(nextLevel(100, [full(100, { isAtCeiling: true }), full(100, { isAtCeiling: true })]), 100)
  t.ok(nextLevel(100, [full(100, { isAtCeiling: true }), full(100)]) > 100)
})

t.test('the level sinks with the connections, never below the floor', async t => {
  t.equal(nextLevel(10_000, [vessel(0), vessel(0)]), FLOOR)
  const level = nextLevel(10_000, [vessel(1000), vessel(1000)])
  t.ok(level < 10_000 && level > 1000)
  t.equal(nextLevel(10_000, [vessel(10), full(1000)]), 10_000, 'not while somebody is full')
})

t.test('even workers give nothing away, the fullest of uneven ones what it has over the mean', async t => {
  t.equal(spread([]), null)
  t.equal(spread([500]), null)
  t.equal(spread([10, 10]), null)
  t.equal(spread([1, 0]), null)
  t.same(spread([0, 30, 0]), { index: 1, count: 20 })
})

t.test('spreading ends, and ends even', async t => {
  fc.assert(fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 8 }), counts => {
    for (let round = 0; ; round++) {
      if (round > 100) throw new Error('it never ends')
      const given = spread(counts)
      if (!given) break
      if (!(given.count >= 1 && given.count <= counts[given.index])) throw new Error(`${given.count} of ${counts[given.index]}`)
      counts[given.index] -= given.count
      for (let n = 0; n < given.count; n++) counts[counts.indexOf(Math.min(...counts))]++
    }
    const mean = counts.reduce((sum, count) => sum + count) / counts.length
    if (Math.max(...counts) > Math.max(mean + 2, mean * 1.25)) throw new Error(`uneven: ${counts}`)
  }))
  t.pass()
})
