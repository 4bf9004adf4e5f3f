'use strict'

const { quickBench } = require('../support/bench')
const t = require('tap')
const { longAlone } = require('../support/campaign')

t.test('bench:sticky --quick compares requests whose session is here with requests that move', { skip: longAlone('7', 'npm run test:bench') }, async t => {
  const { figures } = await quickBench(t, 'sticky', ['--only', '^the session is here|requests/s'])
  for (const [group, subject] of [['the session is here', 'without'], ['the session is here', 'sticky'], ['100 requests/s', 'a session a connection'], ['100 requests/s', 'every request moves']]) {
    const { rps, p50, dropped } = figures(group, subject)
    t.ok(rps > 0 && p50 > 0, `${group}, ${subject}: ${rps} requests/s`)
    t.equal(dropped, 0)
  }
})
