'use strict'

const t = require('tap')
const { Fleet } = require('../../../lib/primary/workers/fleet')
const { requiredAddresses } = require('../../../lib/primary/workers/required-addresses')

/** A fleet whose workers have asked for these addresses, after so many ms. @param {Record<string, number>[]} all */
function fleetOf (...all) {
  const fleet = new Fleet()
  for (const [i, asked] of all.entries()) {
    fleet.open(i).ready(/** @type {any} */ ({ asked: new Map(Object.entries(asked)), generation: 0, pid: 4321 }))
  }
  return fleet
}

/**
 * @param {Fleet} fleet @param {number} slot
 * @param {{ failures?: number, generation?: number, isServed?: boolean }} [how] `failures`: of its latest replacements
 */
function required (fleet, slot, { failures = 0, generation = 0, isServed = true } = {}) {
  const place = fleet.open(slot)
  place.boots.failures = failures
  const { must, late, lateMs } = requiredAddresses(fleet, place, generation, isServed)
  return { must: [...must].sort().join(''), late: [...late].sort().join(''), lateMs }
}

t.test('a replacement must listen where its predecessor has before it was up, whatever the other workers do', async t => {
  const fleet = fleetOf({ a: 0, b: 0 }, { a: 0 })
  t.match(required(fleet, 0), { must: 'ab', late: '' })
  t.match(required(fleet, 1), { must: 'a', late: '' })
})

t.test('a worker in a new slot, and a standby, must listen where all slots do', async t => {
  const fleet = fleetOf({ a: 0, b: 0 }, { a: 0, c: 0 })
  t.match(required(fleet, 2), { must: 'a' })
  t.same([...requiredAddresses(fleet, fleet.standbyPool, 0).must], ['a'])
})

t.test('after three replacements in vain, what other slots do not have is waited for, a port, or does not count, a path', async t => {
  const fleet = fleetOf({ a: 0, b: 100, c: 0 }, { a: 0, b: 0 })
  t.match(required(fleet, 0, { failures: 2 }), { must: 'abc' })
  t.match(required(fleet, 0, { failures: 3 }), { must: 'ab' })
  t.match(required(fleetOf({ ':3000:4:#0': 0 }, { a: 0 }), 0, { failures: 9 }), { must: '', late: ':3000:4:#0' })
  t.match(required(fleetOf({ '/run/4321.sock:-1:-1:#0': 0, a: 0 }, { a: 0 }), 0), { must: 'a' }, 'a path with its predecessor\'s pid never does')
})

t.test('what was opened when the workers were up, it is given time for: twice that of the slowest, and ten seconds at least', async t => {
  const fleet = fleetOf({ a: 0, b: 4999 }, { a: 0 })
  t.same(required(fleet, 0), { must: 'a', late: 'b', lateMs: 10_000 })
  t.match(required(fleet, 1), { must: 'a', late: '' })
  t.same(required(fleetOf({ a: 0, b: 7000 }, { a: 0, b: 6000 }), 1), { must: 'a', late: 'b', lateMs: 14_000 }, 'all have opened it')
  t.match(required(fleetOf({ a: 0, b: 5000 }, { a: 0 }), 0), { must: 'a', late: '' }, 'one has, long after it was up')
  t.match(required(fleetOf({ a: 0, b: 100 }, { a: 0, b: 0 }), 0), { must: 'ab' }, 'another one has before it was up')
})

t.test('what is opened on demand is not waited for', async t => {
  const fleet = fleetOf({ a: 0, b: 100 }, { a: 0, b: 200 })
  fleet.onDemand.add('b')
  t.match(required(fleet, 0), { must: 'a', late: '' })
  t.same(fleet.commonAddresses(), ['a'])
})

t.test('new code is given time for what older code listened on, until a worker of its own generation shows where it listens', async t => {
  const fleet = fleetOf({ a: 0, b: 0 }, { a: 0, b: 0 })
  t.same(required(fleet, 0, { generation: 1 }), { must: '', late: 'ab', lateMs: 10_000 })
  fleet.open(0).ready(/** @type {any} */ ({ asked: new Map([['a', 0], ['c', 0]]), generation: 1, pid: 5 }))
  fleet.onDemand.add('b')
  t.match(required(fleet, 1, { generation: 1 }), { must: 'a', late: 'c' }, 'it may be that worker\'s alone')
  t.match(required(fleet, 0, { generation: 1 }), { must: 'ac', late: '' })
  fleet.open(1).ready(/** @type {any} */ ({ asked: new Map([['a', 0], ['c', 0]]), generation: 1, pid: 6 }))
  t.match(required(fleet, 2, { generation: 1 }), { must: 'ac', late: '' }, 'two have it')
})

t.test('a port of another slot is not waited for: neither in a reload, nor by a slot whose first worker did not start', async t => {
  const fleet = fleetOf({ ':80:4:#0': 0, ':90:4:#0': 0 }, { ':80:4:#0': 0, ':91:4:#0': 0 })
  const asked = new Map([[':80:4:#0', 0], [':90:4:#0', 0], [':99:4:#0', 0]])
  fleet.open(0).ready(/** @type {any} */ ({ asked, generation: 1, pid: 5 }))
  t.match(required(fleet, 1, { generation: 1 }), { must: ':80:4:#0', late: ':91:4:#0:99:4:#0' }, 'what the new code alone has may be everywhere')
  const [first] = fleet.list()
  first.ready(/** @type {any} */ ({ asked, generation: 1, pid: 6 }))
  t.match(required(fleet, 1, { generation: 1 }), { late: ':91:4:#0:99:4:#0' }, 'nor when the first has been replaced meanwhile')
  t.match(required(fleetOf({ a: 0 }), 1), { must: '', late: 'a' })
})

t.test('where no worker serves, a worker is given time, and must do nothing', async t => {
  t.match(required(fleetOf({ a: 0 }), 0, { isServed: false }), { must: '', late: 'a' })
})
