'use strict'

const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { performance } = require('node:perf_hooks')
const t = require('tap')
const { extend, part: keepAlive } = require('../../../lib/features/keep-alive/worker')
const { received, workerParts } = require('../../support/worker-parts')

const { keepAliveTimeout: NODES_MS, headersTimeout } = new http.Server()
const REQUEST = 'GET /a HTTP/1.1\r\nHost: here\r\n'

t.test('a server has the timeout from its first connection on, and what the app sets before or after it holds', async t => {
  const { connect, server, ...worker } = await workerParts(t)
  keepAlive(/** @type {any} */ (worker), { timeoutMs: 65_000 })
  t.equal(server.keepAliveTimeout, NODES_MS)
  await connect()
  t.equal(server.keepAliveTimeout, 65_000)
  server.keepAliveTimeout = 5000
  await connect()
  t.equal(server.keepAliveTimeout, 5000, 'set later')
  const other = await workerParts(t)
  other.server.keepAliveTimeout = 7000
  keepAlive(/** @type {any} */ (other), { timeoutMs: 65_000 })
  await other.connect()
  t.equal(other.server.keepAliveTimeout, 7000, 'set before')
})

t.test('the time for a head follows, up to that for a request: a proxy opens connections ahead of its requests', async t => {
  for (const [timeoutMs, expected, own = {}] of /** @type {[number, number, Record<string, number>?][]} */ ([
    [30_000, headersTimeout], [65_000, 66_000], [620_000, 300_000], [620_000, 621_000, { requestTimeout: 0 }],
    [65_000, 10_000, { headersTimeout: 10_000 }]
  ])) {
    const server = Object.assign(http.createServer(), own)
    extend(server, timeoutMs)
    t.match(server, { keepAliveTimeout: timeoutMs, headersTimeout: expected })
  }
  const server = net.createServer()
  extend(server, 65_000)
  t.equal(/** @type {any} */ (server).keepAliveTimeout, undefined, 'not of a server that has no such timeout')
})

t.test('it does not end a connection that is idle between two requests for longer', async t => {
  const server = http.createServer({
    keepAliveTimeout: 5000, headersTimeout: 300, connectionsCheckingInterval: 50
  }, (request, response) => response.end(request.url))
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = net.connect(/** @type {import('node:net').AddressInfo} */ (server.address()).port, '127.0.0.1')
  t.teardown(() => client.destroy())
  client.write(`${REQUEST}\r\n`)
  await received(client, '/a')
  await new Promise(resolve => setTimeout(resolve, 1000))
  client.write(`${REQUEST}\r\n`)
  t.match(await received(client, '/a'), /^HTTP\/1\.1 200 /)
})

t.test('a request of a proxy on a connection that was idle for long is told once', { skip: NODES_MS !== 5000 && 'this Node.js has another default' }, async t => {
  const { connect, sent, server, ...worker } = await workerParts(t)
  const { beat } = keepAlive(/** @type {any} */ ({ ...worker, beatMs: 100 }), { timeoutMs: null })
  const { client, connection } = await connect()
  const isHeard = (/** @type {number | null} */ idleMs, /** @type {Record<string, string>} */ headers) =>
    worker.tracker.emit('request', { ...connection, idleSince: idleMs && performance.now() - idleMs, acceptor: { server } }, {}, { headers })
  t.notOk(isHeard(4500, { via: '1.1 proxy' }), 'while none is idle for long')
  connection.idleSince = performance.now() - 4500
  beat?.()
  t.ok(isHeard(null, { via: '1.1 proxy' }), 'its first')
  isHeard(4400, { 'x-forwarded-for': '10.0.0.1' })
  isHeard(4500, {})
  server.keepAliveTimeout = 65_000
  isHeard(4500, { via: '1.1 proxy' })
  server.keepAliveTimeout = 5000
  t.same(sent, [])
  connection.idleSince = performance.now() - 4500
  client.write(`${REQUEST}Via: 1.1 proxy\r\n\r\n`)
  await received(client, '/a')
  t.notOk(isHeard(4500, { via: '1.1 proxy' }), 'no longer')
  t.match(sent, [{ type: 'proxy-idle', header: 'Via', idleMs: Number, timeoutMs: 5000 }])
  t.ok(sent.length === 1 && sent[0].idleMs >= 4500)
})

t.test('requests are looked at only while a connection is idle for nearly that long', { skip: NODES_MS !== 5000 && 'this Node.js has another default' }, async t => {
  const { connect, tracker, ...worker } = await workerParts(t)
  const { beat } = keepAlive(/** @type {any} */ ({ ...worker, tracker, beatMs: 100 }), { timeoutMs: null })
  const { client, connection } = await connect()
  const looks = (/** @type {number} */ idleMs) => {
    connection.idleSince = performance.now() - idleMs
    beat?.()
    return tracker.listenerCount('request')
  }
  client.write(`${REQUEST}\r\n`)
  await received(client, '/a')
  t.same([looks(0), looks(4000), looks(4400), looks(4800), looks(10)], [0, 0, 1, 1, 0])
})
