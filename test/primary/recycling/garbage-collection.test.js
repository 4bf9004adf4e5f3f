'use strict'

const t = require('tap')
const { GarbageCollection } = require('../../../lib/primary/recycling/garbage-collection')
const { Condemnation } = require('../../../lib/primary/workers/condemnation')

const BUDGET = { metric: 'rss', softBytes: 100, hardBytes: 200 }
const USAGE = { rssBytes: 1, heapUsedBytes: 1, externalBytes: 1 }

/** Condemned workers, and an OutOfRotation that notes what it is asked for. */
function scene ({ onBudget = 'collect', after = 50 } = {}) {
  /** @type {any[]} */
  const journal = []
  /** @type {{ handle: any, back: (why?: string | null) => Promise<void> }[]} */
  const taken = []
  const outOfRotation = {
    take: (/** @type {any} */ handle, /** @type {any} */ task, /** @type {any} */ settle) => new Promise(resolve => taken.push({
      handle,
      async back (why = null) {
        if (why === null) await settle({ why, before: USAGE, after: USAGE, moved: 3, emptyMs: 5, pauseMs: 7 })
        resolve({ why })
        await new Promise(setImmediate)
      }
    }))
  }
  let changes = 0
  /** @type {Map<number, any>} */
  const slots = new Map()
  /** @type {Map<any, any>} */
  const figures = new Map()
  const sampler = {
    read: async () => ({ rssBytes: after, pssBytes: after, ussBytes: after }),
    figuresOf: (/** @type {any} */ handle) => figures.get(handle),
    keep (/** @type {any} */ handle) {
      journal.push({ event: 'worker.keep', reason: handle.condemnation.reason })
      handle.condemnation.lift()
    }
  }
  const collection = new GarbageCollection(/** @type {any} */ ({
    options: { onBudget, intervalMs: 100 },
    fleet: { slots },
    sampler,
    outOfRotation,
    changed: () => { changes++ },
    record (/** @type {string} */ event, /** @type {any} */ fields) {
      journal.push({ event, ...fields })
      return fields
    }
  }))
  const condemn = (/** @type {any} */ reason, rssBytes = 150) => {
    const handle = {
      slot: slots.size,
      pid: 1000 + slots.size,
      isServing: true,
      condemnation: new Condemnation(),
      budget: BUDGET
    }
    handle.condemnation.condemn(reason)
    figures.set(handle, { sample: { rssBytes, requested: null } })
    slots.set(handle.slot, { slot: handle.slot, incumbent: handle })
    return handle
  }
  return { journal, taken, collection, condemn, changes: () => changes }
}

t.test('a worker over budget collects, and is kept', async t => {
  const { journal, taken, collection, condemn, changes } = scene()
  const handle = condemn('rss')
  t.equal(collection.taskOf(/** @type {any} */ (handle)), 'collect')
  collection.relieve(0)
  t.equal(taken.length, 1)
  t.equal(collection.taskOf(/** @type {any} */ (handle)), 'under way')
  await taken[0].back()
  t.equal(handle.condemnation.reason, null)
  t.match(journal, [{ event: 'collected', bytes: 50, isEnough: true, moved: 3 }, { event: 'worker.keep', reason: 'rss' }])
  t.equal(changes(), 1)
})

t.test('where that is not enough, or was not done, it is recycled', async t => {
  for (const [after, why] of /** @type {const} */ ([[81, null], [50, 'it was told to drain']])) {
    const { journal, taken, collection, condemn, changes } = scene({ after })
    const handle = condemn('rss')
    collection.relieve(0)
    await taken[0].back(why)
    t.equal(handle.condemnation.reason, 'rss')
    t.equal(collection.taskOf(/** @type {any} */ (handle)), null)
    t.equal(changes(), 1, 'its recycle may begin')
    t.equal(journal.length, why ? 0 : 1)
  }
})

t.test('without --on-budget collect, and for another reason than memory, none is due', async t => {
  const without = scene({ onBudget: 'recycle' })
  t.equal(without.collection.taskOf(/** @type {any} */ (without.condemn('rss'))), null)
  const { collection, condemn } = scene()
  t.equal(collection.taskOf(/** @type {any} */ (condemn('age'))), null)
})
