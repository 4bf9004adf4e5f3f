'use strict'

const t = require('tap')
const { Post } = require('../../lib/worker/post')

t.beforeEach(() => { process.env.RECYCLE_SLOT = '3' })
t.afterEach(() => { delete process.env.RECYCLE_SLOT })

t.test('a worker that was spawned into a slot has it from the start, and who asks hears it on the next tick', async t => {
  const post = new Post(false)
  t.equal(post.slot, 3)
  /** @type {number[]} */
  const heard = []
  post.onServe(({ slot }) => heard.push(slot))
  t.same(heard, [], 'never while it is asked')
  await new Promise(resolve => process.nextTick(resolve))
  t.same(heard, [3])
})

t.test('a standby has its slot when it is called: in the environment first, then everybody who asked hears it, once', async t => {
  process.env.RECYCLE_SLOT = 'standby'
  const post = new Post(true)
  t.equal(post.slot, null)
  /** @type {any[]} */
  const heard = []
  for (const who of ['a', 'b']) post.onServe(({ slot }) => heard.push([who, slot, process.env.RECYCLE_SLOT]))
  t.same(heard, [])
  post.take(2)
  t.same(heard, [['a', 2, '2'], ['b', 2, '2']])
  t.equal(post.slot, 2)
  t.equal(process.listenerCount(/** @type {any} */ ('recycle:serve')), 0)
  const late = new Promise(resolve => post.onServe(resolve))
  t.same(await late, { slot: 2 }, 'also who asks later')
})
