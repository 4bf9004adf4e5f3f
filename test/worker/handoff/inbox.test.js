'use strict'

const { EventEmitter, once } = require('node:events')
const net = require('node:net')
const { setImmediate } = require('node:timers/promises')
const t = require('tap')
const { detachHandle } = require('../../../lib/core/internals')
const { Inbox } = require('../../../lib/worker/handoff/inbox')

const KEY = '127.0.0.1:80:4::0'

/** An inbox with its channel and one acceptor, and real connections to be adopted. @param {any} t */
async function scene (t) {
  /** @type {Record<string, (fields: any, handle?: any) => void>} */
  const receive = {}
  /** @type {any[]} */
  const sent = []
  const channel = { on: (/** @type {any} */ handlers) => Object.assign(receive, handlers), send: (/** @type {string} */ type, /** @type {any} */ fields) => sent.push({ type, ...fields }) }
  /** @type {any[]} */
  const admitted = []
  const acceptors = new EventEmitter()
  const acceptor = {
    key: KEY,
    isMovable: true,
    server: { _connections: 0, maxConnections: 0, _emitCloseIfDrained () {} },
    admit (/** @type {any} */ handle, /** @type {any} */ arriving) {
      admitted.push({ handle, ...arriving })
      acceptors.emit('admitted')
    }
  }
  const admission = { isAtCeiling: false }
  const inbox = new Inbox(/** @type {any} */ (channel), new Set([(acceptor)]), /** @type {any} */ (admission))

  const listener = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (listener.address())
  t.teardown(() => {
    for (const { socket } of inbox.entries) socket?.destroy()
    for (const { handle } of admitted) handle.close()
    listener.close()
  })
  /** A client, and the handle of its connection on the side of the server. */
  const connect = async () => {
    const client = net.connect(port, '127.0.0.1')
    t.teardown(() => client.destroy())
    client.on('error', () => {})
    const [socket] = await once(listener, 'connection')
    return { client, handle: detachHandle(socket) }
  }
  return { receive, sent, admitted, acceptors, acceptor, admission, inbox, connect }
}

t.test('an adopted connection is held: it counts, and nothing is read before keep', async t => {
  const { receive, sent, admitted, acceptors, acceptor, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  t.same(sent, [{ type: 'adopted', id: 1 }])
  t.equal(acceptor.server._connections, 1)
  t.equal(inbox.entries.size, 1)
  t.same(inbox.movable, [], 'a held connection does not move on')
  await new Promise(resolve => client.write('GET / HTTP/1.1\r\n', resolve))
  const other = await connect() // the loop has turned, and the bytes are here
  t.same(admitted, [])

  receive.keep({ id: 1 })
  await once(acceptors, 'admitted')
  t.equal(String(admitted[0].bytes), 'GET / HTTP/1.1\r\n', 'its first bytes go with it')
  t.equal(admitted[0].handle, handle)
  t.equal(admitted[0].isPinned, false)
  t.equal(inbox.entries.size, 0)
  t.equal(acceptor.server._connections, 0, 'from here on the server counts it')
  other.handle.close()
})

t.test('a dropped connection is closed without a byte on it: another worker has it', async t => {
  const { receive, acceptor, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  receive.drop({ id: 1 })
  t.equal(inbox.entries.size, 0)
  t.equal(acceptor.server._connections, 0)
  client.resume()
  await once(client, 'close')
  t.doesNotThrow(() => receive.keep({ id: 1 }), 'nothing is kept after that')
})

for (const [why, prepare] of /** @type {const} */ ([
  ['this worker is leaving', (/** @type {any} */ s) => { s.inbox.isClosed = true }],
  ['no descriptors are left', (/** @type {any} */ s) => { s.admission.isAtCeiling = true }],
  ['nothing listens there', (/** @type {any} */ s) => { s.acceptor.key = 'another' }],
  ['connections of this server do not move', (/** @type {any} */ s) => { s.acceptor.isMovable = false }],
  ['maxConnections is reached', (/** @type {any} */ s) => Object.assign(s.acceptor.server, { maxConnections: 3, _connections: 3 })]
])) {
  t.test(`refused: ${why}`, async t => {
    const all = await scene(t)
    const { client, handle } = await all.connect()
    prepare(all)
    all.receive.adopt({ id: 5, key: KEY, leftMs: null }, handle)
    t.same(all.sent, [{ type: 'refused', id: 5, why }])
    t.equal(all.inbox.entries.size, 0)
    client.resume()
    await once(client, 'close') // this copy was the last one
  })
}

t.test('refused: no connection came with the message', async t => {
  const { receive, sent } = await scene(t)
  receive.adopt({ id: 5, key: KEY, leftMs: null }, undefined)
  t.same(sent, [{ type: 'refused', id: 5, why: 'no connection came with the message' }])
})

t.test('a waiting connection is closed at the end of its time, as closedIdle', async t => {
  const { receive, acceptor, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 50 }, handle)
  receive.keep({ id: 1 })
  client.resume()
  const [[entry, fate]] = await Promise.all([once(inbox, 'gone'), once(client, 'close')])
  t.equal(entry.handle, handle)
  t.equal(fate, 'closedIdle')
  t.equal(acceptor.server._connections, 0)
})

for (const [how, leave] of /** @type {const} */ ([
  ['ends', (/** @type {net.Socket} */ client) => client.end()],
  ['resets', (/** @type {net.Socket} */ client) => client.resetAndDestroy()]
])) {
  t.test(`a client that ${how} while it waits is closedByClient`, async t => {
    const { receive, acceptor, inbox, connect } = await scene(t)
    const { client, handle } = await connect()
    receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
    receive.keep({ id: 1 })
    const gone = once(inbox, 'gone')
    leave(client)
    const [, fate] = await gone
    t.equal(fate, 'closedByClient')
    t.equal(inbox.entries.size, 0)
    t.equal(acceptor.server._connections, 0)
  })
}

t.test('a connection that was reset does not move on', async t => {
  const { receive, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
  receive.keep({ id: 1 })
  const [entry] = inbox.entries
  t.equal(inbox.movable.length, 1)
  const movable = new Promise(resolve => entry.socket?.once('error', () => resolve(inbox.movable)))
  client.resetAndDestroy()
  t.same(await movable, [])
})

t.test('refused: this worker is out of rotation', async t => {
  const { receive, sent, admission, connect } = await scene(t)
  const { handle } = await connect()
  Object.assign(admission, { isOut: true })
  receive.adopt({ id: 5, key: KEY, leftMs: null }, handle)
  t.same(sent, [{ type: 'refused', id: 5, why: 'this worker is out of rotation' }])
})

t.test('a waiting connection can move on, open and unread', async t => {
  const { receive, acceptor, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
  receive.keep({ id: 1 })
  const [entry] = inbox.movable
  t.equal(inbox.release(entry), handle)
  t.same(inbox.movable, [])
  t.equal(acceptor.server._connections, 0)

  client.write('to the next worker')
  const next = new net.Socket({ handle })
  const [chunk] = await once(next, 'data')
  t.equal(String(chunk), 'to the next worker')
  next.destroy()
})

t.test('a returned offer waits here, and stays', async t => {
  const { admitted, acceptors, acceptor, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  inbox.takeBack(handle, /** @type {any} */ (acceptor), 60_000)
  t.same(inbox.movable, [])
  client.write('hello')
  await once(acceptors, 'admitted')
  t.match(admitted, [{ isPinned: true }])
  t.equal(String(admitted[0].bytes), 'hello')
})

t.test('when the primary has exited, held connections are kept', async t => {
  const { receive, admitted, acceptors, inbox, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  inbox.keepAll()
  client.write('hello')
  await once(acceptors, 'admitted')
  t.equal(admitted.length, 1)
})

t.test('closing the inbox keeps connections not read yet: a request may have arrived already', async t => {
  const { receive, inbox, connect } = await scene(t)
  const [a, b] = [await connect(), await connect()]
  receive.adopt({ id: 1, key: KEY, leftMs: null }, a.handle)
  receive.keep({ id: 1 })
  const idle = [...inbox.entries][0]
  while (!idle.isIdle) await setImmediate()
  receive.adopt({ id: 2, key: KEY, leftMs: null }, b.handle)
  receive.keep({ id: 2 })
  inbox.close(60_000)
  t.notOk(idle.socket?.destroyed, 'the connection has not been idle for a minute')
  const gone = once(inbox, 'gone')
  inbox.close(0)
  const [entry, fate] = await gone
  t.equal(entry.handle, a.handle)
  t.equal(fate, 'closedIdle')
  t.same([...inbox.entries].map(g => g.handle === b.handle), [true])
})
