'use strict'

const t = require('tap')
const { addWeight, difference, intervalOf, noWeights } = require('../../../lib/features/leak-line/growth')

/** @param {number} count @param {number} [weight] */
function weights (count, weight = 1) {
  const all = noWeights()
  for (let i = 0; i < count; i++) addWeight(all, weight, weight)
  return all
}

t.test('equal weights: the interval is that of the Poisson distribution', async t => {
  // Exact intervals of Garwood, 1936.
  for (const [count, low, high] of [[1, 0.025, 5.57], [5, 1.62, 11.67], [10, 4.8, 18.39], [100, 81.36, 121.63]]) {
    const found = intervalOf(weights(count))
    t.ok(Math.abs(found.low - low) < 0.2, `${count}: ${found.low}, and ${low} is exact`)
    t.ok(Math.abs(found.high - high) < 0.3, `${count}: ${found.high}, and ${high} is exact`)
  }
  t.same(intervalOf(noWeights()), { low: 0, high: 0 })
})

t.test('it grows with the weights, and unequal ones say less', async t => {
  const even = intervalOf(weights(10, 1000))
  t.ok(even.low > 4000 && even.high < 19_000)
  const uneven = weights(9, 100)
  addWeight(uneven, 9100, 9100)
  t.ok(intervalOf(uneven).low < even.low)
})

t.test('what is much larger than the interval between samples is known, and not guessed', async t => {
  const all = noWeights()
  addWeight(all, 1_000_000, 8192)
  const alone = intervalOf(all)
  t.ok(alone.low > 999_999 && alone.high < 1_000_001)
  for (let i = 0; i < 10; i++) addWeight(all, 8192, 8192)
  const { low, high } = intervalOf(all)
  t.ok(low > 1_000_000 + 0.45 * 81920 && high < 1_000_000 + 1.9 * 81920)
  const table = noWeights()
  addWeight(table, 500_000, 8192)
  t.ok(difference(all, table, 8192).low > 500_000, 'the table of a Map has doubled')
})

t.test('the difference: nothing has come nor gone, some have, as many as have gone', async t => {
  t.same(difference(noWeights(), noWeights(), 8192), { bytes: 0, low: 0, high: 3 * 8192, samples: 0 })
  const grown = difference(weights(100), noWeights(), 1)
  t.equal(grown.bytes, 100)
  t.ok(grown.low > 80 && grown.high < 123)
  const same = difference(weights(100), weights(100), 1)
  t.equal(same.bytes, 0)
  t.ok(same.low < -25 && same.high > 25)
  t.equal(same.samples, 0)
})

t.test('of 1,000 leaks that are sampled the true size is in the interval of nearly all', async t => {
  let state = 42
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648
  const poisson = (/** @type {number} */ mean) => {
    let [k, product] = [0, random()]
    for (const limit = Math.exp(-mean); product > limit; k++) product *= random()
    return k
  }
  let held = 0
  for (let i = 0; i < 1000; i++) {
    const { low, high } = difference(weights(poisson(40)), weights(poisson(10)), 1)
    if (low <= 30 && high >= 30) held++
  }
  t.ok(held > 920 && held < 990, `${held} of 1000`)
})
