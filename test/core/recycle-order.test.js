'use strict'

const t = require('tap')
const fc = require('fast-check')
const { nextRecycles, fewestWorkers } = require('../../lib/core/recycle-order')

const HOUSE = { workers: 4, ready: 4, surging: 0, maxSurge: 1, maxUnavailable: 0 }
const candidate = (/** @type {number} */ slot, bytes = 0, notBefore = 0, since = 0) => ({
  slot, bytes, notBefore, since
})

t.test('with no condemned worker there is no turn', async t => {
  t.same(nextRecycles([], HOUSE, 0), [])
})

t.test('the largest goes first; of the same size, the lowest slot', async t => {
  const condemned = [candidate(3, 10), candidate(0, 20), candidate(1, 30), candidate(2, 20)]
  t.same(nextRecycles(condemned, { ...HOUSE, maxSurge: 4 }, 0).map(turn => turn.slot), [1, 0, 2, 3])
  t.same(nextRecycles(condemned, HOUSE, 0), [{ slot: 1, how: 'surge' }])
  t.same(condemned.map(c => c.slot), [3, 0, 1, 2], 'the list passed in is not changed')
})

t.test('no more workers recycle at once than may surge, those under way included', async t => {
  const condemned = [candidate(0), candidate(1), candidate(2)]
  t.equal(nextRecycles(condemned, { ...HOUSE, maxSurge: 2 }, 0).length, 2)
  t.equal(nextRecycles(condemned, { ...HOUSE, maxSurge: 2, surging: 1 }, 0).length, 1)
  t.same(nextRecycles(condemned, { ...HOUSE, maxSurge: 2, surging: 2 }, 0), [])
})

t.test('without a surge, as many workers drain first as may be missing', async t => {
  const condemned = [candidate(0), candidate(1), candidate(2)]
  const capacity = { ...HOUSE, maxSurge: 0, maxUnavailable: 2 }
  t.same(nextRecycles(condemned, capacity, 0), [{ slot: 0, how: 'drain-first' }, { slot: 1, how: 'drain-first' }])
  t.same(nextRecycles(condemned, { ...capacity, ready: 3 }, 0), [{ slot: 0, how: 'drain-first' }], 'one is missing already')
  t.same(nextRecycles(condemned, { ...capacity, ready: 2 }, 0), [])
})

t.test('where both are allowed, a surge comes first', async t => {
  t.same(nextRecycles([candidate(0, 1), candidate(1, 2)], { ...HOUSE, maxUnavailable: 1 }, 0), [{ slot: 1, how: 'surge' }, { slot: 0, how: 'drain-first' }])
})

t.test('a slot in backoff waits, and does not delay other slots', async t => {
  t.same(nextRecycles([candidate(0, 99, 1000), candidate(1, 1)], HOUSE, 999), [{ slot: 1, how: 'surge' }])
  t.same(nextRecycles([candidate(0, 99, 1000), candidate(1, 1)], HOUSE, 1000), [{ slot: 0, how: 'surge' }])
})

t.test('whatever the capacity, the limits hold', async t => {
  const condemned = fc.uniqueArray(fc.record({
    slot: fc.nat(20), bytes: fc.nat(), since: fc.nat(20_000), notBefore: fc.nat(10)
  }), { selector: c => c.slot })
  const capacity = fc.record({
    workers: fc.integer({ min: 1, max: 20 }),
    ready: fc.nat(20),
    surging: fc.nat(5),
    maxSurge: fc.nat(5),
    maxUnavailable: fc.nat(5)
  })
  fc.assert(fc.property(condemned, capacity, (condemned, capacity) => {
    const turns = nextRecycles(condemned, capacity, 5)
    const count = (/** @type {string} */ how) => turns.filter(turn => turn.how === how).length
    if (count('surge') > Math.max(0, capacity.maxSurge - capacity.surging)) throw new Error('too many surge')
    if (count('drain-first') && capacity.ready - count('drain-first') < capacity.workers - capacity.maxUnavailable) throw new Error('too few are left')
    if (new Set(turns.map(turn => turn.slot)).size !== turns.length) throw new Error('a slot twice')
    if (turns.some(turn => condemned.every(c => c.slot !== turn.slot || c.notBefore > 5))) throw new Error('not condemned, or in backoff')
  }))
  t.pass()
})

t.test('a worker that has waited for ten seconds goes before larger ones', async t => {
  const capacity = { workers: 3, ready: 3, surging: 0, maxSurge: 1, maxUnavailable: 0 }
  const waiting = [candidate(0, 900, 0, 19_000), candidate(1, 100, 0, 5000), candidate(2, 200, 0, 6000)]
  t.same(nextRecycles(waiting, capacity, 14_999).map(turn => turn.slot), [0], 'the largest, as long as no worker has waited long')
  t.same(nextRecycles(waiting, capacity, 20_000).map(turn => turn.slot), [1], 'the one that has waited longest')
})

t.test('a fleet has one worker more than may be missing, but for a single one that drains first', async t => {
  const fewest = (/** @type {number} */ maxSurge, /** @type {number} */ maxUnavailable) =>
    fewestWorkers({ maxSurge, maxUnavailable })
  t.same([fewest(1, 0), fewest(0, 1), fewest(0, 2), fewest(1, 1), fewest(2, 3)], [1, 1, 3, 2, 4])
})
