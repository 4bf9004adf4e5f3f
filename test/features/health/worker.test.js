'use strict'

const t = require('tap')
const { part: offerProbe } = require('../../../lib/features/health/worker')
const { received, workerParts } = require('../../support/worker-parts')

const HEAD = 'GET /healthz HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n'

/** @param {any} t tap's */
async function probed (t) {
  const worker = await workerParts(t)
  offerProbe(/** @type {any} */ (worker))
  return worker
}

t.test('the app answers a probe, and the tracker knows nothing of it', async t => {
  const { receive, sent, tracker, connectElsewhere, server } = await probed(t)
  const { client, handle } = await connectElsewhere()
  receive.probe({ id: 7 }, handle)
  t.same(sent, [{ type: 'answer', id: 7, why: null, isTls: false }])
  client.write(HEAD)
  t.match(await received(client, '/healthz'), /^HTTP\/1\.1 200 OK/)
  t.match(tracker, { total: 0, requests: { begun: 0, inFlight: 0 } })
  t.equal(tracker.connections.size, 0)
  t.ok(server._connections <= 1)
})

for (const [what, prepare, answer] of /** @type {const} */ ([
  ['a worker that leaves', (/** @type {any} */ w) => w.state.become('draining'), { why: 'this worker is draining', isSkipped: true }],
  ['a server at its maxConnections', (/** @type {any} */ w) => { Object.assign(w.server, { maxConnections: 1, _connections: 1 }) }, { why: 'maxConnections is reached', isSkipped: true }],
  ['an app without an HTTP server', (/** @type {any} */ w) => { w.acceptor.isClosed = true }, { why: 'no HTTP server listens', isSkipped: false }]
])) {
  t.test(`${what} is not probed; only the last of these is its failure`, async t => {
    const worker = await probed(t)
    prepare(worker)
    const { client, handle } = await worker.connectElsewhere()
    worker.receive.probe({ id: 1 }, handle)
    t.match(worker.sent, [{ type: 'answer', id: 1, ...answer }])
    client.resume()
    await new Promise(resolve => client.once('close', resolve))
    if (what.startsWith('a server')) worker.server._connections = 0
  })
}
