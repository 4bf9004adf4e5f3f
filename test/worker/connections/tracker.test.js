'use strict'

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { Duplex } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const t = require('tap')
const { ConnectionTracker } = require('../../../lib/worker/connections/tracker')
const { workerParts } = require('../../support/worker-parts')

/** @param {import('tap').Test} t */
async function start (t) {
  const tracker = new ConnectionTracker()
  const server = http.createServer((_, response) => response.end('ok'))
  const acceptor = /** @type {any} */ ({ server, isOfOurs: () => true })
  tracker.watch(acceptor)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const connect = async () => {
    const came = once(tracker, 'connection')
    const socket = net.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1')
    const [connection] = await came
    return { socket, connection }
  }
  return { tracker, acceptor, connect }
}

t.test('an idle connection is taken, and comes back, as the same one; it counts until its handle is closed', async t => {
  const { tracker, connect, server } = await workerParts(t)
  const { connection } = await connect()
  const other = await connect()
  const parcel = tracker.take(connection)
  t.equal(connection.stage, 'offered')
  t.same([tracker.connections.size, tracker.total], [1, 2])
  tracker.adopt(connection, parcel, connection.handle)
  t.equal(connection.stage, 'held')
  t.same([...tracker.connections].map(c => c === connection), [false, true], 'behind the others')
  t.same([tracker.connections.size, tracker.total, server._connections], [2, 2, 2])
  const gone = once(tracker, 'gone')
  connection.handle?.close()
  t.equal((await gone)[0], connection)
  t.same([tracker.connections.size, tracker.total, server._connections], [1, 1, 1])
  other.client.destroy()
})

t.test('the clock is not read for each request, unless something listens for their ends; a look says when', async t => {
  const { tracker, connect } = await start(t)
  /** @type {any[]} */
  const exchanges = []
  tracker.requests.starting = (_, exchange) => { exchanges.push({ ...exchange }) }
  const { socket, connection } = await connect()
  const ask = async () => {
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    await turn()
    return [exchanges.at(-1).since === null, connection.idleSince === null]
  }
  t.same(await ask(), [true, true])
  const before = performance.now()
  tracker.sweep()
  t.ok(connection.idleSince >= before && connection.idleSince <= performance.now())
  t.same(await ask(), [true, true])
  const heard = () => {}
  tracker.on('rest', heard)
  t.ok(connection.idleSince > before, 'of what ended before, as of now')
  t.same(await ask(), [false, false])
  tracker.removeListener('rest', heard)
  t.same(await ask(), [true, true])
  t.same(exchanges.map(({ number }) => number), [0, 1, 2, 3])
  socket.destroy()
})

/** @param {string} name */
const read = name => fs.readFileSync(path.join(__dirname, '..', '..', 'fixtures', name))

t.test('a TLS connection whose listeners the app has taken off is gone when it is closed', async t => {
  const tracker = new ConnectionTracker()
  const server = https.createServer({ key: read('localhost.key'), cert: read('localhost.crt') }, (request, response) => {
    for (const socket of [request.socket, /** @type {any} */ (request.socket)._parent]) socket.removeAllListeners('close')
    response.end('ok')
  })
  tracker.watch(/** @type {any} */ ({ server, isOfOurs: () => true }))
  const ours = server.listeners('secureConnection')[0]
  server.removeListener('secureConnection', /** @type {any} */ (ours))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const client = tls.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1', { rejectUnauthorized: false })
  client.on('error', () => {})
  await once(client, 'secureConnect')
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(client, 'data')
  t.equal(tracker.requests.begun, 1, 'its request was counted, though no listener has told of its TLS')
  t.equal(tracker.connections.size, 1)
  const gone = once(tracker, 'gone')
  client.destroy()
  await gone
  t.equal(tracker.connections.size, 0)
  t.equal(tracker.requests.inFlight, 0)
})

t.test('what the app feeds its server with and is no TCP or pipe is gone when it closes, or at the next sweep', async t => {
  const { tracker, acceptor } = await start(t)
  const feed = () => {
    const stream = new Duplex({ read () {}, write: (chunk, encoding, done) => done() })
    acceptor.server.emit('connection', stream)
    return stream
  }
  const closing = feed()
  const gone = once(tracker, 'gone')
  closing.destroy()
  await gone
  t.equal(tracker.connections.size, 0)

  const silent = feed()
  t.equal(tracker.connections.size, 1)
  silent.removeAllListeners('close')
  silent.destroy()
  await turn()
  t.equal(tracker.connections.size, 1)
  tracker.sweep()
  t.equal(tracker.connections.size, 0)
})
