'use strict'

const t = require('tap')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions, traceOptions } = require('../../lib/tables/resolved-options')

const MIB = 1024 ** 2

/** @param {Record<string, any>} given @param {Record<string, string>} [env] */
const resolve = (given, env = {}) => resolveOptions(given, { env, parallelism: 2 })
const byName = (/** @type {string} */ name) =>
  /** @type {import('../../lib/tables/options').Option} */ (OPTIONS.find(o => o.name === name))

t.test('what a probe is like is refused without a path to probe, and a worker must be probed before it is given up', async t => {
  t.throws(() => resolve({ healthPeriod: '5s' }), { message: 'healthPeriod was given "5s"; it takes none, unless health is set' })
  t.throws(() => resolve({ health: '/', healthInitialDelay: '30s' }), { message: /^healthInitialDelay was given "30s"; it takes a time below readyTimeout/ })
})

t.test('an option given beats the environment, the environment beats the default', async t => {
  const env = { RECYCLE_SAMPLES: '7' }
  t.equal(resolve({ samples: 3 }, env).samples, 3)
  t.equal(resolve({}, env).samples, 7)
  t.equal(resolve({ samples: undefined }, env).samples, 7, 'undefined counts as not given')
  t.equal(resolve({}, {}).samples, 2)
  t.equal(resolve({}, { RECYCLE_SAMPLES: '' }).samples, 2, 'an empty variable counts as not set')
  t.equal(resolve({ samples: 3 }, { RECYCLE_SAMPLES: 'nonsense' }).samples, 3, 'an overruled value is not checked')
})

t.test('the config file comes after the options given and the environment, and before the default', async t => {
  const file = { name: 'recycle.config.json', values: { samples: 9, handoff: false } }
  const at = (/** @type {Record<string, any>} */ given, /** @type {Record<string, string>} */ env) =>
    resolveOptions(given, { env, file, parallelism: 2 })
  t.match(at({}, {}), { samples: 9, handoff: false, jitter: 0.1 })
  t.equal(at({}, { RECYCLE_SAMPLES: '7' }).samples, 7)
  t.equal(at({ samples: 3 }, { RECYCLE_SAMPLES: '7' }).samples, 3)
  t.equal(at({ samples: null }, {}).samples, 2, 'null is the default')
  t.equal(at({}, { RECYCLE_HANDOFF: 'true' }).handoff, true)
})

t.test('the origin of each value is known', async t => {
  const { options, origins } = traceOptions({ samples: '3' }, {
    env: { RECYCLE_INTERVAL: '2s' },
    file: { name: 'recycle.config.json', values: { maxRss: '1G', samples: 8 } },
    parallelism: 2,
    nameOf: o => o.long
  })
  t.same(options, resolveOptions({ samples: 3, interval: '2s', maxRss: '1G' }, { parallelism: 2 }))
  t.same([...origins.keys()], OPTIONS.map(o => o.name))
  t.same(origins.get('samples'), { from: 'given', called: '--samples', text: '3' })
  t.same(origins.get('interval'), { from: 'env', called: 'RECYCLE_INTERVAL', text: '2s' })
  t.same(origins.get('maxRss'), { from: 'file', called: 'maxRss in recycle.config.json', text: '1G' })
  t.same(origins.get('jitter'), { from: 'default', called: '--jitter', text: undefined })
})

t.test('options that exclude each other are named as they were given', async t => {
  t.throws(() => resolveOptions({ hardRss: '1M' }, { file: { name: 'x.json', values: { maxRss: '2M' } }, parallelism: 2, nameOf: o => o.long }), {
    message: '--hard-rss was given "1M"; it takes a size of at least maxRss in x.json, which must be set too'
  })
})

t.test('a bad value gives one sentence: where it was given, what was given, what is accepted', async t => {
  const nameOf = (/** @type {any} */ o) => o.long
  t.throws(() => resolveOptions({ interval: '10ms' }, { parallelism: 2, nameOf }), {
    message: '--interval was given "10ms"; it takes a time of 50ms to 24 days, such as 500ms, 30s or 2h',
    details: { option: '--interval', given: '10ms' }
  })
  t.throws(() => resolveOptions({}, { parallelism: 2, nameOf, env: { RECYCLE_INTERVAL: '10ms' } }), {
    message: 'RECYCLE_INTERVAL was given "10ms"; it takes a time of 50ms to 24 days, such as 500ms, 30s or 2h'
  }, 'a value from the environment is named by its variable')
  t.throws(() => resolve({ workers: -1 }), { message: 'workers was given -1; it takes a whole number from 1 to 1024, auto, or a range such as 2..8 or 2..auto' })
})

t.test('an unknown option is named, with what was probably meant', async t => {
  t.throws(() => resolve({ maxRSS: '1G' }), { code: 'RECYCLE_UNKNOWN_OPTION', exitCode: 2, message: 'unknown option "maxRSS"; did you mean maxRss?' })
  t.throws(() => resolve({ env: {} }), { message: 'unknown option "env"; the workers have the environment in which recycle is started' })
  t.throws(() => resolve({ toString: 1 }), { code: 'RECYCLE_UNKNOWN_OPTION' })
})

t.test('auto is two workers a CPU, and one', async t => {
  t.equal(resolveOptions({}, { parallelism: 8 }).workers, 17)
  t.equal(resolveOptions({ workers: 'auto' }, { parallelism: 1 }).workers, 3)
})

t.test('the hard budget is 1.25 of the soft one, unless it is given', async t => {
  t.equal(resolve({ maxRss: '400M' }).hardRssBytes, 500 * MIB)
  t.equal(resolve({ maxRss: '400M', hardRss: '401M' }).hardRssBytes, 401 * MIB)
  t.equal(resolve({ maxRss: '400M', hardRss: '400M' }).hardRssBytes, 400 * MIB)
  t.equal(resolve({}).hardRssBytes, null)
  t.throws(() => resolve({ maxRss: '400M', hardRss: '399M' }), { code: 'RECYCLE_BAD_OPTION', message: /^hardRss was given .*; it takes a size of at least maxRss/ })
  t.throws(() => resolve({ hardRss: '399M' }), { code: 'RECYCLE_BAD_OPTION', message: /hardRss.*maxRss, which must be set too/ })
})

t.test('without a surge, one worker must be allowed to be missing; all may be only where there is one', async t => {
  const sentence = /^maxSurge was given 0; it takes 0 only with maxUnavailable of at least 1$/
  t.throws(() => resolve({ maxSurge: 0 }), { code: 'RECYCLE_BAD_OPTION', message: sentence })
  for (const workers of [1, 2]) {
    t.match(resolve({ maxSurge: 0, maxUnavailable: 1, workers }), { maxSurge: 0, maxUnavailable: 1, workers })
  }
  for (const bad of [{ maxSurge: 1, maxUnavailable: 1, workers: 1 }, { maxSurge: 0, maxUnavailable: 2, workers: 2 }]) {
    t.throws(() => resolve(bad), { code: 'RECYCLE_BAD_OPTION', message: /^maxUnavailable was given .*below the number of workers/ })
  }
})

t.test('a range of workers: from its least at the start to what the CPUs and the memory have a use for', async t => {
  const GIB = 1024 ** 3
  const of = (/** @type {any} */ given, /** @type {any} */ machine = {}) =>
    resolveOptions(given, { parallelism: 4, ...machine })
  t.match(of({ workers: '2..6' }), { workers: 2, autoscale: { min: 2, max: 6, asked: 6 } })
  t.match(of({ workers: '2..auto' }), { workers: 2, autoscale: { min: 2, max: 9, asked: 9 } })
  t.match(of({ workers: '2..64' }), { workers: 2, autoscale: { min: 2, max: 9, asked: 64 } }, '2×CPU+1')
  t.match(of({ workers: '2..6' }, { container: { limitBytes: 8 * GIB, source: 'cgroup v2', quotaCpus: 1.5 } }), { autoscale: { max: 3 } }, 'by the quota')
  t.match(of({ workers: '12..64' }), { workers: 12, autoscale: { min: 12, max: 12 } }, 'what is asked for at least')
  t.match(of({ workers: '1..1' }), { workers: 1, autoscale: { min: 1, max: 1 } })
  const container = { limitBytes: GIB, source: 'cgroup v2', quotaCpus: null }
  t.match(of({ workers: '1..8', maxRss: '150MiB' }, { container }), { workers: 1, autoscale: { max: 4 } }, 'by the memory: 841 MiB ÷ 150 MiB, less one beside them')
  const auto = of({ workers: '1..8', maxRss: 'auto' }, { container })
  t.match(auto, { autoscale: { max: 8 } })
  t.equal(auto.maxRssBytes, of({ workers: 8, maxRss: 'auto' }, { container }).maxRssBytes, 'the budget is that of the most workers')
  t.equal(of({ workers: 2 }).autoscale, null)
  t.throws(() => of({ workers: '1..4', maxUnavailable: 1 }), { message: /below the number of workers \(1\)$/ })
})

t.test('not all workers may be missing', async t => {
  t.throws(() => resolve({ maxUnavailable: 3, workers: 3 }), {
    code: 'RECYCLE_BAD_OPTION', message: 'maxUnavailable was given 3; it takes a whole number below the number of workers (3)'
  })
  t.equal(resolve({ maxUnavailable: 2, workers: 3 }).maxUnavailable, 2)
})

t.test('sizes and percentages may be numbers in the library, and a time 0', async t => {
  t.match(resolve({ maxRss: 64 * MIB, drainTimeout: 0, jitter: 10, handoff: false, prefix: true, nodeOption: ['--expose-gc'] }), {
    maxRssBytes: 64 * MIB, drainTimeoutMs: 0, jitter: 0.1, handoff: false, prefix: true, nodeOptions: ['--expose-gc']
  })
})

t.test('the resolved options are frozen', async t => {
  t.ok(Object.isFrozen(resolve({})))
  t.ok(Object.isFrozen(OPTIONS) && OPTIONS.every(Object.isFrozen))
  t.same(Object.keys(resolve({})).sort(), [...OPTIONS.map(o => o.key), 'sizing', 'autoscale', 'stopTimes'].sort())
  t.ok(byName('workers'))
})

t.test('a prefix needs lines', async t => {
  t.equal(resolve({}).output, 'inherit')
  t.equal(resolve({ prefix: true }).output, 'lines')
  t.match(resolve({ output: 'lines' }), { output: 'lines', prefix: false })
  t.throws(() => resolve({ output: 'inherit', prefix: true }), { message: 'output was given "inherit"; it takes lines with prefix' })
})

t.test('forked workers are measured by what they do not share, unless another metric is given', async t => {
  t.equal(resolve({ fork: 'mold' }).metric, 'uss')
  t.equal(resolve({ fork: 'mold', metric: 'rss' }).metric, 'rss')
  t.throws(() => resolve({ fork: 'mold', standby: 1 }), { message: 'standby was given 1; it takes 0 with fork mold: a forked replacement is as fast' })
  t.throws(() => resolve({ fork: 'mold', nodeOption: '--inspect=0' }), { message: /takes no --inspect with fork mold/ })
  t.throws(() => resolve({ warm: 5 }), { message: 'warm was given 5; it takes 0, unless fork is mold' })
  t.throws(() => resolve({ forkUnsafe: true }), { message: /takes false, unless fork is mold/ })
})
