'use strict'

const t = require('tap')
const { makeSample, figure } = require('../../lib/core/sample')

t.test('a sample holds the reading of the meter and the state of the worker', async t => {
  const reading = { rssBytes: 3, anonBytes: 2, pssBytes: 2, ussBytes: 1, meter: 'smaps_rollup' }
  const sample = makeSample(reading, { ageMs: 5, requests: 7, silentMs: 9, requested: 'requested' })
  t.same(sample, { ...reading, ageMs: 5, requests: 7, silentMs: 9, requested: 'requested' })
  t.ok(Object.isFrozen(sample))
})

t.test('without a reading the figures are null, not missing: JSON keeps them', async t => {
  const sample = makeSample(null, { ageMs: 5, requests: 7, silentMs: 9, requested: null })
  t.same(JSON.parse(JSON.stringify(sample)), {
    rssBytes: null,
    anonBytes: null,
    pssBytes: null,
    ussBytes: null,
    meter: null,
    ageMs: 5,
    requests: 7,
    silentMs: 9,
    requested: null
  })
})

t.test('the figure is that of the metric', async t => {
  const sample = makeSample({ rssBytes: 3, anonBytes: 1, pssBytes: 2, ussBytes: null, meter: 'smaps' }, { ageMs: 5, requests: 0, silentMs: 0, requested: null })
  t.equal(figure(sample, 'rss'), 3)
  t.equal(figure(sample, 'pss'), 2)
  t.equal(figure(sample, 'anon'), 1)
  t.equal(figure(sample, 'uss'), null)
})
