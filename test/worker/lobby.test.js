'use strict'

const { EventEmitter, once } = require('node:events')
const net = require('node:net')
const { setImmediate } = require('node:timers/promises')
const t = require('tap')
const { detachHandle } = require('../../lib/core/internals')
const { Lobby } = require('../../lib/worker/lobby')

const KEY = '127.0.0.1:80:4::0'

/** A lobby with its channel and one gate, and real connections to be adopted. @param {any} t */
async function scene (t) {
  /** @type {Record<string, (fields: any, handle?: any) => void>} */
  const receive = {}
  /** @type {any[]} */
  const sent = []
  const link = { on: (/** @type {any} */ handlers) => Object.assign(receive, handlers), send: (/** @type {string} */ type, /** @type {any} */ fields) => sent.push({ type, ...fields }) }
  /** @type {any[]} */
  const admitted = []
  const gates = new EventEmitter()
  const gate = {
    key: KEY,
    isMovable: true,
    server: { _connections: 0, maxConnections: 0, _emitCloseIfDrained () {} },
    admit (/** @type {any} */ handle, /** @type {any} */ arriving) {
      admitted.push({ handle, ...arriving })
      gates.emit('admitted')
    }
  }
  const admission = { isAtCeiling: false }
  const lobby = new Lobby(/** @type {any} */ (link), new Set([(gate)]), /** @type {any} */ (admission))

  const listener = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (listener.address())
  t.teardown(() => {
    for (const { socket } of lobby.guests) socket?.destroy()
    for (const { handle } of admitted) handle.close()
    listener.close()
  })
  /** A client, and the handle of its connection on this side. */
  const connect = async () => {
    const client = net.connect(port, '127.0.0.1')
    t.teardown(() => client.destroy())
    client.on('error', () => {})
    const [socket] = await once(listener, 'connection')
    return { client, handle: detachHandle(socket) }
  }
  return { receive, sent, admitted, gates, gate, admission, lobby, connect }
}

t.test('an adopted connection is held: it counts, and nothing is read before keep', async t => {
  const { receive, sent, admitted, gates, gate, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  t.same(sent, [{ type: 'adopted', id: 1 }])
  t.equal(gate.server._connections, 1)
  t.equal(lobby.guests.size, 1)
  t.same(lobby.movable, [], 'what is held does not move on')
  await new Promise(resolve => client.write('GET / HTTP/1.1\r\n', resolve))
  const other = await connect() // the loop has turned, and the bytes are here
  t.same(admitted, [])

  receive.keep({ id: 1 })
  await once(gates, 'admitted')
  t.equal(String(admitted[0].bytes), 'GET / HTTP/1.1\r\n', 'its first bytes go with it')
  t.equal(admitted[0].handle, handle)
  t.equal(admitted[0].isPinned, false)
  t.equal(lobby.guests.size, 0)
  t.equal(gate.server._connections, 0, 'from here on the server counts it')
  other.handle.close()
})

t.test('a connection that is dropped is closed, and not by a word on it: another one has it', async t => {
  const { receive, gate, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  receive.drop({ id: 1 })
  t.equal(lobby.guests.size, 0)
  t.equal(gate.server._connections, 0)
  client.resume()
  await once(client, 'close')
  t.doesNotThrow(() => receive.keep({ id: 1 }), 'nothing is kept after that')
})

for (const [why, prepare] of /** @type {const} */ ([
  ['this worker is leaving', (/** @type {any} */ s) => { s.lobby.isClosed = true }],
  ['no descriptors are left', (/** @type {any} */ s) => { s.admission.isAtCeiling = true }],
  ['nothing listens there', (/** @type {any} */ s) => { s.gate.key = 'another' }],
  ['connections of this server do not move', (/** @type {any} */ s) => { s.gate.isMovable = false }],
  ['maxConnections is reached', (/** @type {any} */ s) => Object.assign(s.gate.server, { maxConnections: 3, _connections: 3 })]
])) {
  t.test(`refused: ${why}`, async t => {
    const all = await scene(t)
    const { client, handle } = await all.connect()
    prepare(all)
    all.receive.adopt({ id: 5, key: KEY, leftMs: null }, handle)
    t.same(all.sent, [{ type: 'refused', id: 5, why }])
    t.equal(all.lobby.guests.size, 0)
    client.resume()
    await once(client, 'close') // our copy was the last one
  })
}

t.test('refused: no connection came with the message', async t => {
  const { receive, sent } = await scene(t)
  receive.adopt({ id: 5, key: KEY, leftMs: null }, undefined)
  t.same(sent, [{ type: 'refused', id: 5, why: 'no connection came with the message' }])
})

t.test('who waits is closed when what was left of its time is over, by the name of closedIdle', async t => {
  const { receive, gate, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 50 }, handle)
  receive.keep({ id: 1 })
  client.resume()
  const [[guest, fate]] = await Promise.all([once(lobby, 'gone'), once(client, 'close')])
  t.equal(guest.handle, handle)
  t.equal(fate, 'closedIdle')
  t.equal(gate.server._connections, 0)
})

for (const [how, leave] of /** @type {const} */ ([
  ['ends', (/** @type {net.Socket} */ client) => client.end()],
  ['resets', (/** @type {net.Socket} */ client) => client.resetAndDestroy()]
])) {
  t.test(`a client that ${how} while it waits is closedByClient`, async t => {
    const { receive, gate, lobby, connect } = await scene(t)
    const { client, handle } = await connect()
    receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
    receive.keep({ id: 1 })
    const gone = once(lobby, 'gone')
    leave(client)
    const [, fate] = await gone
    t.equal(fate, 'closedByClient')
    t.equal(lobby.guests.size, 0)
    t.equal(gate.server._connections, 0)
  })
}

t.test('who has been reset does not move on: there is nothing left to move', async t => {
  const { receive, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
  receive.keep({ id: 1 })
  const [guest] = lobby.guests
  t.equal(lobby.movable.length, 1)
  const movable = new Promise(resolve => guest.socket?.once('error', () => resolve(lobby.movable)))
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

t.test('who waits can move on, alive and unread', async t => {
  const { receive, gate, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: 60_000 }, handle)
  receive.keep({ id: 1 })
  const [guest] = lobby.movable
  t.equal(lobby.release(guest), handle)
  t.same(lobby.movable, [])
  t.equal(gate.server._connections, 0)

  client.write('to whoever has it')
  const next = new net.Socket({ handle })
  const [chunk] = await once(next, 'data')
  t.equal(String(chunk), 'to whoever has it')
  next.destroy()
})

t.test('an offer that came back waits here, and stays', async t => {
  const { admitted, gates, gate, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  lobby.takeBack(handle, /** @type {any} */ (gate), 60_000)
  t.same(lobby.movable, [])
  client.write('hello')
  await once(gates, 'admitted')
  t.match(admitted, [{ isPinned: true }])
  t.equal(String(admitted[0].bytes), 'hello')
})

t.test('when the primary is gone, what is held is ours', async t => {
  const { receive, admitted, gates, lobby, connect } = await scene(t)
  const { client, handle } = await connect()
  receive.adopt({ id: 1, key: KEY, leftMs: null }, handle)
  lobby.keepAll()
  client.write('hello')
  await once(gates, 'admitted')
  t.equal(admitted.length, 1)
})

t.test('closing the lobby leaves who has not been listened to yet: a request may be there already', async t => {
  const { receive, lobby, connect } = await scene(t)
  const [a, b] = [await connect(), await connect()]
  receive.adopt({ id: 1, key: KEY, leftMs: null }, a.handle)
  receive.keep({ id: 1 })
  const idle = [...lobby.guests][0]
  while (!idle.isIdle) await setImmediate()
  receive.adopt({ id: 2, key: KEY, leftMs: null }, b.handle)
  receive.keep({ id: 2 })
  lobby.close(60_000)
  t.notOk(idle.socket?.destroyed, 'it has not been idle for a minute')
  const gone = once(lobby, 'gone')
  lobby.close(0)
  const [guest, fate] = await gone
  t.equal(guest.handle, a.handle)
  t.equal(fate, 'closedIdle')
  t.same([...lobby.guests].map(g => g.handle === b.handle), [true])
})
