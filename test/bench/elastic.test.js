'use strict'

const t = require('tap')
const { longAlone } = require('../support/campaign')
const { quickBench } = require('../support/bench')

t.test('bench:elastic --quick puts a load step on a fleet that sizes itself, and on one that was large all along', { skip: longAlone('8', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'elastic')
  const group = '3 to 30 requests/s'
  t.match(figures(group, 'large'), { most: 2, dropped: 0 })
  const { most, requests, dropped, p99 } = figures(group, 'recycle')
  t.ok(most >= 1 && requests > 0 && p99 > 0, JSON.stringify(figures(group, 'recycle')))
  t.equal(dropped, 0)
})
