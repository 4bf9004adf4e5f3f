'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:crash --quick: recycle loses no request as its workers are killed', { skip: longAlone('15', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'crash')
  t.match(figures('GET, keep-alive', 'recycle'), { dropped: 0, reopened: 0 })
  for (const name of ['recycle', 'cluster']) t.ok(figures('GET, keep-alive', name).kills > 2, name)
})
