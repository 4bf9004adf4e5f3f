'use strict'

const fc = require('fast-check')
const t = require('tap')
const { binomialTail, studentTail } = require('../../../lib/features/canary/tails')

/** @param {number} value @param {number} expected @param {number} [error] relative */
const isNear = (value, expected, error = 1e-6) => Math.abs(value - expected) <= error * expected

t.test("the tails of Student's t distribution are those of the tables", async t => {
  for (const [value, freedom, tail] of [[0, 5, 0.5], [1, 1, 0.25], [
    2.3060041, 8, 0.025
  ], [3.3553873, 8, 0.005], [318.30884, 1, 0.001], [5.8934, 5, 0.001], [-1, 1, 0.75]]) {
    t.ok(isNear(studentTail(value, freedom), tail, 1e-4), `${value}, ${freedom}: ${studentTail(value, freedom)}`)
  }
})

t.test('with many degrees of freedom they are those of the normal distribution, also far out', async t => {
  for (const [z, tail] of [[1.959964, 0.025], [3.0902323, 0.001], [5, 2.866516e-7], [8, 6.220961e-16]]) {
    t.ok(isNear(studentTail(z, 1e9), tail, 1e-5), `${z}: ${studentTail(z, 1e9)}`)
  }
})

t.test('what is no number is no evidence, and what is infinite is certain', async t => {
  t.equal(studentTail(NaN, 5), 1)
  t.equal(studentTail(Infinity, 5), 0)
  t.equal(studentTail(-Infinity, 5), 1)
})

t.test('the tails of the binomial distribution are sums of its terms', async t => {
  t.ok(isNear(binomialTail(5, 5, 0.2), 0.2 ** 5))
  t.ok(isNear(binomialTail(3, 10, 0.5), 0.9453125))
  t.ok(isNear(binomialTail(1, 1000, 1e-6), 1 - (1 - 1e-6) ** 1000))
  t.same([binomialTail(0, 10, 0.1), binomialTail(3, 10, 0), binomialTail(3, 10, 1)], [1, 0, 1])
  fc.assert(fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.nat(),
    (tries, p, at) => {
      const successes = 1 + at % tries
      let [term, sum] = [(1 - p) ** tries, 0]
      for (let k = 0; k <= tries; k++) {
        if (k >= successes) sum += term
        term *= (tries - k) / (k + 1) * p / (1 - p)
      }
      return isNear(binomialTail(successes, tries, p), sum, 1e-8)
    }), { seed: 55 })
})

t.test('between whole numbers a tail falls steadily', async t => {
  const tails = [2, 2.25, 2.5, 2.75, 3].map(successes => binomialTail(successes, 10, 0.2))
  t.same(tails, [...tails].sort((a, b) => b - a))
  t.ok(new Set(tails).size === 5)
})
