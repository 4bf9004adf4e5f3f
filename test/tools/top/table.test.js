'use strict'

const t = require('tap')
const { sparkline } = require('../../../lib/tools/top/picture')

t.test('from 0 to the highest, in eight levels', async t => {
  t.equal(sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8), '▁▂▃▄▅▆▇█')
  t.equal(sparkline([0, 0.1, 50, 50.1, 100], 100), '▁▁▄▅█')
})

t.test('a value above the maximum is drawn at full height, a missing one is blank', async t => {
  t.equal(sparkline([null, 200, null, 1], 100), ' █ ▁')
  t.equal(sparkline([], 100), '')
  t.equal(sparkline([0, null], 0).length, 2)
})
