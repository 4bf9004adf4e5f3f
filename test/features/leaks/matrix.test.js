'use strict'

const fc = require('fast-check')
const t = require('tap')
const { cholesky, inverse, solve } = require('../../../lib/features/leaks/trend-fit')

const size = 4
const factor = fc.array(fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: size, maxLength: size }), {
  minLength: size, maxLength: size
})
const vector = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: size, maxLength: size })

/** A·Aᵀ + I, which is positive definite. @param {number[][]} a */
const definite = a =>
  a.map((row, i) => a.map((other, j) => row.reduce((sum, value, k) => sum + value * other[k], i === j ? 1 : 0)))
const times = (/** @type {number[][]} */ m, /** @type {number[]} */ x) =>
  m.map(row => row.reduce((sum, value, i) => sum + value * x[i], 0))
const near = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
  a.every((value, i) => Math.abs(value - b[i]) <= 1e-6 * (1 + Math.abs(b[i])))

t.test('a solution and the inverse give the right side back', async t => {
  fc.assert(fc.property(factor, vector, (a, x) => {
    const matrix = definite(a)
    const lower = /** @type {number[][]} */ (cholesky(matrix))
    return near(times(matrix, solve(lower, x)), x) && near(times(inverse(lower), times(matrix, x)), x)
  }), { seed: 31 })
  t.pass()
})

t.test('a matrix that is not positive definite has no decomposition', async t => {
  t.equal(cholesky([[1, 0], [2, 1]]), null)
  t.equal(cholesky([[0]]), null)
})
