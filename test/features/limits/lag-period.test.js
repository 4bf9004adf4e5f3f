'use strict'

const t = require('tap')
const { primary, settings } = require('../../../lib/features/max-lag/feature')

const options = /** @type {any} */ ({ intervalMs: 1000, samples: 2 })

t.test('a percentile is over --samples intervals, and at least a second', async t => {
  t.same(settings?.(options), { periodMs: 2000 })
  t.same(settings?.({ ...options, intervalMs: 50 }), { periodMs: 1000 })
})

t.test('what delayed a worker while it booted, or while the machine slept, is not judged', async t => {
  let now = 0
  const part = primary?.()(/** @type {any} */ ({ options, now: () => now }))
  const probe = part?.probe?.(/** @type {any} */ ({ latest: { lagP99Ms: 70 }, upSince: 0 }))
  t.same([probe?.(5999), probe?.(6000)], [{ lagP99Ms: null }, { lagP99Ms: 70 }])
  now = 10_000
  part?.wake?.()
  t.same([probe?.(15_999), probe?.(16_000)], [{ lagP99Ms: null }, { lagP99Ms: 70 }])
})
