'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { GarbageCollection } = require('../../../lib/features/gc/primary')
const { Condemnation } = require('../../../lib/primary/workers/condemnation')

const MIB = 1024 ** 2
const BUDGET = { metric: 'rss', softBytes: 100, hardBytes: 200 }
const USAGE = { rssBytes: 1, heapUsedBytes: 1, externalBytes: 1 }

/** Condemned workers, and a kernel that notes what it is asked to do out of rotation. */
function scene ({ onBudget = 'collect', after = 50 } = {}) {
  /** @type {any[]} */
  const journal = []
  /** @type {{ handle: any, back: (why?: string | null) => Promise<void> }[]} */
  const taken = []
  let changes = 0
  let workers = 0
  const kernel = {
    options: { onBudget, intervalMs: 100, gc: 'default', maxRssBytes: 300 * MIB, hardRssBytes: 375 * MIB, sizing: { limitBytes: null } },
    spawner: { execArgv: [] },
    now: () => 1000,
    rotation: {
      take: (/** @type {any} */ handle, /** @type {any} */ task, /** @type {any} */ settle) =>
        new Promise(resolve => taken.push({
          handle,
          async back (why = null) {
            if (why === null) await settle({ why, before: USAGE, after: USAGE, moved: 3, emptyMs: 5, pauseMs: 7 })
            resolve({ why })
            await new Promise(setImmediate)
          }
        })),
      async request (/** @type {number} */ slot, /** @type {any} */ task, /** @type {any} */ settle) {
        if (slot > 0) throw new Error('no other worker serves')
        await settle(
          { slot, pid: 7, budget: BUDGET }, { before: USAGE, after: USAGE, moved: 0, emptyMs: 1.2, pauseMs: 7 }
        )
      }
    },
    sampler: {
      read: async () => ({ rssBytes: after, pssBytes: after, ussBytes: after }),
      keep (/** @type {any} */ handle) {
        journal.push({ event: 'worker.keep', reason: handle.condemnation.reason })
        handle.condemnation.lift()
      }
    },
    changed: () => { changes++ },
    record (/** @type {string} */ event, /** @type {any} */ fields) {
      journal.push({ event, ...fields })
      return fields
    }
  }
  const condemn = (/** @type {any} */ reason, rssBytes = 150) => {
    const handle = {
      ...{ slot: workers, pid: 1000 + workers, isServing: true, condemnation: new Condemnation(), budget: BUDGET },
      sample: { rssBytes, requested: null }
    }
    workers++
    handle.condemnation.condemn(reason)
    return /** @type {any} */ (handle)
  }
  const part = new GarbageCollection(/** @type {any} */ (kernel))
  return {
    journal,
    taken,
    part,
    relief: /** @type {import('../../../lib/primary/features').BeforeRecycle} */ (part.relief),
    condemn,
    changes: () => changes
  }
}

t.test('a worker over budget collects, and is kept', async t => {
  const { journal, taken, relief, condemn, changes } = scene()
  const handle = condemn('rss')
  t.equal(relief.stateOf(handle), 'due')
  relief.run(handle)
  t.equal(taken.length, 1)
  t.equal(relief.stateOf(handle), 'under way')
  await taken[0].back()
  t.equal(handle.condemnation.reason, null)
  t.match(journal, [{ event: 'collected', bytes: 50, isEnough: true, moved: 3, rssBefore: 1, rssAfter: 50 }, { event: 'worker.keep', reason: 'rss' }])
  t.equal(changes(), 1)
})

t.test('where that is not enough, or was not done, it is recycled', async t => {
  for (const [after, why] of /** @type {const} */ ([[81, null], [50, 'it was told to drain']])) {
    const { journal, taken, relief, condemn, changes } = scene({ after })
    const handle = condemn('rss')
    relief.run(handle)
    await taken[0].back(why)
    t.equal(handle.condemnation.reason, 'rss')
    t.equal(relief.stateOf(handle), null)
    t.equal(changes(), 1, 'its recycle may begin')
    t.equal(journal.length, why ? 0 : 1)
  }
})

t.test('without --on-budget collect, and for another reason than memory, none is due', async t => {
  t.equal(scene({ onBudget: 'recycle' }).relief, null)
  const { relief, condemn } = scene()
  const reasons = ['hard-rss', 'age', 'requests', 'stuck', 'reload', 'scale']
  t.same(reasons.map(reason => relief.stateOf(condemn(reason))), ['due', null, null, null, null, null])
})

t.test('on request the line of the journal is the answer; what another feature asks for may be refused in silence', async t => {
  const { journal, part } = scene({ onBudget: 'recycle' })
  t.match(await part.commands.gc(0), { slot: 0, pid: 7, reason: 'requested', isEnough: null, bytes: 50, emptyMs: 1 })
  await t.rejects(part.commands.gc(1), { message: 'no other worker serves' })
  await part.collect(1)
  await part.collect(0)
  t.same(journal.map(({ event, slot }) => [event, slot]), [['collected', 0], ['collected', 0]])
})

t.test('a heap limit that does not fit is said once', async t => {
  const { journal, part } = scene()
  for (let i = 0; i < 2; i++) {
    const handle = new EventEmitter()
    part.connect(/** @type {any} */ (handle))
    handle.emit('entered', { heapLimitBytes: 259 * MIB })
  }
  t.match(journal, [{ event: 'fleet.warning', warning: 'heap-limit', heapLimitBytes: 259 * MIB, softBytes: 300 * MIB, flag: '--max-old-space-size=375' }])
  t.equal(journal.length, 1)
})
