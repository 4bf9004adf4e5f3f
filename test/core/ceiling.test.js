'use strict'

const t = require('tap')
const { ceilingOf } = require('../../lib/core/ceiling')

t.test('a tenth of the limit is kept back, and 64 descriptors at least', async t => {
  t.equal(ceilingOf(20_000, 20, 0), 20_000 - 20 - 2000)
  t.equal(ceilingOf(512, 20, 0), 512 - 20 - 64)
  t.equal(ceilingOf(512, 320, 300), 512 - 20 - 64, 'descriptors of connections are not counted as other descriptors')
})

t.test('where few descriptors are left, half of them are kept back', async t => {
  t.equal(ceilingOf(64, 20, 0), 22)
  t.equal(ceilingOf(512, 500, 0), 6)
  t.equal(ceilingOf(512, 512, 2), 1)
})

t.test('with no descriptor left there is room for fewer connections than there are', async t => {
  for (const connections of [1, 2, 63, 64, 100, 128, 500]) t.ok(ceilingOf(512, 512, connections) < connections)
  t.equal(ceilingOf(512, 512, 0), 0)
  t.equal(ceilingOf(512, 600, 0), 0)
})

t.test('connections that came after the descriptors were counted make no more room', async t => {
  t.equal(ceilingOf(512, 10, 12), 512 - 64)
})
