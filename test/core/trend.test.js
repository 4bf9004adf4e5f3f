'use strict'

const t = require('tap')
const fc = require('fast-check')
const { pushReading, timeToCrossing } = require('../../lib/core/trend')

/** @param {number} count @param {(i: number) => number} bytes @returns {import('../../lib/core/trend').Trend} one reading a second */
function trendOf (count, bytes) {
  let trend = /** @type {import('../../lib/core/trend').Trend} */ ([])
  for (let i = 0; i < count; i++) trend = pushReading(trend, 1000 * i, bytes(i))
  return trend
}

t.test('a steady leak crosses when the line says', async t => {
  t.equal(Math.round(Number(timeToCrossing(trendOf(20, i => 80 + i), 110))), 11_000)
  t.equal(Math.round(Number(timeToCrossing(trendOf(500, i => 80 + i), 590))), 11_000, 'only the latest readings count')
})

t.test('what is over the budget already crosses now', async t => {
  t.equal(timeToCrossing(trendOf(20, i => 100 + i), 110), 0)
})

t.test('nothing is foretold from few readings, far from the budget, too far ahead for them, or without growth', async t => {
  t.equal(timeToCrossing(trendOf(7, i => 95 + i), 110), null, 'few')
  t.equal(timeToCrossing(trendOf(20, i => 50 + i), 110), null, 'far')
  t.equal(timeToCrossing(trendOf(20, i => 95 + 0.1 * i), 110), null, 'too far ahead')
  t.equal(timeToCrossing(trendOf(20, () => 100), 110), null, 'flat')
  t.equal(timeToCrossing(trendOf(20, i => 105 - 0.5 * i), 110), null, 'falls')
  t.equal(timeToCrossing(trendOf(20, i => 95 + i), null), null, 'no budget')
  t.equal(timeToCrossing(Array.from({ length: 20 }, () => /** @type {const} */ ([5, 100])), 110), null, 'all at one time')
})

t.test('noise alone foretells nothing, and a leak is found in it', async t => {
  const noise = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 30, maxLength: 30 })
  let foretold = 0
  fc.assert(fc.property(noise, noise => {
    foretold += timeToCrossing(trendOf(30, i => 95 + noise[i]), 110) === null ? 0 : 1
    const at = timeToCrossing(trendOf(30, i => 70 + i + noise[i]), 110)
    if (at === null || Math.abs(at - 11_000) > 10_000) throw new Error(`${at}`)
  }), { numRuns: 500, seed: 31 })
  t.ok(foretold <= 5, `${foretold} of 500`)
})
