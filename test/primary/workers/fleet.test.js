'use strict'

const t = require('tap')
const { Fleet } = require('../../../lib/primary/workers/fleet')

const worker = (/** @type {string} */ name, isServing = true) => /** @type {any} */ ({
  name, isServing, asked: new Map([[name, 0]])
})

t.test('a slot is opened once, and the list is by number', async t => {
  const fleet = new Fleet()
  const [two, zero] = [fleet.open(2), fleet.open(0)]
  t.equal(fleet.open(2), two)
  t.same(fleet.list(), [zero, two])
  fleet.close(2)
  t.same(fleet.list(), [zero])
  t.not(fleet.open(2), two)
})

t.test('a slot opens empty, with nothing held against it', async t => {
  t.match(new Fleet().open(0), {
    slot: 0,
    incumbent: null,
    successor: null,
    leaving: new Set(),
    isNew: true,
    boots: { failures: 0, notBefore: 0 },
    recycling: { notBefore: 0 },
    recycle: null,
    addresses: null
  })
})

t.test('a worker is seated as the incumbent of an empty slot, else as the successor', async t => {
  const slot = new Fleet().open(0)
  const [old, young] = [worker('old'), worker('young')]
  slot.seat(old)
  slot.seat(young)
  t.equal(slot.incumbent, old)
  t.equal(slot.successor, young)
})

t.test('the successor takes over when it is ready, and its predecessor is leaving', async t => {
  const slot = new Fleet().open(0)
  const [old, young] = [worker('old'), worker('young')]
  slot.seat(old)
  slot.ready(old)
  t.equal(slot.isNew, false)
  slot.seat(young)
  slot.ready(young)
  t.equal(slot.incumbent, young)
  t.equal(slot.successor, null)
  t.same([...slot.leaving], [old])
  t.equal(slot.addresses, young.asked)
})

t.test('a successor whose predecessor has died meanwhile takes over alone', async t => {
  const slot = new Fleet().open(0)
  const [old, young] = [worker('old'), worker('young')]
  slot.seat(old)
  slot.seat(young)
  slot.remove(old)
  slot.ready(young)
  t.equal(slot.incumbent, young)
  t.equal(slot.leaving.size, 0)
})

t.test('all are the workers alive in any part, serving those that take traffic', async t => {
  const fleet = new Fleet()
  const [a, b] = [fleet.open(0), fleet.open(1)]
  const [incumbent, successor, leaving, other, standby] = [worker('incumbent'), worker('successor', false), worker('leaving', false), worker('other'), worker('standby', false)]
  Object.assign(a, { incumbent, successor })
  a.leaving.add(leaving)
  b.incumbent = other
  fleet.standbyPool.seat(standby)
  t.same(fleet.all(), [incumbent, successor, leaving, other, standby])
  t.same(fleet.serving(), [incumbent, other])
})

t.test('slots beyond the desired number do not stay, and an incomplete fleet is told from a complete one', async t => {
  const fleet = new Fleet()
  fleet.resize(2)
  fleet.open(0).incumbent = worker('zero')
  t.notOk(fleet.isComplete, 'a slot is not open yet')
  fleet.open(1).incumbent = worker('one', false)
  t.notOk(fleet.isComplete, 'a worker does not serve yet')
  fleet.open(1).incumbent = worker('one')
  t.ok(fleet.isComplete)
  fleet.open(2)
  t.same(fleet.staying().map(({ slot }) => slot), [0, 1])
  t.ok(fleet.isComplete)
})

t.test('a standby can be called where it is ready, of the wanted generation and not condemned', async t => {
  const fleet = new Fleet()
  fleet.rollout.generation = 1
  const standby = (/** @type {any} */ facts) => ({ state: 'standby', reason: null, generation: 1, isGone: false, ...facts })
  const good = standby({})
  for (const handle of [standby({ state: 'spawning' }), standby({ reason: 'rss' }), standby({ generation: 0 }), standby({ isGone: true }), good]) fleet.standbyPool.seat(handle)
  t.same(fleet.usableStandbys(), [good])
})

t.test('a worker that is gone is taken out of whatever part it had', async t => {
  const fleet = new Fleet()
  const slot = fleet.open(0)
  const [incumbent, successor, leaving] = [worker('incumbent'), worker('successor'), worker('leaving')]
  Object.assign(slot, { incumbent, successor })
  slot.leaving.add(leaving)
  slot.remove(successor)
  t.same(fleet.all(), [incumbent, leaving])
  slot.remove(leaving)
  slot.remove(incumbent)
  t.same(fleet.all(), [])
  slot.remove(incumbent)
  t.equal(fleet.slots.size, 1, 'the slot outlives its workers')
})

t.test('slots on trial stand beside those that are wanted, and scaling up does not take their numbers', async t => {
  const fleet = new Fleet()
  fleet.resize(2)
  fleet.open(2) // of a worker that is being scaled away
  t.same(fleet.free(2), [3, 4])
  fleet.rollout.try([3, 4])
  t.match(fleet, { desired: 2, wanted: [0, 1], numbers: [0, 1, 3, 4] })
  fleet.resize(4)
  t.same(fleet.wanted, [0, 1, 2, 5])
})
