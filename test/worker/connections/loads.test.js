'use strict'

const { once } = require('node:events')
const t = require('tap')
const { Loads } = require('../../../lib/worker/connections/loads')
const { KEY, workerParts, received } = require('../../support/worker-parts')

t.test('a connection takes that part of the event loop which its requests are of all; an older one counts half as much as the next', async t => {
  const { tracker, connect, receive, connectElsewhere } = await workerParts(t)
  const [one, other, pinned] = [await connect(), await connect(), await connect()]
  one.client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  await received(one.client, '\r\n\r\n/')
  t.ok(one.connection.requests > 0, 'its requests are counted; trackers of other tests count them too')
  t.equal(other.connection.requests, 0)
  const loads = new Loads(tracker)
  loads.measure(0)
  pinned.connection.isPinned = true
  const measure = (/** @type {number[]} */ requests) => {
    for (const [i, { connection }] of [one, other, pinned].entries()) {
      connection.requests = 0
      if (connection === other.connection) tracker.requests.heard(connection, requests[i]) // of a WebSocket, say
      else connection.requests = requests[i]
      tracker.requests.begun += connection === other.connection ? 0 : requests[i]
    }
    loads.measure(1)
    return [one, other, pinned].map(({ connection: { load } }) => load)
  }
  t.same(measure([3, 0, 1]), [0.375, 0, 0.125])
  t.same([loads.movable, loads.fixed], [0.375, 1], 'a connection that cannot move is fixed, whatever it does')
  other.connection.sessionId = 'a'
  t.same(measure([0, 1, 0]), [0.1875, 0.5, 0.0625])
  t.same([loads.movable, loads.fixed], [0.1875, 2], 'so is one of a session')
  other.connection.sessionId = null
  t.same(measure([0, 0, 0]), [0.09375, 0.25, 0.03125], 'without requests none takes any')
  receive.move({ id: 1, parcel: { key: KEY, leftMs: null, load: 0.5 } }, (await connectElsewhere()).handle)
  t.equal([...tracker.connections].at(-1)?.load, 0.5, 'one that comes from a sibling does what it did there')
  t.equal(tracker.take(other.connection).load, 0.25)
})

t.test('of a connection that is offered across a heartbeat, the requests before count once', async t => {
  const { tracker, connect, handoff, receive, all } = await workerParts(t)
  const { connection } = await connect()
  const loads = new Loads(tracker)
  loads.measure(0)
  tracker.requests.heard(connection, 50)
  handoff.offer(connection)
  loads.measure(1)
  receive.moved({ id: connection.id, ok: false })
  tracker.requests.heard(connection, 1)
  loads.measure(1)
  t.equal(connection.load, 0.5, 'no more than the whole of the event loop, as it was before 0')
  handoff.offer(connection)
  t.equal(all('move')[1].parcel.load, 0.5)
})

t.test('a connection is lasting when it has been here for a second', async t => {
  const { tracker, connect } = await workerParts(t)
  const loads = new Loads(tracker)
  const old = [await connect(), await connect(), await connect()]
  t.equal(loads.lasting, 0)
  for (const { connection } of old) connection.since -= 1000
  t.equal(loads.lasting, 3)
  await connect()
  t.equal(loads.lasting, 3, 'the latest is not')
  const gone = once(tracker, 'gone')
  old[1].client.destroy()
  await gone
  t.equal(loads.lasting, 2)
})

t.test('or at once when it comes from a sibling, whatever came before it', async t => {
  const worker = await workerParts(t)
  await worker.connect()
  const { handle } = await worker.connectElsewhere()
  worker.receive.move({ id: 1, parcel: { key: KEY, leftMs: null } }, handle)
  await worker.connect()
  t.equal(new Loads(worker.tracker).lasting, 1)
})
