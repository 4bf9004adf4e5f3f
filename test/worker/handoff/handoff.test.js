'use strict'

const t = require('tap')
const { hasMost } = require('../../../lib/core/internals')
const { KEY, workerParts, received, turn } = require('../../support/worker-parts')

const REQUEST = Buffer.from('GET /held HTTP/1.1\r\nHost: here\r\n\r\n')

t.test('when the primary has died, all that no sibling reads stays here and is served', async t => {
  const { connect, handoff, channel, all, tracker } = await workerParts(t)
  const offered = [await connect(), await connect(), await connect()]
  for (const { connection } of offered) handoff.offer(connection, REQUEST)
  t.equal(all('move').length, 2)
  channel.isUp = false
  handoff.relinquish(true)
  const answers = await Promise.all(offered.map(({ client }) => received(client, '/held')))
  t.ok(answers.every(text => text.startsWith('HTTP/1.1 200')))
  t.equal(tracker.total, 3)
})

t.test('when no answer comes any more, what has not been offered yet stays here and is served; the outcome of the rest is unknown', async t => {
  const { connect, handoff, tracker, channel, all } = await workerParts(t)
  const [first, second, third, fourth] = [await connect(), await connect(), await connect(), await connect()]
  for (const { connection } of [first, second, third, fourth]) handoff.offer(connection, REQUEST)
  t.equal(all('move').length, 2, 'no more than two are on their way at once')
  channel.isUp = false
  handoff.relinquish()
  const answers = await Promise.all([third, fourth].map(({ client }) => received(client, '/held')))
  t.ok(answers.every(text => text.startsWith('HTTP/1.1 200')))
  await turn()
  t.same([first, second].map(({ connection }) => connection.fate), ['unacked', 'unacked'])
  t.equal(tracker.total, 2)
})

t.test('of a connection that is noted for the primary the handle goes along only if that asks for it', async t => {
  const { connect, handoff, receive, all } = await workerParts(t)
  const { connection, client } = await connect()
  connection.copy = { row: 4, serial: connection.id }
  handoff.offer(connection, REQUEST)
  t.match(all('move'), [{ id: connection.id, parcel: { row: 4 }, handle: undefined }])
  receive.moved({ id: connection.id, ok: false, isMissing: true })
  t.match(all('move')[1], { id: connection.id, parcel: { row: undefined }, handle: Object })
  receive.moved({ id: connection.id, ok: false, isMissing: true })
  t.equal(all('move').length, 2, 'and once')
  t.match(await received(client, '/held'), /^HTTP\/1.1 200/)
})

t.test('one that the app still sees as open, while it is offered, counts once', async t => {
  const { connect, handoff, receive } = await workerParts(t)
  const { connection } = await connect()
  const { server } = connection.acceptor
  server.maxConnections = 2
  const trail = { back () {}, moved () {}, lost () {} }
  handoff.offer(connection, undefined, { kind: 'a', state: Buffer.alloc(0), unread: Buffer.alloc(0), trail })
  t.equal(hasMost(server), false)
  receive.moved({ id: connection.id, ok: false })
  server.maxConnections = 1
  t.equal(hasMost(server), true)
})

t.test('a connection that is offered keeps its place in a server that has its maxConnections: no sibling\'s takes it, and it is served when it comes back', async t => {
  const { connect, connectElsewhere, handoff, receive, sent, tracker } = await workerParts(t)
  const [{ connection, client }] = [await connect(), await connect()]
  const { server } = connection.acceptor
  server.maxConnections = 2
  handoff.offer(connection, REQUEST)
  t.equal(hasMost(server), true)
  receive.move({ id: 7, parcel: { key: KEY, leftMs: null } }, (await connectElsewhere()).handle)
  t.match(sent.at(-1), { type: 'moved', id: 7, ok: false, isStalled: true })
  receive.moved({ id: connection.id, ok: false })
  t.match(await received(client, '/held'), /^HTTP\/1.1 200/)
  handoff.offer(connection, REQUEST)
  receive.moved({ id: connection.id, ok: true })
  await turn()
  t.same([hasMost(server), tracker.total], [false, 1], 'a sibling has it: its place is free')
})
