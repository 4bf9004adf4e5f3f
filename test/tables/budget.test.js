'use strict'

const t = require('tap')
const fc = require('fast-check')
const { drawBudget, aboveFresh, withoutFiles } = require('../../lib/tables/budget')
const { resolveOptions } = require('../../lib/tables/resolved-options')

const options = (/** @type {Record<string, any>} */ given) => resolveOptions(given, { parallelism: 2 })
const FULL = { maxRss: '100M', hardRss: '130M', metric: 'pss', samples: 3, maxRequests: 1000, maxAge: '10m' }

t.test('without jitter the budget is what was set', async t => {
  t.same(drawBudget(options({ ...FULL, jitter: 0 }), 5, 0.7), {
    metric: 'pss', softBytes: 100 * 1024 ** 2, hardBytes: 130 * 1024 ** 2, samples: 3, maxRequests: 1000, maxAgeMs: 600_000
  })
})

t.test('a budget that was not set is null', async t => {
  t.match(drawBudget(options({}), 5, 0.5), { softBytes: null, hardBytes: null, maxRequests: null, maxAgeMs: null })
})

t.test('jitter only ever lowers a budget, by its share at most', async t => {
  t.match(drawBudget(options({ ...FULL, jitter: 20 }), 5, 0.5), {
    softBytes: Math.round(0.9 * 100 * 1024 ** 2),
    hardBytes: Math.round(0.9 * 130 * 1024 ** 2),
    maxRequests: 900,
    maxAgeMs: 540_000
  })
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(fc.property(random, fc.integer({ min: 0, max: 90 }), fc.integer({ min: 1, max: 1e6 }),
    (random, jitter, maxRequests) => {
      const drawn = drawBudget(options({ ...FULL, jitter, maxRequests }), 5, random)
      const full = drawBudget(options({ ...FULL, jitter: 0, maxRequests }), 5, 0)
      for (const key of /** @type {const} */ (['softBytes', 'hardBytes', 'maxRequests', 'maxAgeMs'])) {
        const [value, most] = [(drawn[key]), /** @type {number} */ (full[key])]
        const least = Math.max(1, Math.floor(most * (1 - jitter / 100)))
        if (!(Number.isInteger(value) && value <= most && value >= least)) throw new Error(`${key} ${value} is not in ${least} to ${most}`)
      }
      if (/** @type {number} */ (drawn.hardBytes) < /** @type {number} */ (drawn.softBytes)) throw new Error('the hard budget is never below the soft one')
    }))
})

t.test('a budget of auto is by the number of workers that there are to be', async t => {
  const container = { limitBytes: 1000 * 1024 ** 2, source: /** @type {const} */ ('cgroup v2'), quotaCpus: null }
  const auto = resolveOptions({ maxRss: 'auto', workers: 3, jitter: 0 }, { parallelism: 2, container })
  t.match(drawBudget(auto, 3, 0.5), { softBytes: 205 * 1024 ** 2, hardBytes: 1.25 * 205 * 1024 ** 2 })
  t.match(drawBudget(auto, 7, 0.5), { softBytes: 102 * 1024 ** 2, hardBytes: 1.25 * 102 * 1024 ** 2 })
  const given = resolveOptions({ maxRss: '200M', workers: 3, jitter: 0 }, { parallelism: 2, container })
  t.match(drawBudget(given, 7, 0.5), { softBytes: 200 * 1024 ** 2 })
})

t.test('samples have no jitter', async t => {
  t.match(drawBudget(options({ ...FULL, jitter: 90 }), 5, 0.999), { samples: 3 })
})

t.test('a budget is frozen', async t => {
  t.ok(Object.isFrozen(drawBudget(options(FULL), 5, 0.5)))
})

t.test('a budget that a fresh worker exceeds is raised above what it takes, the hard one with it; any other stays', async t => {
  const budget = /** @type {any} */ ({ metric: 'rss', softBytes: 80, hardBytes: 100, samples: 2 })
  t.same(aboveFresh(budget, 160), { ...budget, softBytes: 200, hardBytes: 250 })
  t.same(aboveFresh({ ...budget, softBytes: null }, 160), { ...budget, softBytes: null, hardBytes: 200 })
  t.same(aboveFresh({ ...budget, hardBytes: null }, 160), { ...budget, softBytes: 200, hardBytes: null })
  for (const fresh of [80, 10, null]) t.equal(aboveFresh(budget, fresh), budget)
  t.equal(aboveFresh({ ...budget, softBytes: null, hardBytes: null }, 160).softBytes, null)
})

t.test('pages of files that were mapped since a worker was new do not count, where they are most of its growth', async t => {
  const budget = Object.freeze({ metric: /** @type {const} */ ('rss'), softBytes: 180, hardBytes: null, samples: 2, maxRequests: null, maxAgeMs: null })
  const of = (/** @type {number | null} */ rssBytes, /** @type {number | null} */ anonBytes, more = {}) =>
    ({ rssBytes, anonBytes, pssBytes: null, ussBytes: null, ...more })
  const fresh = of(58, 13)
  t.same(withoutFiles(budget, fresh, of(100, 14)), { ...budget, metric: 'anon' })
  t.same(withoutFiles({ ...budget, metric: 'uss' }, of(58, 13, { ussBytes: 15 }), of(140, 14, { ussBytes: 95 })).metric, 'anon')
  for (const [what, before, sample] of /** @type {const} */ ([
    ['a leak', fresh, of(180, 134)],
    ['a leak that is most of the growth', fresh, of(180, 80)],
    ['the code of libraries', fresh, of(91, 30)],
    ['far from the budget', fresh, of(89, 14)],
    ['a meter that does not know', of(58, null), of(180, null)],
    ['no reading when it was new', of(null, null), of(180, 14)],
    ['memory that copies of a mold share is anonymous', of(100, 90), of(120, 110)]
  ])) t.equal(withoutFiles(budget, before, sample), budget, what)
  const anon = { ...budget, metric: /** @type {const} */ ('anon') }
  t.equal(withoutFiles(anon, fresh, of(180, 90)), anon)
})

t.test('a limit of a feature that is on is drawn with the others; no budget is lowered below one', async t => {
  t.match(drawBudget(options({ maxHandles: 100, jitter: 20 }), 5, 0.5), { maxHandles: 90 })
  t.equal('maxHandles' in drawBudget(options({}), 5, 0.5), false)
  t.equal(drawBudget(options({ maxRequests: 1, jitter: 90 }), 5, 0.9).maxRequests, 1)
})
