'use strict'

const t = require('tap')
const fc = require('fast-check')
const { pushReading, timeToCrossing } = require('../../lib/core/trend')

/**
 * @param {number} count @param {(i: number) => number} bytes
 * @returns {import('../../lib/core/trend').Trend} one reading a second
 */
function trendOf (count, bytes) {
  let trend = /** @type {import('../../lib/core/trend').Trend} */ ([])
  for (let i = 0; i < count; i++) trend = pushReading(trend, 1e6 + 1000 * i, bytes(i))
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
  for (const [budget, where] of /** @type {const} */ ([[110, 'below'], [90, 'above']])) {
    t.equal(timeToCrossing(trendOf(20, () => 100), budget), null, `flat, ${where}`)
    t.equal(timeToCrossing(trendOf(20, i => 105 - 0.5 * i), budget), null, `falls, ${where}`)
  }
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

t.test('eight readings are enough, the latest thirty are kept', async t => {
  t.equal(timeToCrossing(trendOf(8, i => 95 + i), 110), 8000)
  t.equal(trendOf(30, i => i)[0][1], 0)
  t.same([trendOf(45, i => i).length, trendOf(45, i => i)[0][1]], [30, 15])
})

t.test('it looks ahead twice as far as the readings go back, from 0.7 of the budget on', async t => {
  const ahead = (/** @type {number} */ budget, first = 81) => timeToCrossing(trendOf(20, i => first + i), budget)
  t.equal(Math.round(Number(ahead(137.9))), 37_900)
  t.equal(ahead(138.1), null)
  t.equal(Math.round(Number(ahead(100, 51.01))), 29_990)
  t.equal(ahead(100, 51), 30_000)
  t.equal(ahead(100, 50.99), null)
  t.equal(timeToCrossing(trendOf(9, i => 84 + i), 108), 16_000)
})

t.test('a slope is certain from three standard errors on', async t => {
  // Residuals that leave the slope as it is, of 1 a second: its standard error is the residual / √(8 · 5.25 · 6 / 8).
  const signs = [1, -1, -1, 1, 1, -1, -1, 1]
  const wavy = (/** @type {number} */ residual) => timeToCrossing(trendOf(8, i => 95 + i + residual * signs[i]), 110)
  const edge = Math.sqrt(5.25 * 6) / 3
  t.equal(Math.round(Number(wavy(0.99 * edge))), 8000)
  t.equal(wavy(1.01 * edge), null)
})

t.test('the unit makes no difference', async t => {
  for (const unit of [1e-4, 1, 2 ** 30]) t.equal(Math.round(Number(timeToCrossing(trendOf(20, i => (80 + i) * unit), 110 * unit))), 11_000, `${unit}`)
})
