'use strict'

const { once } = require('node:events')
const t = require('tap')
const { timeLeft } = require('../../../lib/worker/connections/parcel')
const { received, turn, workerParts } = require('../../support/worker-parts')

const TIMEOUTS = {
  keepAliveTimeout: 5000, keepAliveTimeoutBuffer: 1000, headersTimeout: 60_000, requestTimeout: 300_000
}

/**
 * @param {Record<string, any>} server
 * @param {{ idleMs?: number | null, ageMs?: number }} how `idleMs`: since its last response; null: since the last look
 */
function left (server, { idleMs, ageMs = 0 }) {
  const now = performance.now()
  return timeLeft(/** @type {any} */ ({
    stage: 'served',
    hasResponded: idleMs !== undefined,
    idleSince: idleMs === undefined || idleMs === null ? null : now - idleMs,
    since: now - ageMs,
    acceptor: { server: { ...TIMEOUTS, ...server } }
  }))
}

/**
 * @param {any} t @param {number | null} value @param {number} meant milliseconds; less by what this test itself takes
 */
function isAbout (t, value, meant) {
  t.ok(value !== null && value <= meant && value > meant - 2000, `${value} of ${meant} ms`)
  t.ok(Number.isInteger(value))
}

t.test('after a response it is what is left of keepAliveTimeout, with the buffer that Node adds', async t => {
  isAbout(t, left({}, { idleMs: 0, ageMs: 100_000 }), 6000)
  isAbout(t, left({}, { idleMs: 2000, ageMs: 100_000 }), 4000)
  isAbout(t, left({}, { idleMs: null, ageMs: 100_000 }), 6000)
  isAbout(t, left({ keepAliveTimeout: 120_000, headersTimeout: 2000 }, { idleMs: 5000 }), 116_000)
})

t.test('where Node does not tell its buffer, it is a second', async t => {
  isAbout(t, left({ keepAliveTimeoutBuffer: undefined }, { idleMs: 0 }), 6000)
  isAbout(t, left({ keepAliveTimeoutBuffer: 0 }, { idleMs: 0 }), 5000)
})

t.test('before the first request it is what is left of headersTimeout or requestTimeout, the shorter one', async t => {
  isAbout(t, left({}, { ageMs: 10_000 }), 50_000)
  isAbout(t, left({ requestTimeout: 20_000 }, { ageMs: 10_000 }), 10_000)
  isAbout(t, left({ headersTimeout: 0 }, { ageMs: 10_000 }), 290_000)
})

t.test('a server without these timeouts lets it live ever', async t => {
  t.equal(left({ keepAliveTimeout: 0 }, { idleMs: 1e6 }), null)
  t.equal(left({ headersTimeout: 0, requestTimeout: 0 }, { ageMs: 1e6 }), null)
})

t.test('time that has run out is one millisecond, not none', async t => {
  t.equal(left({}, { ageMs: 600_000 }), 1)
})

t.test('a connection that is open though its time after the last response is over has it anew: Node counts from the last byte', async t => {
  t.equal(left({}, { idleMs: 60_000 }), left({}, { idleMs: 0 }))
})

t.test('in the inbox it is what is left of the time that it came with', async t => {
  const waiting = (/** @type {number | null} */ until) => timeLeft(/** @type {any} */ ({ stage: 'waiting', until }))
  t.equal(waiting(null), null)
  const leftMs = /** @type {number} */ (waiting(performance.now() + 4000))
  t.ok(leftMs > 1 && leftMs <= 4001, `${leftMs} ms`)
  t.equal(waiting(performance.now() - 10), 1)
})

t.test('what a connection goes with is the same behind the channel, with every byte, and no field of an idle one says nothing', async t => {
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  for (const bytes of [Buffer.alloc(0), all]) {
    const worker = await workerParts(t)
    const { connection } = await worker.connect()
    const isIdle = bytes.length === 0
    const own = isIdle ? {} : { preface: all, replayed: 2, deaths: 1, sessionId: 'abc', load: 0.25 }
    Object.assign(connection, own)
    const fields = JSON.parse(JSON.stringify(worker.tracker.take(connection, bytes, isIdle ? null : { kind: 'game', state: all, unread: bytes })))
    t.same(Object.keys(fields), isIdle ? ['key', 'leftMs'] : ['key', 'leftMs', 'bytes', 'preface', 'replayed', 'deaths', 'session', 'load', 'kind', 'state'])
    const { handle } = connection
    worker.tracker.adopt(connection, fields, handle)
    t.match(connection, { bytes, handle, ...own, isOwned: false })
    t.equal(Buffer.from(fields.state ?? '', 'base64').equals(bytes), true)
    handle.close()
  }
})

t.test('an idle connection of which bytes are noted goes with how many these are, and one with unread bytes without', async t => {
  const worker = await workerParts(t)
  for (const more of [Buffer.alloc(0), Buffer.from('GET ')]) {
    const { client, connection } = await worker.connect()
    client.write('GET /first HTTP/1.1\r\nHost: here\r\n\r\n')
    const { length } = await received(client, '/first')
    await turn()
    const counted = (/** @type {any} */ handle) => [handle.bytesRead, handle.bytesWritten]
    connection.copy = { row: 3, serial: connection.id, counted }
    const parcel = worker.tracker.take(connection, more)
    t.same(parcel.counted, more.length > 0 ? undefined : ['GET /first HTTP/1.1\r\nHost: here\r\n\r\n'.length, length])
    connection.handle.close()
  }
})

t.test('bytes that were put back into the socket and not parsed travel with the connection', async t => {
  const worker = await workerParts(t)
  const { client, connection } = await worker.connect()
  client.write('GET /first HTTP/1.1\r\nHost: here\r\n\r\n')
  await received(client, '/first')
  await turn()
  connection.socket.pause()
  const unread = 'GET /second HTTP/1.1\r\nHo'
  connection.socket.unshift(Buffer.from(unread))
  worker.tracker.noteIdle()
  t.ok(connection.isIdle, 'its parser is between two requests')
  worker.handoff.offer(connection)
  const [{ id, parcel, handle }] = worker.all('move')
  t.equal(String(Buffer.from(parcel.bytes, 'base64')), unread)
  t.ok(parcel.leftMs > 0)
  t.equal(worker.tracker.requests.begun, 1, 'they were not parsed here')

  const sibling = await workerParts(t)
  for (const property of Reflect.ownKeys(handle).filter(key => ['close', 'reset'].includes(String(key)) || String(key).includes('recycle.'))) {
    delete handle[property] // of this worker's own; in another process they are not there
  }
  sibling.receive.move({ id, parcel }, handle)
  sibling.receive.moved({ id, ok: true })
  client.write('st: here\r\n\r\n')
  t.match(await received(client, '/second'), /200 OK/)
})

t.test('they are served here where no sibling took the connection', async t => {
  const worker = await workerParts(t)
  const { client, connection } = await worker.connect()
  client.write('GET /first HTTP/1.1\r\nHost: here\r\n\r\n')
  await received(client, '/first')
  await turn()
  connection.socket.pause()
  connection.socket.unshift(Buffer.from('GET /second HTTP/1.1\r\nHost: here\r\n'))
  worker.tracker.noteIdle()
  worker.handoff.offer(connection)
  worker.receive.moved({ id: worker.all('move')[0].id, ok: false, isStalled: false })
  client.write('\r\n')
  t.match(await received(client, '/second'), /200 OK/)
  t.equal(worker.server._connections, 1)
  const gone = once(worker.tracker, 'gone')
  client.destroy()
  await gone
  t.equal(worker.server._connections, 0)
})
