'use strict'

const t = require('tap')
const { offerOutOfRotation } = require('../../../lib/worker/leaving/out-of-rotation')
const { received, turn, workerParts } = require('../../support/worker-parts')

/** @param {any} t @param {import('node:http').RequestListener} [listener] */
async function scene (t, listener) {
  const worker = await workerParts(t, listener)
  offerOutOfRotation(worker, { task: ({ of }) => ({ bytes: of.length }) })
  const answers = () => worker.all('answer')
  const until = async (/** @type {() => boolean} */ isSo) => { while (!isSo()) await turn() }
  return { ...worker, answers, until, answered: () => until(() => answers().length > 0) }
}

/** Requests whose response does not end before release(). */
function parking () {
  /** @type {import('node:http').ServerResponse[]} */
  const parked = []
  return { parked, listener: (/** @type {unknown} */ _, /** @type {any} */ response) => { parked.push(response) } }
}

const ORDER = { id: 1, deadlineMs: 60_000, handoff: true }
const GET = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n'

t.test('without connections it is out at once', async t => {
  const { receive, answers, state, acceptor } = await scene(t)
  receive['leave-rotation'](ORDER)
  await turn()
  t.match(answers(), [{ id: 1, why: null, moved: 0 }])
  t.equal(state.current, 'out')
  t.notOk(acceptor.isOpen)
  receive.rejoin({})
  t.equal(state.current, 'serving')
  t.ok(acceptor.isOpen)
})

t.test('it is out when the last offer has been taken, not before', async t => {
  const { receive, moved, all, answers, answered, connect } = await scene(t)
  await connect()
  await connect()
  receive['leave-rotation'](ORDER)
  t.equal(all('move').length, 2)
  moved(1)
  await turn()
  t.same(answers(), [])
  moved(2)
  await answered()
  t.match(answers(), [{ id: 1, why: null, moved: 2 }])
})

t.test('a foreign connection is in the way from the start, and nothing is begun', async t => {
  const { receive, all, answers, state, connect } = await scene(t)
  await connect()
  const { connection } = await connect()
  Object.defineProperty(connection, 'isForeign', { value: true })
  receive['leave-rotation'](ORDER)
  t.match(answers(), [{ id: 1, why: '1 of its connections are upgraded or raw, and cannot be moved', moved: 0 }])
  t.equal(state.current, 'serving')
  t.same(all('move'), [])
})

t.test('a TLS handshake that is under way is no foreign connection', async t => {
  const { receive, answers, connect, acceptor } = await scene(t)
  const { connection } = await connect()
  Object.assign(acceptor, { isMovable: false, isTls: true })
  Object.defineProperty(connection.socket, 'parser', { value: null })
  receive['leave-rotation'](ORDER)
  t.same(answers(), [])
  receive.rejoin({})
  t.match(answers(), [{ why: 'it was called back' }])
})

t.test('a connection that turns foreign on the way ends it', async t => {
  const { parked, listener } = parking()
  const { receive, answers, answered, until, state, connect } = await scene(t, listener)
  const { client, connection } = await connect()
  client.write(GET)
  await until(() => parked.length === 1)
  receive['leave-rotation'](ORDER)
  t.equal(state.current, 'leaving')
  Object.defineProperty(connection, 'isForeign', { value: true })
  await answered()
  t.match(answers()[0].why, /upgraded/)
  t.equal(state.current, 'serving')
})

t.test('when the time is up it is back in rotation, and says what is left; a close that was not sent is not announced', async t => {
  const { parked, listener } = parking()
  const { receive, answers, answered, until, state, connect, acceptor } = await scene(t, listener)
  acceptor.isMovable = false
  const [quiet, begun] = [await connect(), await connect()]
  quiet.client.write(GET)
  await until(() => parked.length === 1)
  begun.client.write(GET)
  await until(() => parked.length === 2)
  receive['leave-rotation']({ ...ORDER, deadlineMs: 20 })
  t.same(parked.map(response => response.shouldKeepAlive), [false, false])
  t.ok(quiet.connection.isAnnounced)
  parked[1].writeHead(200).write('the head is sent')
  await answered()
  t.match(answers(), [{ id: 1, why: '2 of its connections are left, with 2 requests in flight' }])
  t.equal(state.current, 'serving')
  t.same(parked.map(response => response.shouldKeepAlive), [true, false])
  t.same([quiet.connection.isAnnounced, begun.connection.isAnnounced], [false, true])
  parked[0].end('kept')
  t.notMatch(await received(quiet.client, 'kept'), /Connection: close/)
  quiet.client.write(GET)
  await until(() => parked.length === 3)
  t.equal(parked[2].shouldKeepAlive, true, 'nor later')
})

t.test('an offer that came back is made again in a while', async t => {
  const { receive, moved, all, answers, answered, until, connect } = await scene(t)
  const { connection } = await connect()
  receive['leave-rotation'](ORDER)
  moved(1, false)
  t.match(connection, { stage: 'waiting', isPinned: false })
  t.same(answers(), [])
  const began = performance.now()
  await until(() => all('move').length === 2)
  t.ok(performance.now() - began > 200)
  moved(2)
  await answered()
  t.match(answers(), [{ id: 1, why: null, moved: 1 }])
})

t.test('one that comes back after leaving was given up can move later, and is not offered while the worker serves', async t => {
  const { receive, moved, all, connect, connectElsewhere, state } = await scene(t)
  const { connection } = await connect()
  receive['leave-rotation'](ORDER)
  receive.rejoin({})
  t.equal(state.current, 'serving')
  moved(1, false)
  t.match(connection, { stage: 'waiting', isPinned: false })
  await connectElsewhere()
  t.equal(all('move').length, 1)
})

t.test('what holds the thread is done only out of rotation', async t => {
  const { receive, answers } = await scene(t)
  receive.collect({ id: 7 })
  t.match(answers(), [{ type: 'answer', id: 7, why: 'it is in rotation' }])
  receive['leave-rotation'](ORDER)
  await turn()
  receive.collect({ id: 8 })
  const { id, why, before, after, pauseMs } = answers().at(-1)
  t.equal(id, 8)
  t.equal(why, null)
  t.ok(pauseMs > 0)
  for (const usage of [before, after]) t.ok(usage.rssBytes > usage.heapUsedBytes && usage.heapUsedBytes > 0)
  receive.task({ id: 9, of: 'four' })
  t.same(answers().at(-1), { type: 'answer', id: 9, why: null, bytes: 4 })
  receive.task({ id: 9, of: null })
  t.match(answers().at(-1), { id: 9, why: /null/ }, 'what it throws is the answer')
  receive.rejoin({})
  receive.collect({ id: 10 })
  t.equal(answers().at(-1).why, 'it is in rotation')
  receive.task({ id: 11, of: 'four' })
  t.equal(answers().at(-1).why, 'it is in rotation')
})

t.test('a drain takes over at any moment', async t => {
  const { parked, listener } = parking()
  const { receive, answers, until, state, emptying, tracker, connect } = await scene(t, listener)
  const { client } = await connect()
  client.write(GET)
  await until(() => parked.length === 1)
  receive['leave-rotation'](ORDER)
  state.become('draining')
  const purpose = { onDeadline () {}, onLook () {}, onEmpty () {} }
  emptying.begin({ handoff: false, deadlineMs: 60_000, replayAfterMs: null }, purpose)
  t.equal(tracker.listenerCount('request'), 1, 'the close notice goes on')
  receive.rejoin({})
  t.equal(state.current, 'draining', 'it does not come back any more')
  t.same(answers(), [])
  receive['leave-rotation']({ ...ORDER, id: 2 })
  t.match(answers(), [{ id: 2, why: 'it is draining already' }])
  emptying.retract()
  t.equal(tracker.listenerCount('rest') + tracker.listenerCount('request'), 0)
})
