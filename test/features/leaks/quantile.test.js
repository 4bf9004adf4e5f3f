'use strict'

const t = require('tap')
const { normalQuantile, studentQuantile } = require('../../../lib/features/leaks/route-claims')

t.test('the quantiles are those of the tables', async t => {
  for (const [p, z] of [[0.5, 0], [0.975, 1.95996], [0.995, 2.57583], [0.9995, 3.29053], [0.99995, 3.89059]]) {
    t.ok(Math.abs(normalQuantile(p) - z) < 0.0005, `${p}: ${normalQuantile(p)}`)
  }
  for (const [p, freedom, value] of [
    [0.975, 8, 2.306], [0.995, 8, 3.355], [0.9995, 10, 4.587], [0.9995, 30, 3.646], [0.9995, 1000, 3.3]
  ]) {
    t.ok(Math.abs(studentQuantile(p, freedom) / value - 1) < 0.02, `${p}, ${freedom}: ${studentQuantile(p, freedom)}`)
  }
})
