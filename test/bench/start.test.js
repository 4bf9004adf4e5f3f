'use strict'

const t = require('tap')
const { quickBench } = require('../support/bench')
const { longAlone } = require('../support/campaign')

t.test('bench:start --quick times the first byte of a start, and its CPU time, beside bare cluster', { skip: longAlone('12', 'npm run test:bench') }, async t => {
  const { said, figures } = await quickBench(t, 'start')
  for (const subject of ['node', 'bare cluster', 'recycle']) {
    const { firstByteMs, primaryMs, workerMs } = figures('1 worker', subject)
    t.ok(firstByteMs > 10 && primaryMs > 10 && (subject === 'node' || workerMs > 10), subject)
  }
  t.match(said, /goal (met: {3}|missed:) 1 worker: recycle/)
})
