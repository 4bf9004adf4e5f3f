'use strict'

const t = require('tap')
const { Fleet } = require('../../../lib/primary/workers/fleet')
const { noteOnDemand, requiredAddresses } = require('../../../lib/primary/workers/required-addresses')

/** A fleet whose workers have asked for these addresses, after so many ms. @param {Record<string, number>[]} all */
function fleetOf (...all) {
  const fleet = new Fleet()
  for (const [i, asked] of all.entries()) fleet.open(i).ready(/** @type {any} */ ({ asked: new Map(Object.entries(asked)) }))
  return fleet
}

/** @param {Fleet} fleet @param {number} slot @param {{ failures?: number, missing?: string[] }} [how] of its latest replacements */
function required (fleet, slot, { failures = 0, missing = [] } = {}) {
  const place = fleet.open(slot)
  place.boots.failures = failures
  noteOnDemand(fleet, place, missing)
  return [...requiredAddresses(fleet, place)].sort()
}

t.test('a replacement listens where its predecessor does, whatever the other workers do', async t => {
  const fleet = fleetOf({ a: 0, b: 4999 }, { a: 0 })
  t.same(required(fleet, 0), ['a', 'b'])
  t.same(required(fleet, 1), ['a'])
})

t.test('a worker in a new slot, and a standby, listen where all slots do', async t => {
  const fleet = fleetOf({ a: 0, b: 0 }, { a: 0, c: 0 })
  t.same(required(fleet, 2), ['a'])
  t.same([...requiredAddresses(fleet, fleet.standbyPool)], ['a'])
})

t.test('what one worker has opened long after it was up is not waited for; what all have is', async t => {
  t.same(required(fleetOf({ a: 0, b: 5000 }, { a: 0 }), 0), ['a'])
  t.same(required(fleetOf({ a: 0, b: 5000 }, { a: 0, b: 6000 }), 0), ['a', 'b'])
  t.same(required(fleetOf({ a: 0, b: 5000 }), 0), ['a', 'b'], 'in a fleet of one')
})

t.test('after three replacements in vain, what all slots have and one has asked for before it was up', async t => {
  const fleet = fleetOf({ a: 0, b: 100, c: 0, d: 100 }, { a: 0, b: 200, d: 0 })
  t.same(required(fleet, 0, { failures: 2, missing: ['b'] }), ['a', 'b', 'c', 'd'])
  t.same(required(fleet, 0, { failures: 3 }), ['a', 'b', 'd'], 'a crash says nothing of addresses')
  t.same(required(fleet, 0, { failures: 3, missing: ['a', 'b', 'c', 'd'] }), ['a', 'd'])
  t.same(required(fleet, 0), ['a', 'c', 'd'], 'from here on')
  t.same(fleet.commonAddresses(), ['a', 'd'])
})
