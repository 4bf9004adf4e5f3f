'use strict'

const { mock } = require('node:test')
const t = require('tap')
const { ownerOf } = require('../../../lib/features/sticky/rendezvous')
const { MOST_SESSIONS, MOST_WAITING, SessionOwners } = require('../../../lib/features/sticky/owners')
const { Fleet } = require('../../../lib/primary/workers/fleet')
const { Heard } = require('../../support/heard')

/** A worker as the owners see it. */
class Worker extends Heard {
  isServing = true
  isGone = false
  asked = new Set()
  account = null
  /** @type {any[]} */
  got = []

  /** @param {number} slot */
  constructor (slot) {
    super()
    this.slot = slot
  }

  /** @param {string} type @param {any} fields */
  send (type, fields) {
    if (type !== 'answer') this.got.push({ type, ...fields })
  }
}

/** A fleet with a worker in each slot. @param {number} size */
function scene (size) {
  const fleet = new Fleet()
  /** @type {any[]} */
  const lines = []
  const owners = new SessionOwners({ fleet, record: (event, fields) => lines.push({ event, ...fields }) && {} })
  const join = (/** @type {number} */ number) => {
    const worker = new Worker(number)
    owners.connect(/** @type {any} */ (worker))
    const slot = fleet.open(number)
    slot.seat(/** @type {any} */ (worker))
    slot.ready(/** @type {any} */ (worker))
    return worker
  }
  fleet.resize(size)
  return { fleet, owners, join, lines, workers: Array.from({ length: size }, (_, i) => join(i)) }
}

/** A session that is of this slot by its hash. @param {number} slot @param {number} slots */
function sessionOf (slot, slots) {
  for (let i = 0; ; i++) if (ownerOf(`s${i}`, Array.from({ length: slots }, (_, number) => number)) === slot) return `s${i}`
}

t.test('a session that no worker has begun belongs to a slot by its hash, one that a worker has begun to that worker', async t => {
  const { owners, workers } = scene(3)
  const session = sessionOf(2, 3)
  t.equal(owners.find(session), workers[2])
  workers[0].say('own', { id: 1, session })
  t.equal(owners.find(session), workers[0])
  t.same(workers[2].got, [{ type: 'forget', session }], 'the other one is told')
})

t.test('a replacement inherits the sessions of its slot when the old worker is done with them', async t => {
  const { owners, workers: [old], join } = scene(2)
  const [begun, given] = ['begun', 'given']
  old.say('own', { id: 1, session: begun })
  old.say('own', { id: 1, session: given })
  const heir = join(0)
  t.equal(owners.find(begun), old, 'it leaves, and has not said that it is done')
  heir.say('own', { id: 1, session: 'new' })
  t.equal(owners.find('new'), heir, 'what the replacement has begun is its own')
  old.say('transfer', { session: given, value: 'AA==' })
  t.equal(owners.find(given), heir)
  t.same(heir.got, [{ type: 'transfer', session: given, value: 'AA==' }])
  t.equal(owners.find(begun), old)
  let isTold = false
  owners.on('moved', () => { isTold = true })
  old.say('transferred', { except: [] })
  t.ok(isTold)
  t.equal(owners.find(begun), heir)
})

t.test('a worker that dies while it leaves, or has given its account, owns nothing', async t => {
  for (const end of [{ isGone: true }, { account: {} }]) {
    const { owners, workers: [old], join } = scene(1)
    old.say('own', { id: 1, session: 's' })
    const heir = join(0)
    Object.assign(old, end)
    t.equal(owners.find('s'), heir)
  }
})

t.test('there is no owner while the slot\'s worker does not serve; state for it waits', async t => {
  const { owners, workers: [first, second], fleet, join } = scene(2)
  first.isServing = false
  const session = sessionOf(0, 2)
  t.equal(owners.find(session), null)
  second.say('transfer', { session, value: 'AA==' })
  t.same(first.got, [])
  fleet.slots.get(0)?.remove(/** @type {any} */ (first))
  const next = join(0)
  next.emit('ready')
  t.same(next.got, [{ type: 'transfer', session, value: 'AA==' }])
})

t.test('where the fleet shrinks, the sessions of slots that go are others\'; where it grows, those that were begun stay', async t => {
  const { owners, workers, fleet, join } = scene(3)
  owners.find('anything')
  workers[2].say('own', { id: 1, session: 'two' })
  workers[1].say('own', { id: 1, session: 'one' })
  fleet.resize(2)
  fleet.slots.get(2)?.vacate(/** @type {any} */ (workers[2]))
  t.equal(owners.find('two'), workers[2], 'until it is done with them')
  for (const worker of workers.slice(0, 2)) t.same(worker.got.at(-1), { type: 'forget', session: null })
  workers[2].say('transferred', { except: [] })
  t.ok(workers.slice(0, 2).includes(/** @type {any} */ (owners.find('two'))))
  t.equal(owners.find('one'), workers[1])
  fleet.resize(4)
  fleet.close(2)
  join(2)
  join(3)
  t.equal(owners.find('one'), workers[1])
})

/** Has a worker answer as sessions.js does: these are in use. @param {Worker} worker @param {string[]} used */
function answering (worker, used) {
  worker.send = (type, { session, ifUnused }) => { if (type === 'forget' && ifUnused && !used.includes(session)) worker.say('forget', { session }) }
}

t.test('the sessions that are not used for longest are forgotten, and not the oldest', async t => {
  const { owners, workers } = scene(2)
  const [busy, idle] = [sessionOf(1, 2), sessionOf(1, 2) + 'x']
  for (const session of [busy, idle]) workers[0].say('own', { id: 1, session })
  answering(workers[0], [busy])
  for (let i = 0; i < 2.5 * MOST_SESSIONS; i++) workers[0].say('own', { id: 1, session: `more ${i}` })
  t.equal(owners.find(busy), workers[0])
  t.ok(owners.size <= MOST_SESSIONS + 1, `${owners.size}`)
  t.equal(owners.find(`more ${2.5 * MOST_SESSIONS - 1}`), workers[0])
})

t.test('a worker that is to be scaled away has its sessions until it leaves', async t => {
  const { owners, workers, fleet } = scene(3)
  owners.find('anything')
  workers[2].say('own', { id: 1, session: 'two' })
  fleet.resize(2)
  t.equal(owners.find('two'), workers[2], 'it has not been told yet')
  fleet.slots.get(2)?.vacate(/** @type {any} */ (workers[2]))
  t.equal(owners.find('two'), workers[2])
})

t.test('a session belongs to the slot that its state has gone to, also when its first slot is there again', async t => {
  const { owners, workers, fleet, join } = scene(3)
  owners.find('anything')
  workers[2].say('own', { id: 1, session: 'two' })
  fleet.resize(2)
  fleet.slots.get(2)?.vacate(/** @type {any} */ (workers[2]))
  workers[2].say('transfer', { session: 'two', value: 'AA==' })
  workers[2].say('transferred', { except: [] })
  const [owner] = workers.filter(({ got }) => got.some(({ type }) => type === 'transfer'))
  fleet.resize(4)
  fleet.close(2)
  join(2)
  join(3)
  t.equal(owners.find('two'), owner)
})

t.test('where all are in use, or their worker does not answer, sessions are forgotten at twice as many, and their owner is told', async t => {
  const { owners, workers } = scene(1)
  for (let i = 0; i < 2 * MOST_SESSIONS + 10; i++) workers[0].say('own', { id: 1, session: `more ${i}` })
  t.equal(owners.size, 2 * MOST_SESSIONS)
  t.same(workers[0].got.filter(({ type, ifUnused }) => type === 'forget' && !ifUnused).length, 10, 'it asks again')
})

t.test('a leaving worker keeps what it has excepted, until it has transferred that', async t => {
  const { owners, workers: [old], join } = scene(1)
  const heir = join(0)
  let moves = 0
  owners.on('moved', () => moves++)
  old.say('transferred', { except: ['pending'] })
  t.equal(owners.find('other'), heir)
  t.equal(owners.find('pending'), old)
  old.say('transfer', { session: 'pending', value: 'AA==' })
  t.equal(owners.find('pending'), heir)
  await null
  t.equal(moves, 2)
  t.same(heir.got, [{ type: 'transfer', session: 'pending', value: 'AA==' }])
})

t.test('an owner out of rotation gets state, which it has before it is back', async t => {
  const { owners, workers: [first, second] } = scene(2)
  Object.assign(first, { isServing: false, state: 'out-of-rotation' })
  const session = sessionOf(0, 2)
  second.say('transfer', { session, value: 'AA==' })
  t.same(first.got, [{ type: 'transfer', session, value: 'AA==' }])
  t.equal(owners.find(session), null, 'requests wait')
  t.same([owners.isAway(session), owners.isAway(sessionOf(1, 2))], [true, false])
})

t.test('state for which there is no room is counted, and told in one line', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { workers: [first, second], join, fleet, lines } = scene(2)
  first.isServing = false
  fleet.slots.get(0)?.remove(/** @type {any} */ (first))
  const session = sessionOf(0, 2)
  const value = 'A'.repeat(MOST_WAITING / 4)
  for (let i = 0; i < 6; i++) second.say('transfer', { session, value })
  mock.timers.tick(1000)
  t.same(lines, [{ event: 'fleet.warning', warning: 'sessions-lost', sessions: 2, chars: value.length * 2 }])
  const next = join(0)
  next.emit('ready')
  t.equal(next.got.length, 4)
  second.say('transfer', { session, value })
  t.equal(next.got.length, 5, 'there is room again')
})
