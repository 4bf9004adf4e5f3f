'use strict'

const fc = require('fast-check')
const t = require('tap')
const { gcFlags, largestBudget } = require('../../../lib/features/gc/profiles')
const { v8 } = require('../../../lib/features/gc/feature')
const { resolveOptions } = require('../../../lib/tables/resolved-options')

const MIB = 1024 ** 2
const MAJORS = [20, 22, 24, 26]

t.test('where V8 lowers the first limit by itself, a worker collects before it loads the app', async t => {
  const collectsFirst = (/** @type {string} */ gc, /** @type {number} */ nodeMajor) => v8?.(/** @type {any} */ ({ gc, heap: 'default', maxRssBytes: 512 * MIB }), nodeMajor).collectsFirst
  t.same(MAJORS.map(nodeMajor => collectsFirst('huge-heap', nodeMajor)), MAJORS.map(nodeMajor => nodeMajor === 22))
  t.equal(collectsFirst('no-mark-sweep', 22), true)
  t.equal(collectsFirst('default', 22), false)
})

t.test('each profile gives these flags on each Node, for a budget of 512 MiB', async t => {
  const hugeHeap = ['--max-old-space-size=2048', '--initial-old-space-size=1024', '--min-semi-space-size=64', '--max-semi-space-size=64', '--no-memory-reducer']
  const noMarkSweep = ['--max-old-space-size=100', '--min-semi-space-size=64', '--max-semi-space-size=64', '--noconcurrent_sweeping', '--no-memory-reducer']
  const external = '--external-memory-accounted-in-global-limit'
  for (const nodeMajor of MAJORS) {
    t.same(gcFlags('default', { maxRssBytes: 512 * MIB, nodeMajor }), [])
    t.same(gcFlags('huge-heap', { maxRssBytes: 512 * MIB, nodeMajor }), nodeMajor >= 24 ? [...hugeHeap, external] : hugeHeap, `huge-heap on ${nodeMajor}`)
    t.same(gcFlags('no-mark-sweep', { maxRssBytes: 150 * MIB, nodeMajor }), noMarkSweep, `no-mark-sweep on ${nodeMajor}`)
  }
  t.same(gcFlags('huge-heap', { maxRssBytes: 512 * MIB, nodeMajor: 28 }), hugeHeap, 'a Node that is not known gets no flag that it may have dropped')
  t.same(gcFlags('huge-heap', { maxRssBytes: null, nodeMajor: 20 }), [], 'without a budget there are no flags')
})

t.test('semi-spaces grow with the budget, as powers of two', async t => {
  const semi = (/** @type {number} */ mib) => gcFlags('huge-heap', { maxRssBytes: mib * MIB, nodeMajor: 20 }).find(flag => flag.startsWith('--max-semi'))
  t.same([1, 100, 255, 256, 300, 511, 512, 100_000].map(semi), [16, 16, 16, 32, 32, 32, 64, 64].map(mib => `--max-semi-space-size=${mib}`))
})

t.test('whatever the budget, the first mark-sweep of a huge heap would come beyond it', async t => {
  fc.assert(fc.property(fc.integer({ min: MIB, max: Number.MAX_SAFE_INTEGER }), fc.constantFrom(...MAJORS),
    (maxRssBytes, nodeMajor) => {
      const flags = Object.fromEntries(gcFlags('huge-heap', { maxRssBytes, nodeMajor }).map(flag => flag.split('=')))
      const [old, initial, semi] = ['--max-old-space-size', '--initial-old-space-size', '--max-semi-space-size'].map(name => Number(flags[name]) * MIB)
      return initial <= old / 2 && initial - semi > 1.25 * maxRssBytes && maxRssBytes <= largestBudget('huge-heap', maxRssBytes, [])
    }))
})

t.test('a profile needs a budget, and one that its old space can hold', async t => {
  const resolve = (/** @type {Record<string, any>} */ given) => resolveOptions(given, { parallelism: 2 })
  const refused = (/** @type {Record<string, any>} */ given, /** @type {string} */ message) =>
    t.throws(() => resolve(given), { code: 'RECYCLE_BAD_OPTION', exitCode: 2, message })
  for (const gc of ['huge-heap', 'no-mark-sweep']) {
    refused({ gc }, `gc was given "${gc}"; it takes default, unless maxRss is set`)
  }
  refused({ gc: 'no-mark-sweep', maxRss: '183MiB' }, 'maxRss was given "183MiB"; it takes a size of at most 182 MiB with gc no-mark-sweep: the old space cannot grow larger')
  refused({ gc: 'huge-heap', maxRss: '512MiB', nodeOption: ['--max_old_space_size=200'] },
    'maxRss was given "512MiB"; it takes a size of at most 262 MiB with gc huge-heap: the old space cannot grow larger')
  t.equal(resolve({ gc: 'no-mark-sweep', maxRss: '182MiB' }).gc, 'no-mark-sweep')
  t.equal(resolve({ gc: 'no-mark-sweep', maxRss: '1G', nodeOption: ['--max-old-space-size=100', '--max-old-space-size=4096'] }).gc, 'no-mark-sweep', 'the last of the user’s flags wins')
  t.equal(resolve({ gc: 'huge-heap', maxRss: '64G' }).gc, 'huge-heap')
  t.equal(resolve({ gc: 'default', maxRss: '64G', nodeOption: ['--max-old-space-size=100'] }).gc, 'default', 'the default profile sets no flags')
})

t.test('the old space of a huge heap starts at 256 MiB at least', async t => {
  t.same(gcFlags('huge-heap', { maxRssBytes: 100 * MIB, nodeMajor: 27 }), ['--max-old-space-size=512', '--initial-old-space-size=256', '--min-semi-space-size=16', '--max-semi-space-size=16', '--no-memory-reducer'])
})

t.test('with the default profile no budget is too large', async t => {
  t.equal(largestBudget('default', MIB, ['--max-old-space-size=1']), Infinity)
})
