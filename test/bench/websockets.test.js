'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:websockets --quick: a reload closes none, and loses nothing', { skip: longAlone('15', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'websockets')
  const { messages, ...rest } = figures('55 connections, 2 workers', 'recycle')
  t.match(rest, { closed: 0, lost: 0, wrong: 0, failed: 0 })
  t.ok(messages > 500, `${messages} messages`)
})
