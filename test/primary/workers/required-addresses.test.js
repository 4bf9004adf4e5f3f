'use strict'

const t = require('tap')
const { Fleet } = require('../../../lib/primary/workers/fleet')
const { requiredAddresses } = require('../../../lib/primary/workers/required-addresses')

/** A fleet whose workers have asked for these addresses, after so many ms. @param {Record<string, number>[]} all */
function fleetOf (...all) {
  const fleet = new Fleet()
  for (const [i, asked] of all.entries()) fleet.open(i).ready(/** @type {any} */ ({ asked: new Map(Object.entries(asked)) }))
  return fleet
}

/** @param {Fleet} fleet @param {number} slot @param {number} [failures] of its latest replacements */
function required (fleet, slot, failures = 0) {
  const place = fleet.open(slot)
  place.boots.failures = failures
  const { must, late, lateMs } = requiredAddresses(fleet, place)
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
  t.same([...requiredAddresses(fleet, fleet.standbyPool).must], ['a'])
})

t.test('after three replacements in vain, it must listen where all slots do', async t => {
  const fleet = fleetOf({ a: 0, b: 100, c: 0 }, { a: 0, b: 0 })
  t.match(required(fleet, 0, 2), { must: 'abc' })
  t.match(required(fleet, 0, 3), { must: 'ab' })
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
