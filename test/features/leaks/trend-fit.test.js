'use strict'

const t = require('tap')
const { fitTrend } = require('../../../lib/features/leaks/trend-fit')
const { seeded } = require('../../support/random')

/**
 * @param {number} length @param {(at: number) => number[]} rowOf @param {(row: number[], at: number) => number} levelOf
 */
function series (length, rowOf, levelOf) {
  const regressors = Array.from({ length }, (_, at) => rowOf(at))
  return { regressors, levels: regressors.map(levelOf) }
}

t.test('slopes without noise are exact, whatever the level that a series begins at', async t => {
  const rowOf = (/** @type {number} */ at) => [at, at ** 2]
  const fit = fitTrend([0, 1e9].map(start => series(10, rowOf, ([a, b]) => start + 3 * a - 2 * b)), 2)
  t.ok(fit)
  t.ok(Math.abs(Number(fit?.slopes[0]) - 3) < 1e-5 && Math.abs(Number(fit?.slopes[1]) + 2) < 1e-5, String(fit?.slopes))
  t.same(fit?.isKnown, [true, true])
  t.equal(fit?.freedom, 16)
})

t.test('the errors are as large as the slopes are off', async t => {
  let square = 0
  for (let seed = 1; seed <= 200; seed++) {
    const next = seeded(seed)
    let [count, other, level] = [0, 0, 0]
    const rowOf = () => {
      count += next()
      other += next()
      return [count, other]
    }
    const levelOf = () => {
      level += next() + next() + next() - 1.5
      return level
    }
    const { slopes, errorOf } = /** @type {any} */ (fitTrend([series(100, rowOf, levelOf)], 2))
    square += (slopes[0] - slopes[1]) ** 2 / errorOf([1, -1]) ** 2
  }
  const ratio = Math.sqrt(square / 200)
  t.ok(ratio > 0.8 && ratio < 1.2, String(ratio))
})

t.test('a jump counts as one large error', async t => {
  const next = seeded(1)
  let count = 0
  const rowOf = () => {
    count += next()
    return [count]
  }
  const { slopes } = /** @type {any} */ (fitTrend(
    [series(200, rowOf, ([a], at) => 5 * a + 0.01 * next() + (at > 120 ? 1e4 : 0))], 1
  ))
  t.ok(Math.abs(slopes[0] - 5) < 0.05, String(slopes))
})

t.test('regressors that are alike, or do not change, are not known', async t => {
  const next = seeded(2)
  let count = 0
  const rowOf = () => {
    count += next()
    return [count, 2 * count]
  }
  const alike = /** @type {any} */ (fitTrend([series(60, rowOf, ([a]) => 3 * a + next())], 2))
  t.same(alike.isKnown, [false, false])
  const constant = /** @type {any} */ (fitTrend([series(60, at => [at, 7], ([a]) => 3 * a + next())], 2))
  t.same(constant.isKnown, [true, false])
})

t.test('too few increments give no fit', async t => {
  const rowOf = (/** @type {number} */ at) => [at]
  t.equal(fitTrend([], 1), null)
  t.equal(fitTrend([series(9, rowOf, ([a]) => a)], 1), null)
  t.ok(fitTrend([series(10, rowOf, ([a]) => a)], 1))
})
