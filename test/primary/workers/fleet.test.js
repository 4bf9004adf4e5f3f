'use strict'

const t = require('tap')
const { Fleet } = require('../../../lib/primary/workers/fleet')

const worker = (/** @type {string} */ name, isServing = true) => /** @type {any} */ ({ name, isServing })

t.test('the lowest free slot is opened', async t => {
  const fleet = new Fleet()
  const [zero, one] = [fleet.open(), fleet.open(), fleet.open()]
  t.same([...fleet.slots.keys()], [0, 1, 2])
  fleet.close(one)
  fleet.close(zero)
  t.equal(fleet.open().slot, 0)
  t.equal(fleet.open().slot, 1)
  t.equal(fleet.open().slot, 3)
  t.same(fleet.list().map(slot => slot.slot), [0, 1, 2, 3], 'the list is by number')
})

t.test('a slot opens empty, without failures', async t => {
  t.same(new Fleet().open(), {
    slot: 0, incumbent: null, successor: null, leaving: new Set(), failures: 0, freshOverBudget: 0, notBefore: 0, recycles: 0, lastReason: null, recycling: null, addresses: null, isDissolving: false
  })
})

t.test('the successor takes over, and its predecessor is leaving', async t => {
  const fleet = new Fleet()
  const slot = fleet.open()
  const [old, young] = [worker('old'), worker('young')]
  Object.assign(slot, { incumbent: old, successor: young })
  fleet.promote(slot)
  t.equal(slot.incumbent, young)
  t.equal(slot.successor, null)
  t.same([...slot.leaving], [old])
})

t.test('an empty slot gets a successor without a predecessor', async t => {
  const fleet = new Fleet()
  const slot = fleet.open()
  const young = worker('young')
  slot.successor = young
  fleet.promote(slot)
  t.equal(slot.incumbent, young)
  t.equal(slot.leaving.size, 0)
})

t.test('`all` lists the workers alive in any role, `serving` those that take traffic', async t => {
  const fleet = new Fleet()
  const [a, b] = [fleet.open(), fleet.open()]
  const [incumbent, successor, leaving, other] = [worker('incumbent'), worker('successor', false), worker('leaving', false), worker('other')]
  Object.assign(a, { incumbent, successor })
  a.leaving.add(leaving)
  b.incumbent = other
  t.same(fleet.all(), [incumbent, successor, leaving, other])
  t.same(fleet.serving(), [incumbent, other])
})

t.test('a worker that has exited is removed from its role', async t => {
  const fleet = new Fleet()
  const slot = fleet.open()
  const [incumbent, successor, leaving] = [worker('incumbent'), worker('successor'), worker('leaving')]
  Object.assign(slot, { incumbent, successor })
  slot.leaving.add(leaving)
  fleet.remove(slot, successor)
  t.same(fleet.all(), [incumbent, leaving])
  fleet.remove(slot, leaving)
  fleet.remove(slot, incumbent)
  t.same(fleet.all(), [])
  fleet.remove(slot, incumbent)
  t.equal(fleet.slots.size, 1, 'the slot outlives its workers')
})
