'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:frameworks --quick: a reload drops nothing', { skip: longAlone('8', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'frameworks')
  const { recycles, ...rest } = figures('http', 'recycle')
  t.match(rest, { dropped: 0, reopened: 0, errors: {} })
  t.ok(recycles >= 1, `${recycles} workers replaced`)
})
