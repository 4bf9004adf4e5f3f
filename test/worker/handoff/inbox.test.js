'use strict'

const { once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { loadAddon } = require('../../../lib/native/addon')
const { KEY, received, turn, workerParts } = require('../../support/worker-parts')

const HEAD = 'GET /asked HTTP/1.1\r\nHost: here\r\n\r\n'

/** @param {number} id @param {number | null} [leftMs] @param {string} [bytes] */
const adopt = (id, leftMs = null, bytes) => ({ id, parcel: { key: KEY, leftMs, ...(bytes !== undefined && { bytes: Buffer.from(bytes, 'latin1').toString('base64') }) } })

/** As the heartbeat does. @param {any} t @param {any} worker */
function sweep (t, { inbox }) {
  const timer = setInterval(() => inbox.sweep(), 5)
  t.teardown(() => clearInterval(timer))
}

/** A connection that waits in the inbox. @param {any} worker @param {number | null} [leftMs] */
async function waiting (worker, leftMs = null) {
  const { client, handle } = await worker.connectElsewhere()
  worker.receive.move(adopt(1, leftMs), handle)
  worker.receive.moved({ id: 1, ok: true })
  return { client, handle, connection: [...worker.tracker.connections].at(-1) }
}

t.test('an adopted connection is held: it counts, and nothing is read before keep', async t => {
  const worker = await workerParts(t)
  const { receive, sent, server, tracker } = worker
  const { client, handle } = await worker.connectElsewhere()
  receive.move(adopt(1), handle)
  t.same(sent, [{ type: 'moved', id: 1, ok: true }])
  t.equal(server._connections, 1)
  t.equal(tracker.connections.size, 1)
  const [connection] = tracker.connections
  t.equal(connection.isIdle, false, 'a held connection does not move')
  await new Promise(resolve => client.write(HEAD, resolve))
  await turn()
  t.equal(tracker.requests.begun, 0)

  receive.moved({ id: 1, ok: true })
  t.match(await received(client, '/asked'), /^HTTP\/1\.1 200 OK/)
  t.same([...tracker.connections], [connection], 'it is the same connection')
  t.match(connection, { stage: 'served', isAdopted: true, isPinned: false })
  t.equal(server._connections, 1, 'from here on the server counts it')
  const gone = once(tracker, 'gone')
  client.destroy()
  await gone
  t.equal(server._connections, 0)
})

t.test('a connection that is dropped is closed without a word to its client: another worker has it', async t => {
  const worker = await workerParts(t)
  const { receive, server, tracker } = worker
  const { client, handle } = await worker.connectElsewhere()
  receive.move(adopt(1), handle)
  const gone = once(tracker, 'gone')
  receive.moved({ id: 1, ok: false })
  t.equal((await gone)[0].fate, 'moved')
  t.equal(tracker.total, 0)
  t.equal(server._connections, 0)
  client.resume()
  await once(client, 'close')
  t.doesNotThrow(() => receive.moved({ id: 1, ok: true }), 'nothing is kept after that')
})

for (const [why, prepare] of /** @type {const} */ ([
  ['this worker is leaving', (/** @type {any} */ w) => w.state.become('draining')],
  ['this worker is out of rotation', (/** @type {any} */ w) => w.state.become('leaving')],
  ['no descriptors are left', (/** @type {any} */ w) => { w.admission.isAtCeiling = true }],
  ['nothing listens there', (/** @type {any} */ w) => { w.acceptor.key = 'another' }],
  ['connections of this server do not move', (/** @type {any} */ w) => { w.acceptor.isMovable = false }],
  ['maxConnections is reached', (/** @type {any} */ w) => Object.assign(w.server, { maxConnections: 3, _connections: 3 })]
])) {
  t.test(`refused: ${why}`, async t => {
    const worker = await workerParts(t)
    const { client, handle } = await worker.connectElsewhere()
    prepare(worker)
    worker.receive.move(adopt(5), handle)
    t.same(worker.sent, [{ type: 'moved', id: 5, ok: false, ...why === 'maxConnections is reached' && { isStalled: true } }])
    t.equal(worker.tracker.total, 0)
    client.resume()
    await once(client, 'close') // our copy was the last one
  })
}

t.test('refused: no connection came with the message', async t => {
  const { receive, sent } = await workerParts(t)
  receive.move(adopt(5), undefined)
  t.same(sent, [{ type: 'moved', id: 5, ok: false }])
})

t.test('a waiting connection is closed when what was left of its time is over', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const gone = once(worker.tracker, 'gone')
  const { client, connection } = await waiting(worker, 50)
  client.resume()
  await Promise.all([gone, once(client, 'close')])
  t.equal(connection.stage, 'gone')
  t.notOk(connection.socket.readableEnded || connection.socket.errored, 'the account calls it closedIdle')
  t.equal(worker.server._connections, 0)
})

for (const [how, leave] of /** @type {const} */ ([
  ['ends', (/** @type {net.Socket} */ client) => client.end()],
  ['resets', (/** @type {net.Socket} */ client) => client.resetAndDestroy()]
])) {
  t.test(`a client that ${how} while its connection waits has closed it`, async t => {
    const worker = await workerParts(t)
    const gone = once(worker.tracker, 'gone')
    const { client, connection } = await waiting(worker, 60_000)
    leave(client)
    await gone
    t.ok(connection.socket.readableEnded || connection.socket.errored, 'the account calls it closedByClient')
    t.equal(worker.tracker.total, 0)
    t.equal(worker.server._connections, 0)
  })
}

t.test('a connection that has been reset does not move', async t => {
  const worker = await workerParts(t)
  const { client, connection } = await waiting(worker, 60_000)
  t.ok(connection.isIdle)
  const idle = new Promise(resolve => {
    worker.tracker.witness = /** @type {any} */ ({ closing: (/** @type {any} */ closed) => resolve(closed.isIdle) })
  })
  client.resetAndDestroy()
  t.equal(await idle, false)
  worker.tracker.witness = null
})

t.test('a waiting connection has no socket of net\'s, and nothing is read of it until its client sends', async t => {
  const worker = await workerParts(t)
  const { client, handle, connection } = await waiting(worker, 60_000)
  t.notOk(connection.socket instanceof net.Socket)
  t.match(connection, { stage: 'waiting', isIdle: true, isEnding: false, isQuiet: true, isPortable: true })
  t.equal(handle.bytesRead, 0)
  client.write(HEAD)
  t.match(await received(client, '/asked'), /^HTTP\/1\.1 200 OK/)
  t.ok(connection.socket instanceof net.Socket)
  client.destroy()
})

t.test('a waiting connection can move on, alive and unread', async t => {
  const worker = await workerParts(t)
  const { client, handle, connection } = await waiting(worker, 60_000)
  const parcel = worker.tracker.take(connection)
  t.equal(connection.handle, handle)
  t.match(parcel, { key: KEY, bytes: undefined })
  t.ok(/** @type {number} */ (parcel.leftMs) > 50_000)
  t.equal(worker.server._connections, 0)
  t.equal(worker.tracker.connections.size, 0)
  t.equal(worker.tracker.total, 1, 'until its handle is closed here')

  client.write('to the next worker')
  const next = new net.Socket({ handle })
  const [chunk] = await once(next, 'data')
  t.equal(String(chunk), 'to the next worker')
  next.destroy()
})

t.test('the bytes of a parcel are served with what follows them, byte for byte', async t => {
  const worker = await workerParts(t, (request, response) => {
    /** @type {Buffer[]} */
    const parts = []
    request.on('data', part => parts.push(part)).on('end', () => response.end(Buffer.concat(parts)))
  })
  const body = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256))
  const request = Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\nHost: here\r\nContent-Length: ${body.length}\r\n\r\n`), body])
  for (const split of [1, 20, request.length - 700, request.length]) {
    const { client, handle } = await worker.connectElsewhere()
    worker.receive.move(adopt(split, 60_000, request.toString('latin1', 0, split)), handle)
    t.equal(worker.tracker.connections.size, 1)
    worker.receive.moved({ id: split, ok: true })
    const [connection] = worker.tracker.connections
    await turn()
    worker.tracker.noteIdle()
    if (split < request.length) t.equal(connection.isIdle, false, 'half a request has been received')
    /** @type {Buffer[]} */
    const got = []
    const ended = new Promise(resolve => client.on('data', chunk => {
      got.push(chunk)
      if (Buffer.concat(got).includes(body)) resolve(undefined)
    }))
    client.write(request.subarray(split))
    await ended
    const gone = once(worker.tracker, 'gone')
    client.destroy()
    await gone
  }
})

t.test('when the primary has exited, held connections are ours that it had given to this worker, or that the one which had lent them gives it within a second', { skip: loadAddon().missing ?? false }, async t => {
  const { addon } = loadAddon()
  const worker = await workerParts(t)
  const connections = []
  for (const id of [1, 2, 3]) {
    const connection = await worker.connectElsewhere()
    worker.receive.move(adopt(id), connection.handle)
    connections.push(connection)
  }
  const [ours, lent, others] = connections
  addon.own(ours.handle.fd, process.pid)
  addon.own(others.handle.fd, process.ppid)
  const gone = once(worker.tracker, 'gone')
  worker.handoff.endAll(false)
  ours.client.write(HEAD)
  t.match(await received(ours.client, '/asked'), /200 OK/)
  addon.own(lent.handle.fd, process.pid)
  t.equal((await gone)[0].id, 3, 'it is closed')
  lent.client.write(HEAD)
  t.match(await received(lent.client, '/asked'), /200 OK/)
})

t.test('of a connection that is held as the primary exits, and is offered anew by the next one, one copy is left', { skip: loadAddon().missing ?? false }, async t => {
  const worker = await workerParts(t)
  const first = await worker.connectElsewhere()
  const second = await worker.connectElsewhere()
  worker.receive.move(adopt(1), first.handle)
  worker.handoff.endAll(false)
  const gone = once(worker.tracker, 'gone')
  worker.receive.move(adopt(1), second.handle)
  worker.receive.moved({ id: 1, ok: true })
  t.ok(first.handle.fd < 0, 'it is closed')
  await gone
  second.client.write(HEAD)
  t.match(await received(second.client, '/asked'), /200 OK/)
  t.equal(worker.tracker.total, 1)
})

t.test('closing the inbox spares a connection that has not been polled yet: a request may be there already', async t => {
  const worker = await workerParts(t)
  const idle = await waiting(worker)
  worker.inbox.close(60_000)
  await turn()
  await turn()
  t.notOk(idle.connection.socket.destroyed, 'it has not been idle for a minute')
  const { client, handle } = await worker.connectElsewhere()
  await new Promise(resolve => client.write(HEAD, resolve)) // the bytes are in the kernel
  worker.receive.move(adopt(2), handle)
  worker.receive.moved({ id: 2, ok: true })
  const gone = once(worker.tracker, 'gone')
  worker.inbox.close(0)
  const later = await worker.connectElsewhere()
  setImmediate(() => {
    worker.receive.move(adopt(3), later.handle)
    worker.receive.moved({ id: 3, ok: true })
  })
  t.match(await received(client, '/asked'), /^HTTP\/1\.1 200 OK/)
  t.equal((await gone)[0], idle.connection)
  await turn()
  t.same([...worker.tracker.connections].map(({ id, stage }) => [id, stage]), [[2, 'served'], [3, 'waiting']])
})

/** Holds the thread, as a request of another connection does in a busy worker. @param {number} ms */
function block (ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('a request that came while its connection moved is served, though the idle time ended on the way', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const { client, handle } = await worker.connectElsewhere()
  worker.receive.move(adopt(1, 20), handle)
  await new Promise(resolve => client.write(HEAD, resolve)) // in time: the bytes are in the kernel
  block(30)
  worker.receive.moved({ id: 1, ok: true })
  block(5)
  t.match(await received(client, '/asked'), /^HTTP\/1\.1 200 OK/)
})

t.test('a request that came in time is served by a worker that was too busy to read it before the idle time ended', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const { client } = await waiting(worker, 200)
  await turn()
  await new Promise(resolve => client.write(HEAD, () => {
    block(250)
    resolve(undefined)
  }))
  t.match(await received(client, '/asked'), /^HTTP\/1\.1 200 OK/)
})

t.test('each connection is closed when its own idle time has ended, also where that of a later one ends first', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const ends = []
  for (const [i, leftMs] of [500, 20, null, 250, 25].entries()) {
    const { client, handle } = await worker.connectElsewhere()
    worker.receive.move(adopt(i, leftMs), handle)
    worker.receive.moved({ id: i, ok: true })
    const began = performance.now()
    client.resume().on('close', () => ends.push([leftMs, performance.now() - began]))
  }
  while (ends.length < 4) await turn()
  t.same(ends.map(([leftMs]) => leftMs).sort((a, b) => a - b), [20, 25, 250, 500])
  for (const [leftMs, ms] of ends) t.ok(ms >= leftMs - 5, `${ms} of ${leftMs} ms`)
  t.equal(worker.tracker.total, 1, 'one may stay for ever')
})

t.test('a connection that is held as the app closes its server is closed, unless its request is there', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const [idle, asking] = [await worker.connectElsewhere(), await worker.connectElsewhere()]
  await new Promise(resolve => asking.client.write(HEAD, resolve))
  for (const [i, { handle }] of [idle, asking].entries()) worker.receive.move(adopt(i), handle)
  worker.acceptor.isClosed = true
  worker.inbox.close(0, worker.acceptor)
  await turn()
  for (const id of [0, 1]) worker.receive.moved({ id, ok: true })
  t.match(await received(asking.client, '/asked'), /^HTTP\/1\.1 200 OK/)
  idle.client.resume()
  await once(idle.client, 'close')
  t.equal(worker.tracker.total, 1)
})

t.test('without a request the connection is closed when its idle time has ended', async t => {
  const worker = await workerParts(t)
  sweep(t, worker)
  const { client, handle } = await worker.connectElsewhere()
  worker.receive.move(adopt(1, 20), handle)
  block(30)
  worker.receive.moved({ id: 1, ok: true })
  client.resume()
  await once(client, 'close')
  t.equal(worker.tracker.total, 0)
})
