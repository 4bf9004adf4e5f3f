'use strict'

const t = require('tap')
const fc = require('fast-check')
const { plan } = require('../../lib/core/plan')
const { FleetModel, firstSlots } = require('../support/fleet-model')

const DESIRED = { slots: [0, 1], generation: 0, standbys: 0, maxSurge: 1, maxUnavailable: 0 }
const worker = (/** @type {any} */ facts = {}) =>
  ({ state: 'ready', generation: 0, reason: null, bytes: 0, isSampled: true, condemnedAt: 0, task: null, isOverHard: false, ...facts })
const slot = (/** @type {number} */ slot, /** @type {any} */ facts = {}) =>
  ({
    slot,
    incumbent: worker(),
    isLeaving: false,
    recycle: null,
    isReplaced: false,
    isNew: false,
    bootNotBefore: 0,
    unservedNotBefore: 0,
    recycleNotBefore: 0,
    ...facts
  })

/** @param {any[]} slots @param {any} [more] */
function steps (slots, {
  standbys = [],
  standbyNotBefore = 0,
  memory = null,
  now = 0,
  workers = 2,
  wanted = Array.from({ length: workers }, (_, i) => i),
  ...desired
} = {}) {
  return plan(/** @type {any} */ ({
    slots, standbys, standbyNotBefore, memory
  }), { ...DESIRED, slots: wanted, ...desired }, now)
}

t.test('where all is as desired there is nothing to do, now or later', async t => {
  t.same(steps([slot(0), slot(1)]), { actions: [], wakeAt: Infinity })
})

t.test('a fleet that begins boots all its slots at once', async t => {
  t.same(steps([]).actions, [{ type: 'boot', slot: 0 }, { type: 'boot', slot: 1 }])
})

t.test('a slot whose worker has crashed is filled at once, whatever else is under way', async t => {
  t.same(steps([slot(0, { incumbent: null }), slot(1, { recycle: 'surge' })]).actions, [{ type: 'boot', slot: 0 }])
})

t.test('a slot whose new worker has crashed while the one before it drains is filled at once, and not when that is gone', async t => {
  const empty = { incumbent: null, isLeaving: true, recycle: 'surge' }
  t.same(steps([slot(0, { ...empty, isReplaced: true }), slot(1)]).actions, [{ type: 'boot', slot: 0 }])
  t.same(steps([slot(0, empty), slot(1)]).actions, [], 'its replacement boots already')
})

t.test('a boot that is backed off comes when its time has come, which the plan tells', async t => {
  const slots = [slot(0, { incumbent: null, bootNotBefore: 250 }), slot(1)]
  t.same(steps(slots), { actions: [], wakeAt: 250 })
  t.same(steps(slots, { now: 250 }), { actions: [{ type: 'boot', slot: 0 }], wakeAt: Infinity })
})

t.test('while no worker serves, a boot is backed off for a second at most', async t => {
  const empty = { incumbent: null, bootNotBefore: 60_000, unservedNotBefore: 1000 }
  t.same(steps([slot(0, empty), slot(1, empty)]), { actions: [], wakeAt: 1000 })
  t.same(steps([slot(0, empty), slot(1, empty)], { now: 1000 }).actions, [{ type: 'boot', slot: 0 }, { type: 'boot', slot: 1 }])
  t.same(steps([slot(0, empty), slot(1)], { now: 1000 }), { actions: [], wakeAt: 60_000 })
})

t.test('a recycle that is backed off comes when its time has come', async t => {
  const slots = [slot(0, { incumbent: worker({ reason: 'rss' }), recycleNotBefore: 500 }), slot(1)]
  t.same(steps(slots, { now: 100 }), { actions: [], wakeAt: 500 })
  t.same(steps(slots, { now: 500 }).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
})

t.test('while a worker serves, new slots boot within the surge', async t => {
  t.same(steps([slot(0), slot(1)], { workers: 5 }).actions, [{ type: 'boot', slot: 2 }])
  t.same(steps([slot(0), slot(1)], { workers: 5, maxSurge: 2 }).actions, [{ type: 'boot', slot: 2 }, { type: 'boot', slot: 3 }])
  t.same(steps([slot(0), slot(1)], { workers: 5, maxSurge: 0, maxUnavailable: 1 }).actions, [{ type: 'boot', slot: 2 }], 'one at a time without a surge')
  const booting = slot(2, { isNew: true, incumbent: worker({ state: 'spawning' }) })
  t.same(steps([slot(0), slot(1), booting], { workers: 5 }).actions, [])
})

t.test('new slots boot within the surge also where the only worker comes back into rotation now', async t => {
  const slots = [slot(0, { incumbent: null, recycle: 'surge' }), slot(1, { incumbent: worker({ state: 'out-of-rotation', task: 'under way', reason: 'rss' }) })]
  t.same(steps(slots, { workers: 3 }).actions, [{ type: 'rejoin', slot: 1 }])
})

t.test('no worker leaves rotation where the only other one that serves is scaled away', async t => {
  const condemned = slot(0, { incumbent: worker({ reason: 'rss', task: 'before-recycle' }) })
  t.same(steps([condemned, slot(1)], { workers: 1 }).actions, [{ type: 'scale-away', slot: 1 }, { type: 'recycle', slot: 0, how: 'surge' }])
})

t.test('a slot that is wanted again is the one that is still leaving', async t => {
  const leaving = [2, 3].map(number => slot(number, { incumbent: null, isLeaving: true, isNew: true }))
  t.same(steps([slot(0), slot(1), ...leaving], { workers: 4 }).actions, [{ type: 'boot', slot: 2 }])
})

t.test('a slot that is scaled away closes when its worker is gone', async t => {
  t.same(steps([slot(0), slot(1), slot(2)]).actions, [{ type: 'scale-away', slot: 2 }])
  t.same(steps([slot(0), slot(1), slot(2, { incumbent: null, isLeaving: true })]).actions, [])
  t.same(steps([slot(0), slot(1), slot(2, { incumbent: null })]).actions, [{ type: 'close', slot: 2 }])
  t.same(steps([slot(0), slot(1), slot(2, { recycle: 'surge' })]).actions, [], 'its recycle ends first')
  t.same(steps([slot(0), slot(1), slot(2, { incumbent: worker({ state: 'draining' }) })]).actions, [], 'it was given up, and leaves already')
})

t.test('a slot in the middle leaves, and comes back, as any other', async t => {
  t.same(steps([slot(0), slot(1), slot(2)], { wanted: [0, 2] }).actions, [{ type: 'scale-away', slot: 1 }])
  t.same(steps([slot(0), slot(2)], { wanted: [0, 1, 2] }).actions, [{ type: 'boot', slot: 1 }])
})

t.test('where the load asks for them, new slots boot beyond the surge, and no recycle begins meanwhile', async t => {
  const condemned = slot(1, { incumbent: worker({ reason: 'rss' }) })
  const { actions } = steps([slot(0), condemned], { workers: 5, maxBoots: 2 })
  t.same(actions, [{ type: 'boot', slot: 2 }, { type: 'boot', slot: 3 }])
})

t.test('the only worker that serves stays until one that is to stay serves', async t => {
  const booting = slot(0, { incumbent: worker({ state: 'spawning' }) })
  t.same(steps([booting, slot(1)], { workers: 1 }).actions, [])
})

t.test('recycles that drain first take nothing of the surge', async t => {
  const slots = [slot(0, { incumbent: null, recycle: 'drain-first' }), slot(1), slot(2, { incumbent: worker({ reason: 'rss' }) })]
  t.same(steps(slots, { workers: 3, maxUnavailable: 1 }).actions, [{ type: 'recycle', slot: 2, how: 'surge' }])
})

t.test('a slot that is scaled away is not one of the workers that there should be', async t => {
  const slots = [slot(0, { incumbent: worker({ reason: 'rss' }) }), slot(1), slot(2)]
  const { actions } = steps(slots, { maxSurge: 0, maxUnavailable: 1 })
  t.same(actions, [{ type: 'scale-away', slot: 2 }, { type: 'recycle', slot: 0, how: 'drain-first' }])
})

t.test('a standby boots when all serve, and what must not be taken any more is replaced', async t => {
  t.same(steps([slot(0), slot(1)], { standbys: [] }).actions, [])
  const desired = { standbys: /** @type {any} */ ([]), maxSurge: 1 }
  const wanting = (/** @type {any[]} */ slots, /** @type {any[]} */ standbys, standbyNotBefore = 0) =>
    plan(/** @type {any} */ ({
      slots, standbys, standbyNotBefore, memory: null
    }), { ...DESIRED, ...desired, standbys: 1 }, 0)
  t.same(wanting([slot(0), slot(1)], []).actions, [{ type: 'boot-standby' }])
  t.same(wanting([slot(0), slot(1)], [], 700), { actions: [], wakeAt: 700 })
  t.same(wanting([slot(0), slot(1, { incumbent: worker({ state: 'spawning' }) })], []).actions, [], 'the slots go first')
  t.same(wanting([slot(0), slot(1, { recycle: 'surge' })], []).actions, [], 'it is one process too many')
  const old = worker({ state: 'standby', generation: -1 })
  t.same(wanting([slot(0), slot(1)], [old]).actions, [{ type: 'retire-standby', standby: 0, reason: 'reload' }])
  const fat = worker({ state: 'standby', reason: 'rss' })
  t.same(wanting([slot(0), slot(1)], [fat]).actions, [{ type: 'retire-standby', standby: 0, reason: 'rss' }])
})

t.test('what may keep a worker stands in for its recycle, one at a time', async t => {
  const due = (/** @type {any} */ more = {}) => ({ incumbent: worker({ reason: 'rss', task: 'relief', ...more }) })
  const away = { incumbent: worker({ state: 'out-of-rotation', reason: 'rss', task: 'under way' }) }
  const on = { workers: 3 }
  t.same(steps([slot(0, due()), slot(1, due()), slot(2)], on).actions, [{ type: 'before-recycle', slot: 0 }])
  t.same(steps([slot(0, away), slot(1, due()), slot(2)], on).actions, [], 'the next one waits for its turn')
  t.same(steps([slot(0, away), slot(1, due({ isOverHard: true })), slot(2)], on).actions, [{ type: 'recycle', slot: 1, how: 'surge' }], 'but not over its hard budget')
  t.same(steps([slot(0, due()), slot(1, { incumbent: worker({ state: 'spawning' }) })]).actions, [{ type: 'recycle', slot: 0, how: 'surge' }], 'where no other worker serves, it is recycled')
})

const condemned = (/** @type {any} */ more = {}) => ({ incumbent: worker({ reason: 'rss', ...more }) })
const FULL = { limitBytes: 100, usedBytes: 95, freshBytes: 10 }

t.test('where the memory has no room for a replacement the worker drains first, within what may be missing', async t => {
  const slots = [slot(0, condemned()), slot(1), slot(2)]
  const on = { workers: 3, maxUnavailable: 1 }
  t.same(steps(slots, { ...on, memory: { ...FULL, usedBytes: 50 } }).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
  t.same(steps(slots, { ...on, memory: FULL }).actions, [{ type: 'recycle', slot: 0, how: 'drain-first', hasNoRoom: true }])
  t.same(steps(slots, { ...on, memory: { ...FULL, freshBytes: null } }).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
  t.same(steps([slot(0, condemned()), slot(1, { incumbent: null, bootNotBefore: 9 }), slot(2)], { ...on, memory: FULL }).actions, [], 'one is missing already')
})

t.test('where none may be missing a worker that can wait stays until there is room; it is said once, and later than what a look may not know', async t => {
  const waits = { canWait: true, condemnedAt: 1000 }
  const slots = [slot(0, condemned(waits)), slot(1, condemned({ ...waits, isWaiting: true }))]
  t.same(steps(slots, { memory: FULL, now: 1000 }), { actions: [], wakeAt: 3000 })
  t.same(steps(slots, { memory: FULL, now: 3000 }), { actions: [{ type: 'wait', slot: 0 }], wakeAt: Infinity })
  t.same(steps(slots, { memory: { ...FULL, usedBytes: 50 }, now: 3000 }).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
  const asked = [slots[0], slot(1, condemned())]
  t.same(steps(asked, { memory: FULL, now: 1000 }).actions, [{ type: 'recycle', slot: 1, how: 'surge', hasNoRoom: true }], 'a reload goes on')
  t.same(steps([...slots, slot(2)], { workers: 3, maxUnavailable: 1, memory: FULL, now: 3000 }).actions, [{ type: 'recycle', slot: 0, how: 'drain-first', hasNoRoom: true }])
})

t.test('until it is known how many the memory is enough for, no more boot than may', async t => {
  const more = { workers: 4, atFirst: 2 }
  t.same(steps([], more).actions, [{ type: 'boot', slot: 0 }, { type: 'boot', slot: 1 }])
  t.same(steps([slot(0), slot(1, { incumbent: worker({ state: 'spawning' }), isNew: true })], more).actions, [])
  t.same(steps([slot(0, { incumbent: null }), slot(1)], { ...more, atFirst: 1 }).actions, [{ type: 'boot', slot: 0 }], 'one that has crashed is replaced')
})

t.test('where none may be missing and the recycle cannot wait, the replacement starts all the same, one at a time', async t => {
  const slots = [slot(0, condemned()), slot(1, condemned())]
  t.same(steps(slots, { maxSurge: 2, memory: FULL }).actions, [{ type: 'recycle', slot: 0, how: 'surge', hasNoRoom: true }])
  const booting = slot(0, { ...condemned(), recycle: 'surge', isLeaving: true }) // beside it its successor boots
  t.same(steps([booting, slot(1, condemned())], { maxSurge: 2, memory: FULL }).actions, [])
  t.same(steps([booting, slot(1, condemned())], { maxSurge: 2, memory: { ...FULL, usedBytes: 87 } }).actions, [], 'the room is for the one that boots')
})

t.test('a drain first that the limits ask for, memory or not, says nothing of room', async t => {
  t.same(steps([slot(0, condemned()), slot(1)], { maxSurge: 0, maxUnavailable: 1, memory: FULL }).actions, [{ type: 'recycle', slot: 0, how: 'drain-first' }])
})

t.test('workers whose memory has not been seen take room: those that boot, and those that are ready since the last look', async t => {
  const one = { limitBytes: 100, usedBytes: 85, freshBytes: 10 }
  const on = { workers: 3, maxUnavailable: 1, memory: one }
  const how = (/** @type {any} */ other) => /** @type {any} */ (steps(
    [slot(0, condemned()), slot(1), slot(2, { incumbent: worker(other) })], on
  ).actions[0])?.how
  t.equal(how({}), 'surge')
  t.equal(how({ isSampled: false }), 'drain-first')
  t.equal(how({ state: 'spawning' }), undefined)
  const drains = slot(2, { incumbent: null, isLeaving: true, recycle: 'drain-first' })
  t.same(steps([slot(0, condemned()), slot(1), drains], on).actions, [], "its memory may be free already, and is its successor's")
})

t.test('a standby takes over where the memory has no room, and no other one boots', async t => {
  const facts = /** @type {any} */ ({ slots: [slot(0, condemned()), slot(1)], standbys: [worker({ state: 'standby' })], standbyNotBefore: 0, memory: FULL })
  t.same(plan(facts, { ...DESIRED, standbys: 1, maxUnavailable: 1 }, 0).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
  t.same(plan({ ...facts, slots: [slot(0), slot(1)], standbys: [] }, { ...DESIRED, standbys: 1 }, 0).actions, [])
})

t.test('a worker that is just leaving rotation is missing already where another one would drain first', async t => {
  const due = slot(0, { incumbent: worker({ reason: 'rss', task: 'relief' }) })
  const other = slot(1, { incumbent: worker({ reason: 'age' }) })
  const on = { workers: 3, maxSurge: 0, maxUnavailable: 1 }
  t.same(steps([due, other, slot(2)], on).actions, [{ type: 'before-recycle', slot: 0 }])
})

t.test('what is due before a recycle comes first, but not over the hard budget', async t => {
  const due = (/** @type {any} */ more = {}) => ({ incumbent: worker({ reason: 'rss', task: 'before-recycle', ...more }) })
  t.same(steps([slot(0, due()), slot(1)]).actions, [{ type: 'before-recycle', slot: 0 }])
  t.same(steps([slot(0, due({ isOverHard: true })), slot(1)]).actions, [{ type: 'recycle', slot: 0, how: 'surge' }])
  t.same(steps([slot(0, due())], { workers: 1 }).actions, [{ type: 'recycle', slot: 0, how: 'surge' }], 'where no other worker serves, it is recycled')
})

t.test('a worker out of rotation comes back where no other one serves', async t => {
  const away = slot(0, { incumbent: worker({ state: 'out-of-rotation' }) })
  t.same(steps([away, slot(1)]).actions, [])
  t.same(steps([away, slot(1, { incumbent: null, bootNotBefore: 9 })]).actions, [{ type: 'rejoin', slot: 0 }])
})

const limits = fc.record({
  slots: fc.integer({ min: 2, max: 6 }).map(firstSlots),
  maxBoots: fc.integer({ min: 1, max: 3 }),
  standbys: fc.integer({ min: 0, max: 2 }),
  maxSurge: fc.integer({ min: 0, max: 3 }),
  maxUnavailable: fc.integer({ min: 0, max: 1 })
})
  .map(desired => desired.maxSurge === 0 ? { ...desired, maxUnavailable: 1 } : desired)
const pick = fc.nat(20)
const event = fc.oneof(
  fc.record({ type: fc.constantFrom('crash', 'comesUp', 'diesEarly', 'givenUp', 'drained', 'diesLeaving', 'condemn', 'overHard', 'collected', 'freshOverBudget'), pick }),
  fc.record({ type: fc.constant('memory'), pick }),
  fc.record({ type: fc.constant('scale'), pick: fc.integer({ min: 2, max: 8 }) }),
  fc.record({ type: fc.constantFrom('grow', 'shrink'), pick }),
  fc.record({ type: fc.constant('advance'), pick: fc.constantFrom(1, 100, 250, 5000, 70_000) }),
  fc.constantFrom({ type: 'reload', pick: 0 }, { type: 'look', pick: 0 })
)

t.test('any order of faults and commands: never more than the surge, never fewer than promised, and in the end what is desired', async t => {
  const numRuns = Number(process.env.PLAN_RUNS ?? 1500)
  fc.assert(fc.property(limits, fc.array(event, { maxLength: 60 }), (desired, events) => {
    const model = new FleetModel({ ...desired, generation: 0 })
    model.settle()
    for (const { type, pick } of events) {
      model.happen(type, pick)
      model.settle()
    }
    model.converge()
  }), { numRuns, seed: 36 })
  t.pass(`${numRuns} runs`)
})
