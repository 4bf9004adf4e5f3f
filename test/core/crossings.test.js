'use strict'

const t = require('tap')
const fc = require('fast-check')
const { spreadCrossings } = require('../../lib/core/trend')

const at = (/** @type {number[]} */ ...times) => times.map((crossesAt, slot) => ({ slot, crossesAt }))

t.test('crossings that are a boot time apart are left alone', async t => {
  t.same(spreadCrossings(at(), { bootMs: 10, atOnce: 1 }), [])
  t.same(spreadCrossings(at(100), { bootMs: 10, atOnce: 1 }), [])
  t.same(spreadCrossings(at(120, 100, 110), { bootMs: 10, atOnce: 1 }), [])
})

t.test('of those that fall together the last keeps its time, and each before it begins a boot time earlier', async t => {
  t.same(
    spreadCrossings(at(100, 100, 100), { bootMs: 10, atOnce: 1 }), [{ slot: 0, beginAt: 80 }, { slot: 1, beginAt: 90 }]
  )
  t.same(spreadCrossings(at(104, 100, 150), { bootMs: 10, atOnce: 1 }), [{ slot: 1, beginAt: 94 }])
  t.same(spreadCrossings(at(100, 100).reverse(), { bootMs: 10, atOnce: 1 }), [{ slot: 0, beginAt: 90 }], 'the lowest slot first')
  t.same(
    spreadCrossings(at(100, 105, 95), { bootMs: 10, atOnce: 1 }), [{ slot: 2, beginAt: 85 }, { slot: 0, beginAt: 95 }]
  )
})

t.test('as many as may recycle at once may fall together', async t => {
  t.same(spreadCrossings(at(100, 100), { bootMs: 10, atOnce: 2 }), [])
  t.same(spreadCrossings(at(100, 100, 100, 100), { bootMs: 10, atOnce: 2 }), [
    { slot: 0, beginAt: 90 }, { slot: 1, beginAt: 90 }
  ])
})

t.test('whatever the crossings: none begins late, no more than may recycle at once begin within a boot time, and none earlier than all need', async t => {
  const crossings = fc.array(fc.nat(200), { maxLength: 12 }).map(times => at(...times))
  fc.assert(fc.property(crossings, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3 }),
    (crossings, bootMs, atOnce) => {
      const early = new Map(spreadCrossings(crossings, { bootMs, atOnce }).map(({ slot, beginAt }) => [slot, beginAt]))
      const begins = crossings.map(({ slot, crossesAt }) => early.get(slot) ?? crossesAt).sort((a, b) => a - b)
      for (const { slot, crossesAt } of crossings) {
        const beginAt = early.get(slot) ?? crossesAt
        if (beginAt > crossesAt) throw new Error('late')
        if (crossesAt - beginAt > bootMs * Math.floor((crossings.length - 1) / atOnce)) throw new Error('earlier than need be')
      }
      if (begins.some((begin, i) => i + atOnce < begins.length && begins[i + atOnce] - begin < bootMs)) throw new Error('too many at once')
    }))
  t.pass()
})
