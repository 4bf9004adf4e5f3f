'use strict'

const t = require('tap')
const fc = require('fast-check')
const { FLOOR, nextLimit, spread } = require('../../lib/core/accept-limit')

const vessel = (/** @type {number} */ connections, more = {}) => ({ connections, isFull: false, isAtCeiling: false, isResponsive: true, ...more })
const full = (/** @type {number} */ connections, more = {}) => vessel(connections, { isFull: true, ...more })

t.test('the level rises when all are full', async t => {
  t.ok(nextLimit(100, [full(100), full(100)]) > 100)
  t.equal(nextLimit(100, [full(100), vessel(99)]), 100, 'not as long as one has room')
})

t.test('a worker that does not respond keeps nobody waiting', async t => {
  t.ok(nextLimit(100, [full(100), vessel(10, { isResponsive: false })]) > 100)
})

t.test('the level does not rise where nobody has descriptors for more', async t => {
  t.equal(nextLimit(100, [full(100, { isAtCeiling: true }), full(100, { isAtCeiling: true })]), 100)
  t.ok(nextLimit(100, [full(100, { isAtCeiling: true }), full(100)]) > 100)
})

t.test('the level sinks with the connections, never below the floor', async t => {
  t.equal(nextLimit(10_000, [vessel(0), vessel(0)]), FLOOR)
  const level = nextLimit(10_000, [vessel(1000), vessel(1000)])
  t.ok(level < 10_000 && level > 1000)
  t.equal(nextLimit(10_000, [vessel(10), full(1000)]), 10_000, 'not while somebody is full')
})

t.test('even workers give nothing away, uneven ones what each has over the mean', async t => {
  t.same(spread([]), [])
  t.same(spread([500]), [0])
  t.same(spread([10, 10]), [0, 0])
  t.same(spread([1, 0]), [0, 0])
  t.same(spread([0, 30, 0]), [0, 20, 0])
  t.same(spread([15, 5, 3, 12, 15]), [5, 0, 0, 2, 5])
  t.same(spread([11, 10, 9, 10, 10]), [0, 0, 0, 0, 0], 'nobody gives where the fullest is hardly above the mean')
})

t.test('what is given to the emptiest makes them even, in one round where all of it arrives', async t => {
  fc.assert(fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 8 }), counts => {
    const gifts = spread(counts)
    counts.forEach((count, i) => {
      if (!(gifts[i] >= 0 && gifts[i] <= count)) throw new Error(`${gifts[i]} of ${count}`)
      counts[i] -= gifts[i]
    })
    for (let left = gifts.reduce((sum, count) => sum + count); left > 0; left--) counts[counts.indexOf(Math.min(...counts))]++
    if (spread(counts).some(count => count > 0)) throw new Error(`not even: ${counts}`)
    const mean = counts.reduce((sum, count) => sum + count) / counts.length
    if (Math.max(...counts) > Math.max(mean + 2, mean * 1.25)) throw new Error(`uneven: ${counts}`)
  }))
  t.pass()
})
