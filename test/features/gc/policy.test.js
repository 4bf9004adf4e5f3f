'use strict'

const t = require('tap')
const { mayCollect, isRelieved } = require('../../../lib/features/gc/primary')

const condemned = { requested: null, at: 100_000, collectedAt: null }

t.test('a worker condemned for its memory may collect instead', async t => {
  t.equal(mayCollect(condemned, 1000), true)
})

t.test('a worker whose recycle was requested may not', async t => {
  t.equal(mayCollect({ ...condemned, requested: 'reload' }, 1000), false)
  t.equal(mayCollect({ ...condemned, requested: 'requested' }, 1000), false)
})

t.test('a worker that collected less than ten intervals ago may not', async t => {
  t.equal(mayCollect({ ...condemned, collectedAt: 90_001 }, 1000), false)
  t.equal(mayCollect({ ...condemned, collectedAt: 90_000 }, 1000), true)
  t.equal(mayCollect({ ...condemned, collectedAt: 98_999 }, 100), true)
  t.equal(mayCollect({ ...condemned, collectedAt: 100_500 }, 100), false, 'nor a worker that has collected since')
})

t.test('the memory after the collection must be well below the soft budget', async t => {
  t.equal(isRelieved(80, 100), true)
  t.equal(isRelieved(81, 100), false)
  t.equal(isRelieved(null, 100), false)
  t.equal(isRelieved(1, null), false)
})
