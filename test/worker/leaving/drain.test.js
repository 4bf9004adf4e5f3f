'use strict'

const t = require('tap')
const { Drain } = require('../../../lib/worker/leaving/drain')
const { sumOfEnds } = require('../../support/fleet')
const { turn, workerParts } = require('../../support/worker-parts')

/**
 * A worker with connections that have been served and have lasted; the primary is the test.
 *
 * @param {any} t @param {number} count
 */
async function scene (t, count) {
  const worker = await workerParts(t)
  worker.server.keepAliveTimeout = 60_000 // longer than a busy machine takes for all of this
  for (let i = 0; i < count; i++) {
    const { connection } = await worker.connect()
    Object.assign(connection, { since: performance.now() - 2000, hasResponded: true, idleSince: performance.now() })
  }
  /** @type {(account: any) => void} */
  let done = () => {}
  /** @type {Promise<any>} */
  const account = new Promise(resolve => { done = resolve })
  /** What was told when a drain went on without siblings. @type {any[]} */
  const alone = []
  const api = /** @type {any} */ ({ leave () {}, alone: (/** @type {any} */ about) => alone.push(about) })
  const parts = { ...worker, api }
  const drain = new Drain(parts, account => done(account))
  return { ...worker, drain, account, alone }
}

/** Every offer is taken, until there are no more. @param {{ receive: any, all: (type: string) => any[] }} worker */
async function takeAll ({ receive, all }) {
  for (let i = 0; i < all('move').length; i++) {
    receive.moved({ id: all('move')[i].id, ok: true })
    await turn()
  }
}

const ORDER = { reason: 'memory', deadlineMs: 60_000, lingerMs: null, handoff: true }

t.test('a connection that is on its way when the drain begins, in the same tick even, is counted once', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 3 })
  t.equal(worker.all('move').length, 2)
  worker.drain.begin(ORDER)
  await takeAll(worker)
  const account = await worker.account
  t.match(account, { connections: 5, moved: 5 })
  t.equal(sumOfEnds(account), account.connections)
  t.equal(worker.state.current, 'drained')
})

t.test('so is one that was on its way before', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 1 })
  await new Promise(resolve => setTimeout(resolve, 20))
  worker.drain.begin(ORDER)
  await takeAll(worker)
  t.match(await worker.account, { connections: 5, moved: 5 })
})

t.test('a connection that all siblings have refused stays; one that a busy sibling may still take is offered again', async t => {
  const worker = await scene(t, 2)
  const [refused, stalled] = worker.tracker.connections
  worker.drain.begin(ORDER)
  worker.moved(1, false)
  worker.moved(2, false, true)
  t.match([refused, stalled], [{ stage: 'waiting', isUnwanted: true }, { stage: 'waiting', isUnwanted: false }])
  while (worker.all('move').length < 3) await turn()
  worker.moved(3)
  t.equal(stalled.fate, 'moved')
  worker.drain.begin({ ...ORDER, deadlineMs: 1 })
  t.match(await worker.account, { connections: 2, moved: 1, closedIdle: 1, cut: 0, refused: 2, takenBack: 1 })
})

t.test('offers without an outcome are unacked, and the account adds up', async t => {
  const worker = await scene(t, 3)
  worker.drain.begin(ORDER)
  worker.handoff.relinquish()
  worker.drain.begin({ ...ORDER, deadlineMs: 1, handoff: false })
  t.same(worker.alone, [{ deadlineMs: 1, handoff: false }], 'what waits for a sibling is told that there is none any more')
  const account = await worker.account
  t.match(account, { connections: 3, moved: 0, unacked: 2, closedIdle: 1 })
  t.equal(sumOfEnds(account), 3)
})

t.test('a drain looks at each connection a bounded number of times, however many there are', async t => {
  const worker = await scene(t, 400)
  let looks = 0
  for (const connection of [...worker.tracker.connections]) {
    let { isPinned } = connection
    Object.defineProperty(connection, 'isPinned', { get () { looks++; return isPinned }, set (value) { isPinned = value } })
    worker.tracker.take(connection) // they wait in the inbox, as after a recycle
    worker.tracker.adopt(connection, /** @type {any} */ (connection.parcel), connection.handle)
    worker.inbox.wait(connection)
  }
  worker.drain.begin(ORDER)
  await takeAll(worker)
  t.match(await worker.account, { connections: 400, moved: 400 })
  t.ok(looks < 4 * 400, `${looks} for 400 connections`)
})
