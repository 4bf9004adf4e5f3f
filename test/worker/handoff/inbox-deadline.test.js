'use strict'

/**
 * A request that reaches the kernel while its connection moves is older than the deadline that expires meanwhile. The worker that
 * adopts the connection must read before it closes: a close with unread bytes is a reset, and a proxy answers 502.
 */

const { once } = require('node:events')
const net = require('node:net')
const { performance } = require('node:perf_hooks')
const t = require('tap')
const { detachHandle } = require('../../../lib/core/internals')
const { Inbox } = require('../../../lib/worker/handoff/inbox')

const KEY = '127.0.0.1:80:4::0'
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** Keeps the thread busy, as a request of another connection does in a worker under load. @param {number} ms */
function block (ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** An idle connection of a worker: the client, and the detached handle. @param {any} t */
async function connect (t) {
  const listener = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => listener.close())
  const client = net.connect(/** @type {net.AddressInfo} */ (listener.address()).port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  const [socket] = await once(listener, 'connection')
  return { client, handle: detachHandle(socket) }
}

/** An inbox whose requests and closed connections are lists. */
function openInbox () {
  /** @type {Record<string, (fields: any, handle?: any) => void>} */
  const receive = {}
  /** @type {string[]} */
  const outcome = []
  const acceptor = {
    key: KEY,
    isMovable: true,
    server: { _connections: 0, maxConnections: 0, _emitCloseIfDrained () {} },
    admit (/** @type {any} */ handle, /** @type {any} */ { bytes }) {
      outcome.push(String(bytes))
      handle.close()
    }
  }
  const channel = { on: (/** @type {any} */ handlers) => Object.assign(receive, handlers), send () {} }
  const inbox = new Inbox(/** @type {any} */ (channel), /** @type {any} */ (new Set([acceptor])), /** @type {any} */ ({ isAtCeiling: false, isOut: false }))
  inbox.on('gone', (entry, fate) => outcome.push(fate))
  return { receive, inbox, outcome }
}

t.test('a request that came while the connection moved is served, though its idle time ended on the way', async t => {
  const { client, handle } = await connect(t)
  const { receive, inbox, outcome } = openInbox()
  receive.adopt({ id: 1, key: KEY, leftMs: 20 }, handle)
  await new Promise(resolve => client.write(REQUEST, resolve)) // in time: the bytes are in the kernel
  block(30)
  receive.keep({ id: 1 })
  block(5)
  while (outcome.length === 0) await new Promise(resolve => setImmediate(resolve))
  t.same(outcome, [REQUEST])
  t.equal(inbox.entries.size, 0)
})

t.test('a request that came in time is served by a worker that was too busy to read it before the idle time ended', async t => {
  const { client, handle } = await connect(t)
  const { receive, outcome } = openInbox()
  receive.adopt({ id: 1, key: KEY, leftMs: 200 }, handle)
  receive.keep({ id: 1 })
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  await new Promise(resolve => client.write(REQUEST, () => {
    block(250)
    resolve(undefined)
  }))
  while (outcome.length === 0) await new Promise(resolve => setImmediate(resolve))
  t.same(outcome, [REQUEST])
})

t.test('a connection without a request is closed when its idle time ended on the way', async t => {
  const { handle } = await connect(t)
  const { receive, outcome } = openInbox()
  receive.adopt({ id: 1, key: KEY, leftMs: 20 }, handle)
  block(30)
  receive.keep({ id: 1 })
  while (outcome.length === 0) await new Promise(resolve => setImmediate(resolve))
  t.same(outcome, ['closedIdle'])
})
