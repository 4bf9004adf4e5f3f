'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { now } = require('../../../lib/primary/clock')
const { GarbageCollection } = require('../../../lib/primary/recycling/garbage-collection')

const BUDGET = { metric: 'rss', softBytes: 100, hardBytes: 200 }
const USAGE = { rssBytes: 1, heapUsedBytes: 1, externalBytes: 1 }

/** Condemned workers, one of which may be out of rotation at a time. */
function scene ({ onBudget = 'collect', after = 50 } = {}) {
  /** @type {any[]} */
  const journal = []
  /** @type {{ handle: any, back: (why?: string | null) => Promise<void> }[]} */
  const taken = []
  const outOfRotation = Object.assign(new EventEmitter(), {
    isBusy: false,
    refusal: /** @type {string | null} */ (null),
    whyNot () { return outOfRotation.isBusy ? 'another worker is out of rotation' : outOfRotation.refusal },
    take (/** @type {any} */ handle, /** @type {any} */ task, /** @type {any} */ settle) {
      outOfRotation.isBusy = true
      return new Promise(resolve => taken.push({
        handle,
        async back (why = null) {
          if (why === null) await settle({ why, before: USAGE, after: USAGE, moved: 3, emptyMs: 5, pauseMs: 7 })
          outOfRotation.isBusy = false
          resolve({ why })
          outOfRotation.emit('change')
          await new Promise(setImmediate)
        }
      }))
    }
  })
  /** @type {any[]} */
  const slots = []
  const sampler = { read: async () => ({ rssBytes: after, pssBytes: after, ussBytes: after }) }
  const collection = new GarbageCollection(/** @type {any} */ ({
    options: { onBudget, intervalMs: 100 },
    fleet: { list: () => slots },
    sampler,
    outOfRotation,
    record (/** @type {string} */ event, /** @type {any} */ fields) {
      journal.push({ event, ...fields })
      return fields
    }
  }))
  const condemn = (/** @type {string} */ reason, rssBytes = 150) => {
    const handle = {
      slot: slots.length,
      pid: 1000 + slots.length,
      isServing: true,
      reason: /** @type {string | null} */ (reason),
      condemnedAt: now(),
      collectedAt: null,
      budget: BUDGET,
      sample: { rssBytes, requested: null },
      keep () { handle.reason = null }
    }
    slots.push({ slot: handle.slot, incumbent: handle, recycling: null })
    return handle
  }
  return { journal, taken, outOfRotation, collection, condemn }
}

t.test('a worker over budget is held, collects, and stays in service', async t => {
  const { journal, taken, collection, condemn } = scene()
  const handle = condemn('rss')
  t.ok(collection.holds(/** @type {any} */ (handle)))
  collection.attend()
  collection.attend()
  t.equal(taken.length, 1)
  t.ok(collection.holds(/** @type {any} */ (handle)))
  await taken[0].back()
  t.equal(handle.reason, null)
  t.match(journal, [{ event: 'collected', bytes: 50, isEnough: true, moved: 3 }, { event: 'worker.keep', reason: 'rss' }])
})

t.test('a worker whose collection failed or freed too little is no longer held', async t => {
  for (const [after, why] of /** @type {const} */ ([[81, null], [50, 'it was told to drain']])) {
    const { journal, taken, collection, condemn } = scene({ after })
    const handle = condemn('rss')
    let changes = 0
    collection.on('change', () => { changes++ })
    collection.attend()
    await taken[0].back(why)
    t.equal(handle.reason, 'rss')
    t.notOk(collection.holds(/** @type {any} */ (handle)))
    t.equal(changes, 1, 'its recycle may begin')
    t.equal(journal.length, why ? 0 : 1)
    collection.attend()
    t.equal(taken.length, 1)
  }
})

t.test('another worker waits for its turn, unless it is over the hard budget', async t => {
  const { taken, collection, condemn } = scene()
  condemn('rss')
  const waiting = condemn('rss')
  const hard = condemn('hard-rss', 250)
  const grown = condemn('rss')
  collection.attend()
  t.equal(taken.length, 1)
  t.ok(collection.holds(/** @type {any} */ (waiting)))
  t.notOk(collection.holds(/** @type {any} */ (hard)), 'it is recycled')
  t.ok(collection.holds(/** @type {any} */ (grown)))
  grown.sample = { rssBytes: 201, requested: null }
  collection.attend()
  t.notOk(collection.holds(/** @type {any} */ (grown)))
  await taken[0].back()
  t.equal(taken.length, 2)
  t.equal(taken[1].handle, waiting)
})

t.test('where no worker can leave rotation, none is held', async t => {
  const { outOfRotation, collection, condemn, taken } = scene()
  outOfRotation.refusal = 'no other worker serves'
  const handle = condemn('rss')
  collection.attend()
  t.notOk(collection.holds(/** @type {any} */ (handle)))
  t.equal(taken.length, 0)
})

t.test('without --on-budget collect no worker is held', async t => {
  const { collection, condemn, taken } = scene({ onBudget: 'recycle' })
  const handle = condemn('rss')
  t.notOk(collection.holds(/** @type {any} */ (handle)))
  collection.attend()
  t.equal(taken.length, 0)
})
