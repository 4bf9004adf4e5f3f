'use strict'

const t = require('tap')
const { SlotAssignment } = require('../../../lib/worker/boot/slot')

t.beforeEach(() => { process.env.RECYCLE_SLOT = '3' })
t.afterEach(() => { delete process.env.RECYCLE_SLOT })

t.test('a worker that was spawned into a slot has it from the start, and onServe() calls back on the next tick', async t => {
  const assignment = new SlotAssignment()
  assignment.take(3)
  t.equal(assignment.slot, 3)
  /** @type {number[]} */
  const heard = []
  assignment.onServe(({ slot }) => heard.push(slot))
  t.same(heard, [], 'never while it is asked')
  await new Promise(resolve => process.nextTick(resolve))
  t.same(heard, [3])
})

t.test('a standby has its slot when it is called: in the environment first, then each callback is called, once', async t => {
  process.env.RECYCLE_SLOT = 'standby'
  const assignment = new SlotAssignment()
  t.equal(assignment.slot, null)
  /** @type {any[]} */
  const heard = []
  for (const name of ['a', 'b']) assignment.onServe(({ slot }) => heard.push([name, slot, process.env.RECYCLE_SLOT]))
  t.same(heard, [])
  assignment.take(2)
  t.same(heard, [['a', 2, '2'], ['b', 2, '2']])
  t.equal(assignment.slot, 2)
  t.equal(process.listenerCount(/** @type {any} */ ('recycle:serve')), 0)
  const late = new Promise(resolve => assignment.onServe(resolve))
  t.same(await late, { slot: 2 }, 'also a later callback')
})
