'use strict'

const t = require('tap')
const { makeSample } = require('../../lib/core/sample')
const { REASONS, crossing, isOver, verdict } = require('../../lib/tables/reasons')
const { openWindow, pushSample } = require('../../lib/core/window')

/** @type {import('../../lib/tables/budget').Budget} */
const NONE = { metric: 'rss', softBytes: null, hardBytes: null, samples: 2, maxRequests: null, maxAgeMs: null }
const SOFT = { ...NONE, softBytes: 100, hardBytes: 125 }

/** @param {Record<string, any>} about */
function sampleOf ({
  ageMs = 0, rss = 50, pss = null, uss = null, requests = 0, silentMs = 0, requested = null, ...limited
}) {
  const reading = rss === null ? null : { rssBytes: rss, pssBytes: pss, ussBytes: uss, meter: 'smaps' }
  return makeSample(reading, { ageMs, requests, silentMs, requested, ...limited })
}

/** @param {Record<string, any>[]} samples @param {import('../../lib/tables/budget').Budget} budget */
function judge (samples, budget) {
  const window = samples.reduce((w, about) => pushSample(w, sampleOf(about), budget.samples), openWindow())
  return verdict(window, budget)
}

t.test('a worker without samples is kept', async t => {
  t.equal(judge([], { ...SOFT, maxAgeMs: 1 }), null)
})

t.test('a worker within its budgets is kept', async t => {
  t.equal(judge([{ rss: 100 }, { rss: 100 }], SOFT), null, 'a sample equal to the budget is not over it')
  t.equal(judge([{ rss: 1e12, requests: 1e9, ageMs: 1e12 }], NONE), null, 'without a budget nothing is over it')
})

t.test('rss: over the soft budget for the set number of samples in a row', async t => {
  t.equal(judge([{ rss: 101 }], SOFT), null, 'one is not enough')
  t.equal(judge([{ rss: 101 }, { rss: 101 }], SOFT), 'rss')
  t.equal(judge([{ rss: 101 }, { rss: 101 }], { ...SOFT, samples: 3 }), null)
  t.equal(judge([{ rss: 101 }], { ...SOFT, samples: 1 }), 'rss')
})

t.test('rss: single samples over the budget do not condemn, however many there are', async t => {
  t.equal(judge([{ rss: 120 }, { rss: 80 }], SOFT), null)
  t.equal(judge([{ rss: 120 }, { rss: 80 }, { rss: 120 }], SOFT), null)
  t.equal(judge([{ rss: 120 }, { rss: 80 }, { rss: 120 }, { rss: 120 }], SOFT), 'rss', 'two in a row do')
})

t.test('rss: a failed reading ends the row', async t => {
  t.equal(judge([{ rss: 120 }, { rss: null }, { rss: 120 }], SOFT), null)
})

t.test('hard-rss: one sample is enough', async t => {
  t.equal(judge([{ rss: 126 }], SOFT), 'hard-rss')
  t.equal(judge([{ rss: 50 }, { rss: 126 }], SOFT), 'hard-rss')
  t.equal(judge([{ rss: 126 }, { rss: 50 }], SOFT), null, 'it must be the latest sample')
  t.equal(judge([{ rss: 125 }], SOFT), null)
  t.equal(judge([{ rss: 126 }, { rss: 126 }], SOFT), 'hard-rss', 'the graver reason is given')
})

t.test('heap: what one mark-sweep has left, by a size or a share of V8\'s limit', async t => {
  const over = { heapUsedBytes: 81, heapLimitBytes: 100 }
  t.equal(judge([over], { ...NONE, maxHeap: { share: 0.8 } }), 'heap')
  t.equal(judge([{ ...over, heapUsedBytes: 80 }], { ...NONE, maxHeap: { share: 0.8 } }), null)
  t.equal(judge([over], { ...NONE, maxHeap: { most: 80 } }), 'heap')
  t.equal(judge([over, { heapUsedBytes: 10, heapLimitBytes: 100 }], { ...NONE, maxHeap: { most: 80 } }), null, 'the latest one counts')
  t.equal(judge([{ heapUsedBytes: null, heapLimitBytes: null }], { ...NONE, maxHeap: { share: 0.8 } }), null, 'no mark-sweep yet')
  t.equal(judge([over], NONE), null, 'no limit')
  t.same(crossing('heap', sampleOf(over), { ...NONE, maxHeap: { share: 0.8 } }), { figure: 81, most: 80 })
})

t.test('fds: above the limit for the set number of samples in a row', async t => {
  const budget = { ...NONE, maxFds: { share: 0.5 } }
  t.equal(judge([{ fds: 11, fdLimit: 20 }], budget), null)
  t.equal(judge([{ fds: 11, fdLimit: 20 }, { fds: 11, fdLimit: 20 }], budget), 'fds')
  t.equal(judge([{ fds: 11, fdLimit: 20 }, { fds: null, fdLimit: 20 }, { fds: 11, fdLimit: 20 }], budget), null, 'one that was not counted ends the row')
  t.equal(judge([{ fds: 11, fdLimit: null }, { fds: 11, fdLimit: null }], budget), null, 'a share of what is not known')
  t.equal(judge([{ fds: 11 }, { fds: 11 }], { ...NONE, maxFds: { most: 10 } }), 'fds')
})

t.test('lag and health: by the latest sample', async t => {
  t.equal(judge([{ lagP99Ms: 101 }], { ...NONE, maxLagMs: 100 }), 'lag')
  t.equal(judge([{ lagP99Ms: 101 }, { lagP99Ms: 100 }], { ...NONE, maxLagMs: 100 }), null)
  t.equal(judge([{ lagP99Ms: null }], { ...NONE, maxLagMs: 100 }), null)
  t.equal(judge([{ healthFailures: 3 }], { ...NONE, maxHealthFailures: 3 }), 'unhealthy')
  t.equal(judge([{ healthFailures: 2 }], { ...NONE, maxHealthFailures: 3 }), null)
  t.same(crossing('requests', sampleOf({}), NONE), {})
})

t.test('the reasons are listed once each', async t => {
  t.ok(['hard-rss', 'heap', 'fds', 'lag', 'unhealthy'].every(reason => REASONS.has(reason)))
})

t.test('requests: a worker that has reached its budget is condemned', async t => {
  t.equal(judge([{ requests: 9 }], { ...NONE, maxRequests: 10 }), null)
  t.equal(judge([{ requests: 10 }], { ...NONE, maxRequests: 10 }), 'requests')
})

t.test('age: at its latest sample', async t => {
  t.equal(judge([{ ageMs: 500 }, { ageMs: 999 }], { ...NONE, maxAgeMs: 1000 }), null)
  t.equal(judge([{ ageMs: 999 }, { ageMs: 1000 }], { ...NONE, maxAgeMs: 1000 }), 'age')
})

t.test('asked, reload: the recycle was requested', async t => {
  t.equal(judge([{ requested: 'requested' }], NONE), 'requested')
  t.equal(judge([{ requested: 'reload' }], NONE), 'reload')
  t.equal(judge([{ requested: 'stuck', rss: null }], NONE), 'stuck', 'also of one that cannot be measured')
  t.equal(judge([{ requested: 'requested' }, {}], NONE), null, 'no longer')
  t.equal(judge([{ requested: 'reload', rss: 126 }], SOFT), 'hard-rss', 'a reason from the figures goes before a requested one')
})

for (const metric of /** @type {const} */ (['pss', 'uss'])) {
  t.test(`${metric}: its own figure counts, and where this reading lacks it the worker is not over`, async t => {
    const budget = { ...SOFT, metric }
    t.equal(judge([{ rss: 1000, [metric]: 50 }, { rss: 1000, [metric]: 50 }], budget), null, 'rss does not count')
    t.equal(judge([{ [metric]: 101 }, { [metric]: 101 }], budget), 'rss')
    t.equal(judge([{ [metric]: 126 }], budget), 'hard-rss')
    t.equal(judge([{ rss: 1000, [metric]: null }, { rss: 1000, [metric]: null }], budget), null)
    t.equal(judge([{ [metric]: 101 }, { [metric]: null }, { [metric]: 101 }], budget), null)
    t.equal(isOver(sampleOf({ rss: 1000, [metric]: null }), budget, budget.softBytes), false)
  })
}
