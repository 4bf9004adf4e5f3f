'use strict'

const { once } = require('node:events')
const { Heard } = require('../../support/heard')
const { setImmediate: turn } = require('node:timers/promises')
const t = require('tap')
const { BlockedLoops } = require('../../../lib/features/blocked/primary')

const WHERE = { stack: ['parse (/srv/app.js:12:5)'], request: 'GET /report', serial: 7, requests: [{ request: 'GET /report', count: 1 }] }

/** @param {any} t @param {{ tells?: boolean }} [how] */
function scene (t, { tells = true } = {}) {
  const seen = /** @type {any} */ ({ now: 0, by: null, lines: [], replaced: 0, killed: 0, asked: 0 })
  const handle = /** @type {any} */ (Object.assign(new Heard(), {
    slot: 1, pid: 4711, state: 'ready', hasEntered: true, isWatched: true, heardAt: 0, account: null, known: {}, inspectorPort: null, latest: { inFlight: 2 }, condemnation: { requested: null }, blockedBy: null
  }))
  handle.process = { kill: () => { seen.asked++; if (tells) handle.say('where', WHERE) } }
  handle.next = (/** @type {string[]} */ events) =>
    Promise.race(events.map(async event => ({ event, value: (await once(handle, event))[0] })))
  const kernel = {
    options: { stuckTimeoutMs: 10_000 },
    now: () => seen.now,
    record: (/** @type {string} */ event, /** @type {any} */ fields) => seen.lines.push({ event, ...fields }),
    sampler: {
      replace (/** @type {any} */ worker, /** @type {string} */ reason) {
        seen.replaced++
        worker.condemnation.requested = reason
      }
    },
    lifecycle: { kill: () => { seen.killed++ } }
  }
  const loops = new BlockedLoops(/** @type {any} */ (kernel), { look: () => seen.by, missing: null })
  loops.connect(handle)
  t.teardown(() => handle.emit('exit'))
  const look = async (/** @type {number} */ at) => {
    seen.now = at
    handle.emit('leaving') // it is looked at in the next turn, as by the timer
    await turn()
    await turn()
  }
  return { seen, handle, loops, look }
}

t.test('one that is blocked for the limit is replaced and told once; once it leaves it is killed, once', async t => {
  const { seen, handle, loops, look } = scene(t)
  await look(9999)
  t.same([seen.replaced, seen.asked, handle.known.blocked.forMs], [0, 0, 9999])
  await look(10_000)
  await look(10_250)
  t.same([seen.replaced, seen.killed], [1, 0])
  t.same(seen.lines, [{ event: 'worker.blocked', slot: 1, pid: 4711, blockedMs: 10_000, inFlight: 2, request: WHERE.request, requests: WHERE.requests, stack: WHERE.stack }])
  t.equal(handle.blockedBy, 7)
  handle.state = 'draining'
  handle.isWatched = false
  await look(11_000)
  await look(11_250)
  await loops.beforeKill(handle)
  t.same([seen.killed, seen.asked, seen.lines.length], [1, 1, 1])
  t.match(loops.describe(), { count: 1, latest: { request: 'GET /report' } })
})

t.test('one whose event loop is free again is left to its drain; blocked anew, it is told anew', async t => {
  const { seen, handle, look } = scene(t)
  await look(10_000)
  handle.heardAt = 10_100
  handle.state = 'draining'
  handle.isWatched = false
  await look(12_000)
  t.equal(seen.killed, 0)
  await look(20_100)
  t.equal(seen.killed, 1)
})

t.test('one that has given its account is not killed for it, and one out of rotation is left alone', async t => {
  for (const fields of [{ state: 'draining', isWatched: false, account: {} }, { state: 'out-of-rotation', isWatched: false }, { state: 'spawning', isWatched: false }, { hasEntered: false, state: 'draining', isWatched: false }]) {
    const { seen, handle, look } = scene(t)
    Object.assign(handle, fields)
    await look(60_000)
    t.same([seen.replaced, seen.killed, seen.asked], [0, 0, 0], fields.state)
  }
})

t.test('one that is held is not blocked, and it is said once', async t => {
  for (const by of ['signal', 'debugger']) {
    let isAttached = true
    const { seen, handle, loops, look } = scene(t)
    if (by === 'signal') seen.by = by
    else Object.assign(handle, { inspectorPort: 9229, isDebugged: async () => isAttached })
    for (const at of [2000, 12_000, 40_000]) await look(at)
    await loops.beforeKill(handle)
    t.same([seen.replaced, seen.asked], [0, 0])
    t.same(seen.lines, [{ event: 'fleet.warning', warning: 'stopped', slot: 1, pid: 4711, by, forMs: 12_000 }])
    seen.by = null
    isAttached = false // the inspector stays open
    if (by === 'debugger') await look(40_000)
    await look(49_999)
    t.equal(seen.replaced, 0)
    await look(50_000)
    t.equal(seen.replaced, 1, 'blocked since')
  }
})

t.test('one that is killed for another reason is asked where it is, if it is silent', async t => {
  const { seen, handle, loops } = scene(t, { tells: false })
  seen.now = 900
  await loops.beforeKill(handle)
  t.equal(seen.asked, 0)
  seen.now = 5000
  const told = loops.beforeKill(handle)
  t.equal(seen.asked, 1)
  handle.emit('exit')
  await told
  t.match(seen.lines, [{ event: 'worker.blocked', blockedMs: 5000, request: null, requests: null, stack: null }])
  t.equal(handle.blockedBy, null)
})

t.test('of one that was silent while the primary did not run nothing is known until it has been silent anew', async t => {
  const { seen, loops, look } = scene(t)
  await look(9000)
  seen.now = 9900
  loops.wake()
  await look(10_500)
  t.equal(seen.replaced, 0)
  await look(19_900)
  t.equal(seen.replaced, 1)
})
