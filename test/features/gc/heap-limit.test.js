'use strict'

const t = require('tap')
const { oldSpaceLimit } = require('../../../lib/core/old-space')
const { resolveOptions } = require('../../../lib/tables/resolved-options')
const { v8 } = require('../../../lib/features/gc/feature')
const { oldSpaceFlag, heapWarning } = require('../../../lib/features/gc/heap-limit')

const MIB = 1024 ** 2
const NONE = { maxRssBytes: null, hardRssBytes: null, sizing: { limitBytes: null } }
const within = (/** @type {number} */ mib) => ({ sizing: { limitBytes: mib * MIB } })
/**
 * As of a process with these flags, where V8's limit includes three semi-spaces of 16 MiB.
 *
 * @param {number} limitBytes @param {any} terms
 */
const warned = (limitBytes, terms) => heapWarning(limitBytes, oldSpaceLimit(limitBytes, [], 11), terms)
const budget = (/** @type {number} */ mib) => ({ maxRssBytes: mib * MIB, hardRssBytes: 1.25 * mib * MIB })

t.test('--heap auto lets the old space grow up to the hard budget, and never to more than three quarters of the limit', async t => {
  const flags = (/** @type {any} */ options) => v8?.({ gc: 'default', ...budget(400), ...options }, 22)
  t.same(flags({ heap: 'auto', ...within(8192) }), { flags: ['--max-old-space-size=500'], collectsFirst: false })
  t.match(flags({ heap: 'auto', ...within(512) }), { flags: ['--max-old-space-size=384'] })
  t.match(flags({ heap: 'auto', sizing: { limitBytes: null } }), { flags: ['--max-old-space-size=500'] })
  t.same(flags({ heap: 'default', ...within(512) }), { flags: [], collectsFirst: false })
  t.match(flags({ heap: 'default', gc: 'huge-heap', ...within(512) }), { flags: [/^--max-old-space-size=/], collectsFirst: true })
})

t.test('--heap auto needs a budget, and no other profile', async t => {
  const of = (/** @type {any} */ given) => resolveOptions(given, { parallelism: 2 })
  t.throws(() => of({ heap: 'auto' }), { message: 'heap was given "auto"; it takes default, unless maxRss is set and gc is default' })
  t.throws(() => of({ heap: 'auto', maxRss: '1G', gc: 'huge-heap' }), { code: 'RECYCLE_BAD_OPTION' })
  t.equal(of({ heap: 'auto', maxRss: '1G' }).heap, 'auto')
})

t.test('a limit below the budget is said, with the flag to set', async t => {
  t.same(warned(307 * MIB, { ...NONE, ...budget(400), gc: 'default' }), {
    warning: 'heap-limit', heapLimitBytes: 307 * MIB, softBytes: 400 * MIB, limitBytes: null, flag: '--max-old-space-size=500'
  })
  t.match(warned(307 * MIB, { ...budget(400), ...within(8192), gc: 'default' }), { softBytes: 400 * MIB, limitBytes: null })
  t.equal(warned(400 * MIB, { ...NONE, ...budget(400), gc: 'default' }), null)
  t.equal(warned(432 * MIB, { ...budget(600), ...within(512), gc: 'default' }), null, 'a budget that the container has no room for is said otherwise')
})

t.test('a limit above the container is said, but not of a profile that wants it so', async t => {
  t.same(warned(4144 * MIB, { ...NONE, ...within(512), gc: 'default' }), {
    warning: 'heap-limit', heapLimitBytes: 4144 * MIB, softBytes: null, limitBytes: 512 * MIB, flag: '--max-old-space-size=384'
  })
  t.equal(warned(4144 * MIB, { ...NONE, ...budget(100), ...within(512), gc: 'huge-heap' }), null)
  t.match(warned(4144 * MIB, { ...NONE, ...budget(100), ...within(512), gc: 'default' }), { softBytes: null, limitBytes: 512 * MIB })
  t.equal(warned((512 + 48) * MIB, { ...NONE, ...within(512), gc: 'default' }), null, 'the young generation is not counted')
  t.match(warned((512 + 48) * MIB + 1, { ...NONE, ...within(512), gc: 'default' }), { warning: 'heap-limit' })
  t.equal(warned(4144 * MIB, { ...NONE, gc: 'default' }), null)
})

t.test('a worker that has the flag that was set, or told, fits', async t => {
  for (const mib of [96, 128, 256, 500, 4000]) {
    for (const limit of [512, 1024, 8192]) {
      const terms = { ...budget(mib), ...within(limit) }
      const old = Number(oldSpaceFlag(terms).split('=')[1])
      for (const [v8Major, young] of [[12, 48], [13, 192]]) {
        const limitBytes = (old + young) * MIB
        t.equal(heapWarning(limitBytes, oldSpaceLimit(limitBytes, [], v8Major), { ...terms, gc: 'default' }), null, `${mib} of ${limit}, V8 ${v8Major}`)
      }
    }
  }
})
