'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:poison --quick: workers end, and nearly all of the other requests are answered', { skip: longAlone('7', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'poison')
  for (const name of ['cluster', 'recycle']) {
    const { sent, answered, errors, p50, max, deaths, hasEnded } = figures('2 a second among 50', name)
    t.ok(sent > 100 && deaths > 0 && max >= p50 && p50 > 0, `${deaths} workers ended`)
    t.equal(answered + Object.values(errors).reduce((sum, count) => sum + count, 0), sent)
    t.equal(hasEnded, 0)
  }
})
