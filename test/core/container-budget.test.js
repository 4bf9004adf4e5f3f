'use strict'

const t = require('tap')
const fc = require('fast-check')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { size, autoBudget, workersAtFirst, workersThatFit, whyNoAutoBudget, budgetArithmetic, budgetFor, workersArithmetic, sizingWarnings, LEAST_BYTES } = require('../../lib/core/container-budget')

const MIB = 1024 ** 2
const container = (/** @type {number} */ mib, /** @type {any} */ more = {}) => ({ limitBytes: mib * MIB, source: 'cgroup v2', quotaCpus: null, ...more })
const resolve = (/** @type {Record<string, any>} */ given, /** @type {any} */ machine) =>
  resolveOptions(given, { parallelism: 2, ...machine })

t.test('--max-rss auto: the limit less the primary and the margin, divided by the workers and one replacement', async t => {
  const options = resolve({ maxRss: 'auto', workers: 4 }, { container: container(1024) })
  t.equal(options.maxRssBytes, Math.floor((1024 - 80 - 102.4) / 5) * MIB)
  t.equal(options.hardRssBytes, 1.25 * Number(options.maxRssBytes))
  t.equal(budgetArithmetic(options.sizing, 4), '(1 GiB of the cgroup v2 − 80 MiB for the primary − 102 MiB margin) ÷ (4 workers + 1 beside them) = 168 MiB')
})

t.test('whatever the sizes: the workers at their budgets and the replacement fit with the primary, and nothing is left that another MiB could take', async t => {
  const limits = fc.integer({ min: 64, max: 1 << 20 })
  fc.assert(fc.property(limits, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 4 }),
    fc.integer({ min: 0, max: 4 }), (mib, workers, maxSurge, standby) => {
      const sizing = size({ parallelism: 2, container: /** @type {any} */ (container(mib)) }, { workers, maxRssBytes: 'auto', maxSurge, standby }, 0)
      const all = (/** @type {number} */ each) =>
        each * (workers + Math.max(maxSurge, standby)) + sizing.primaryBytes + sizing.marginBytes
      const budget = autoBudget(sizing, workers)
      if (budget > 0 && all(budget) > mib * MIB) throw new Error(`${budget} is too much`)
      if (mib > 200 && all(budget + MIB) <= mib * MIB) throw new Error(`${budget} is too little`)
    }))
})

t.test('with --fork mold the mold is one more process, and the budget is of PSS, which adds up', async t => {
  const [spawned, forked] = ['spawn', 'mold'].map(fork => resolve({ maxRss: 'auto', workers: 3, fork }, { container: container(1000) }))
  t.equal(spawned.metric, 'rss')
  t.equal(forked.metric, 'pss')
  t.equal(forked.maxRssBytes, Math.floor((1000 - 80 - 100) / 5) * MIB)
  t.equal(resolve({ maxRss: 'auto', workers: 3, fork: 'mold', metric: 'uss' }, { container: container(1000) }).metric, 'uss')
  t.equal(resolve({ maxRss: '1G', workers: 3, fork: 'mold' }, {}).metric, 'uss')
})

t.test('where the memory is not enough for the workers, auto is refused with the arithmetic', async t => {
  t.throws(() => resolve({ maxRss: 'auto', workers: 8 }, { container: container(512) }), {
    code: 'RECYCLE_BAD_OPTION',
    message: 'maxRss was given "auto"; it takes auto only where each worker gets at least 64 MiB; here it is 42 MiB: (512 MiB of the cgroup v2 − 80 MiB for the primary − 51.2 MiB margin) ÷ (8 workers + 1 beside them) = 42 MiB'
  })
  t.equal(resolve({ maxRss: 'auto', workers: 9 }, { container: container(800) }).maxRssBytes, 64 * MIB, '(800 − 80 − 80) ÷ 10')
  t.throws(() => resolve({ maxRss: 'auto' }, {}), { message: 'maxRss was given "auto"; it takes a size, where the limit of memory is not known' })
})

t.test('--workers auto goes by the quota and the CPUs that the process may run on, whichever is less', async t => {
  const workers = (/** @type {number} */ parallelism, /** @type {number | null} */ quotaCpus) =>
    resolve({}, { parallelism, container: container(64_000, { quotaCpus }) }).workers
  t.equal(workers(8, null), 17)
  t.equal(workers(8, 2), 5)
  t.equal(workers(8, 2.9), 5, 'a part of a CPU does not count')
  t.equal(workers(8, 0.25), 3, 'one CPU at least')
  t.equal(workers(1, 4), 3)
  const { sizing } = resolve({}, { parallelism: 8, container: container(64_000, { quotaCpus: 1.5 }) })
  t.equal(workersArithmetic(sizing), '2 × 1 CPU (it may run on 8, with a quota of 1.5) + 1 = 3')
  t.match(workersArithmetic(resolve({}, { parallelism: 8, container: container(64_000, { quotaCpus: 1.23456 }) }).sizing), 'a quota of 1.23)')
})

t.test('--workers auto is fewer than 2×CPU+1 where the memory is not enough for them, and says so', async t => {
  const options = resolve({ maxRss: 'auto' }, { parallelism: 4, container: container(512) })
  t.equal(options.workers, 4)
  t.ok(Number(options.maxRssBytes) >= LEAST_BYTES)
  t.equal(workersArithmetic(options.sizing), '2 × 4 CPUs + 1 = 9; the memory is enough for 4')
  t.same(sizingWarnings(options.sizing, options), [{ warning: 'few-workers', workers: 4, desired: 9, limitBytes: 512 * MIB, source: 'cgroup v2' }])
  t.equal(resolve({}, { parallelism: 4, container: container(512) }).workers, 4, 'without a budget, too')
  t.equal(resolve({}, { parallelism: 4, container: container(100) }).workers, 1, 'one at least')
  t.same(
    sizingWarnings(resolve({}, { container: container(4096) }).sizing, resolve({}, { container: container(4096) })), []
  )
})

t.test('a budget that was given takes no worker away, and one that the memory has no room for is said', async t => {
  const options = resolve({ maxRss: '1G' }, { parallelism: 2, container: container(4096) })
  t.equal(options.workers, 5)
  t.same(sizingWarnings(options.sizing, options), [
    { warning: 'over-committed', workers: 5, beside: 1, softBytes: 1024 * MIB, limitBytes: 4096 * MIB, source: 'cgroup v2', fitting: 2 }
  ])
  const range = resolve({ maxRss: '1G', workers: '4..4' }, { container: container(4096) })
  t.match(sizingWarnings(range.sizing, range), [{ warning: 'over-committed', workers: 4, fitting: 2 }], 'of a number that the load decides, too')
  const fits = resolve({ maxRss: '1G', workers: 2 }, { container: container(4096) })
  t.same(sizingWarnings(fits.sizing, fits), [])
})

t.test('as many workers as get a budget that a fresh one fits in: the issue\'s container has room for one', async t => {
  const { sizing, workers } = resolve({ maxRss: 'auto' }, { parallelism: 8, container: container(512) })
  t.equal(workers, 4, 'before one has booted')
  t.equal(workersAtFirst(sizing), 1)
  t.equal(workersThatFit(sizing, 152 * MIB), 1)
  t.ok(autoBudget(sizing, 1) >= 1.25 * 152 * MIB)
  t.equal(workersThatFit(sizing, 60 * MIB), 4)
  t.equal(workersThatFit(sizing, 4096 * MIB), 1, 'one at least')
  t.equal(workersAtFirst(resolve({ maxRss: 'auto' }, { parallelism: 8, container: container(16_384) }).sizing), 27)
  t.equal(whyNoAutoBudget(sizing, 2, null), null)
  t.match(whyNoAutoBudget(sizing, 2, 152 * MIB), /^auto only where each worker gets at least 190 MiB; here it is 126 MiB: /)
})

t.test('whatever a fresh worker takes: the number that fits gives each a quarter more, and one more worker would not', async t => {
  fc.assert(fc.property(fc.integer({ min: 256, max: 1 << 16 }), fc.integer({ min: 40, max: 2000 }),
    fc.integer({ min: 0, max: 3 }), (mib, freshMib, maxSurge) => {
      const sizing = size({ parallelism: 2, container: /** @type {any} */ (container(mib)) }, { workers: 'auto', maxRssBytes: 'auto', maxSurge, standby: 0 }, 0)
      const workers = workersThatFit(sizing, freshMib * MIB)
      if (workers > 1 && autoBudget(sizing, workers) < 1.25 * freshMib * MIB - MIB) throw new Error(`${workers} are too many`)
      if (autoBudget(sizing, workers + 1) >= 1.25 * freshMib * MIB) throw new Error(`${workers} are too few`)
    }))
})

t.test('before it is known what a worker takes, as many boot as have 512 MiB each', async t => {
  t.equal(workersAtFirst(resolve({ maxRss: 'auto' }, { container: container(4640) }).sizing), 7, '(4640 − 464 − 80) ÷ 512 = 8')
})

t.test('where the primary takes all memory there is none for a worker', async t => {
  const { sizing } = resolve({ workers: 1 }, { container: container(64) })
  t.match(sizing, { fitting: 0, marginBytes: Math.round(6.4 * MIB) })
  t.equal(autoBudget(sizing, 1), 0)
  t.match(resolve({}, {}).sizing, { fitting: null, marginBytes: 0 })
})

t.test('--max-rss auto in a fleet of another size than at the start: the same memory by their number; a budget that was given stays', async t => {
  const fleet = (/** @type {any} */ given) => resolve(given, { container: container(1000) })
  const four = fleet({ maxRss: 'auto', workers: 4 })
  t.same(budgetFor(four, 4), { maxRssBytes: 164 * MIB, hardRssBytes: 205 * MIB })
  t.same(budgetFor(four, 9), { maxRssBytes: 82 * MIB, hardRssBytes: 102.5 * MIB }, 'the hard budget keeps its distance')
  t.same(budgetFor(four, 2), { maxRssBytes: 273 * MIB, hardRssBytes: 341.25 * MIB })
  t.same(budgetFor(fleet({ maxRss: '100M', workers: 4 }), 9), { maxRssBytes: 100 * MIB, hardRssBytes: 125 * MIB })
  const scaled = fleet({ maxRss: 'auto', workers: '1..4' })
  const atMost = { maxRssBytes: scaled.maxRssBytes, hardRssBytes: scaled.hardRssBytes }
  t.same([1, 2, 4].map(workers => budgetFor(scaled, workers)), [atMost, atMost, atMost], 'within the bounds it is that of the largest')
  t.equal(budgetFor(scaled, 5).maxRssBytes, autoBudget(scaled.sizing, 5))
})

t.test('the number of workers is said with the memory only where that is what makes them fewer', async t => {
  t.equal(workersArithmetic(resolve({}, { container: container(Math.ceil((6 * 64 + 80) / 0.9)) }).sizing), '2 × 2 CPUs + 1 = 5')
  t.same(sizingWarnings(resolve({ maxRss: '1G' }, {}).sizing, resolve({ maxRss: '1G' }, {})), [], 'of a memory that is not known nothing is')
})
