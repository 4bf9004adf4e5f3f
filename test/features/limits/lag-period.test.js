'use strict'

const t = require('tap')
const { lagPeriodMs, isLagKnown } = require('../../../lib/features/max-lag/lag-period')

t.test('a percentile is over --samples intervals, and at least a second', async t => {
  t.equal(lagPeriodMs({ intervalMs: 1000, samples: 2 }), 2000)
  t.equal(lagPeriodMs({ intervalMs: 50, samples: 2 }), 1000)
})

t.test('what delayed a worker while it booted is not judged', async t => {
  const options = { intervalMs: 1000, samples: 2 }
  t.notOk(isLagKnown(5999, options))
  t.ok(isLagKnown(6000, options))
})
