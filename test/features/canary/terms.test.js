'use strict'

const t = require('tap')
const { termsOf } = require('../../../lib/features/canary/primary')

const OPTIONS = /** @type {any} */ ({ canary: null, bakeMs: 120_000, undecided: 'back' })

t.test('what a reload says, and what the fleet\'s options say else', async t => {
  t.equal(termsOf({}, OPTIONS, 8), null)
  t.same(termsOf({ canary: 1 }, OPTIONS, 8), { workers: 1, bakeMs: 120_000, undecided: 'back' })
  t.same(termsOf({ canary: '25%', bake: '10m', undecided: 'go' }, OPTIONS, 8), { workers: 2, bakeMs: 600_000, undecided: 'go' })
  t.same(termsOf({ canary: '1%' }, OPTIONS, 8), { workers: 1, bakeMs: 120_000, undecided: 'back' }, 'one at least')
  const always = { ...OPTIONS, canary: { most: 3 } }
  t.same(termsOf({ bake: '10s' }, always, 8), { workers: 3, bakeMs: 10_000, undecided: 'back' })
  t.equal(termsOf({ canary: 0 }, always, 8), null)
})

t.test('what is wrong gets a sentence', async t => {
  t.throws(() => termsOf({ canary: 'x' }, OPTIONS, 8), { message: '--canary was given "x"; it takes a whole number from 0 to 1024, or a percentage of the workers, such as 80%' })
  t.throws(() => termsOf({ canary: 1, bake: '30' }, OPTIONS, 8), { code: 'RECYCLE_BAD_OPTION', message: /--bake was given "30"; it takes a time with a unit/ })
  t.throws(() => termsOf({ canary: 1, bake: '1s' }, OPTIONS, 8), { message: '--bake was given "1s"; it takes a time of 10s to 24 days, such as 30s or 2h' })
  t.throws(() => termsOf({ undecided: 'go' }, OPTIONS, 8), { exitCode: 2, message: '--undecided of a reload needs --canary' })
})
