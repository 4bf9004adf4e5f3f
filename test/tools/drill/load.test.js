'use strict'

const t = require('tap')
const { Load } = require('../../../lib/tools/drill/load')
const { Misbehaving, ACTIONS } = require('./misbehaving')

const TIMES = 12 // each action
// A test of their own: they need a timeout, which a busy machine may exceed
const SILENT = ['silence', 'silenceAfterHead']
const MIXED = Object.keys(ACTIONS).filter(action => ![...SILENT, 'answer', 'resetDuring'].includes(action))

/** Every action TIMES times, spread among answers. */
function mixture () {
  const script = Array.from({ length: TIMES }, () => MIXED.flatMap(action => ['answer', 'answer', 'answer', action])).flat()
  return { script: (/** @type {number} */ n) => script[n] ?? 'answer', length: script.length }
}

/** @param {any} t @param {Misbehaving} server @param {Record<string, any>} how @param {number} [processes] */
async function openLoad (t, server, how, processes = 1) {
  const target = await server.listen()
  const load = new Load({
    target, connections: 20, rate: null, method: 'GET', path: '/path', headers: {}, body: null, expect: [[200, 399]], keepAlive: true, timeoutMs: 60_000, ...how
  }, processes)
  const lines = []
  load.on('line', line => lines.push(line))
  t.teardown(() => {
    load.kill()
    server.close()
  })
  await load.open()
  return { load, lines, drops: () => lines.filter(line => line.event === 'client.drop') }
}

/** By error, the client's ports, sorted. @param {{ error: string | null, port: number }[]} list */
function portsByError (list) {
  const byError = {}
  for (const { error, port } of list) (byError[error] ??= []).push(port)
  for (const ports of Object.values(byError)) ports.sort()
  return byError
}

for (const keepAlive of [true, false]) {
  for (const rate of [null, 1500]) {
    t.test(`the counts of the load match the actions of the server, request by request: ${keepAlive ? 'keep-alive' : 'a connection per request'}, ${rate ? 'at a rate' : 'as fast as it goes'}`, async t => {
      const { script, length } = mixture()
      const server = new Misbehaving(script)
      const { load, lines, drops } = await openLoad(t, server, { keepAlive, rate }, rate ? 2 : 1)
      load.start()
      await server.seen(length)
      await load.announceStop()
      await load.end()

      const misdeeds = server.books.filter(({ error }) => error !== null)
      t.same(portsByError(drops().map(({ error, localPort }) => ({ error, port: localPort }))),
        portsByError(misdeeds.map(({ error, remotePort }) => ({ error, port: remotePort }))), 'each drop, by its error and port')
      t.equal(load.requests, server.books.length, 'each request')
      t.equal(load.dropped, misdeeds.length)
      t.equal(load.sockets, server.connections, 'each connection')
      if (!keepAlive) t.equal(server.connections, server.books.length, 'one for each request')
      t.equal(server.dishonoured, 0, 'nothing is sent after Connection: close')
      const done = new Set(server.books.map(({ action }) => action))
      t.same(MIXED.filter(action => !done.has(action)), [], 'every action was done')

      const ticks = lines.filter(line => line.event === 'client.tick')
      t.equal(sum(ticks.map(tick => tick.requests)), load.requests, 'the ticks add up')
      t.equal(sum(ticks.map(tick => tick.dropped)), load.dropped)
      t.equal(sum(ticks.flatMap(tick => tick.latency.map(([, count]) => count))), load.requests - load.dropped)
      t.same(ticks.map(tick => tick.t), ticks.map((_, i) => ticks[0].t + 250 * i), 'one tick for each quarter of a second')
      t.ok(drops().every(({ status, error }) => error !== 'status' || status === 503))
    })
  }
}

t.test('a reset right after the first bytes of a response is a drop, though Node cannot always tell it from a close', async t => {
  const server = new Misbehaving(n => n % 2 ? 'resetDuring' : 'answer')
  const { load, drops } = await openLoad(t, server, {})
  load.start()
  await server.seen(200)
  await load.end()
  t.equal(load.requests, server.books.length)
  t.same(drops().map(drop => drop.localPort)
    .sort(), server.books.filter(({ error }) => error !== null).map(({ remotePort }) => remotePort).sort())
  t.ok(drops().every(({ error }) => ['reset', 'closed-during-response'].includes(error)))
})

t.test('a POST with a body is counted alike', async t => {
  const { script, length } = mixture()
  const server = new Misbehaving(script)
  const { load, drops } = await openLoad(t, server, { method: 'POST', body: Buffer.alloc(16 * 1024, 'x'), connections: 10 })
  load.start()
  await server.seen(length)
  await load.end()
  t.equal(load.requests, server.books.length)
  t.equal(drops().length, server.books.filter(({ error }) => error !== null).length)
})

t.test('an idle connection that the server closes costs no request', async t => {
  const server = new Misbehaving(() => 'closeAfterwards')
  const { load } = await openLoad(t, server, { connections: 2, rate: 40 })
  load.start()
  await server.seen(40)
  await load.end()
  t.equal(load.dropped, server.books.filter(({ action }) => action === 'sentAfterClose').length)
  t.equal(load.requests, server.books.length)
  t.ok(server.connections >= 20, 'it reconnects')
})

t.test('a request sent on a reused connection that closes is a drop', async t => {
  const server = new Misbehaving(n => n % 2 ? 'closeBefore' : 'answer')
  const { load, drops } = await openLoad(t, server, { connections: 1 })
  load.start()
  await server.seen(100)
  await load.end()
  t.equal(load.dropped, server.books.filter(({ error }) => error !== null).length)
  t.ok(drops().length >= 50)
  t.ok(drops().every(drop => drop.reused && drop.error === 'closed-before-response' && drop.path === '/path' && drop.method === 'GET'))
})

t.test('the load waits for requests in flight at the end', async t => {
  const server = new Misbehaving(n => n < 20 ? 'answer' : 'silence')
  const { load } = await openLoad(t, server, { connections: 3 })
  load.start()
  await server.seen(23)
  const ended = load.end()
  await load.announceStop() // "end" was sent before, and has arrived
  for (const socket of server.sockets) ACTIONS.answer.act(socket)
  await ended
  t.equal(load.requests, 23)
  t.equal(load.dropped, 0)
})

for (const action of SILENT) {
  t.test(`a request without a complete response in time is a drop, also at the end: ${action}`, async t => {
    const server = new Misbehaving(() => action)
    const { load, drops } = await openLoad(t, server, { connections: 10, timeoutMs: 300 })
    load.start()
    await server.seen(20)
    await load.end()
    t.equal(load.requests, server.books.length)
    t.same([...load.errors], [['timeout', server.books.length]])
    t.same(drops().map(drop => drop.localPort).sort(), server.books.map(({ remotePort }) => remotePort).sort())
    t.equal(load.sockets, server.connections, 'a connection without an answer is not used again')
  })
}

t.test('once the stop is announced, a connection refused is the end and no drop; before, it is a drop', async t => {
  for (const isAnnounced of [true, false]) {
    const server = new Misbehaving(n => n < 20 ? 'answer' : 'silence')
    const { load, drops } = await openLoad(t, server, { connections: 5 })
    load.start()
    await server.seen(25) // one in flight for each client
    if (isAnnounced) await load.announceStop()
    const closed = new Promise(resolve => server.server.close(resolve))
    for (const socket of server.sockets) ACTIONS.announceAndClose.act(socket)
    await closed
    if (isAnnounced) {
      await load.end()
      t.equal(load.requests, 25)
      t.same(drops(), [])
    } else {
      while (drops().length < 5) await new Promise(resolve => load.once('line', resolve))
      await load.end()
      t.equal(load.requests, 25 + load.dropped)
      t.ok(drops().every(({ error, localPort }) => error === 'refused' && localPort === null))
    }
  }
})

t.test('the caller sets the expected statuses', async t => {
  const server = new Misbehaving(n => ['wrongStatus', 'redirectToNowhere', 'answer'][n % 3])
  const { load } = await openLoad(t, server, { expect: [[503, 503], [200, 200]] })
  load.start()
  await server.seen(300)
  await load.end()
  t.equal(load.dropped, server.books.filter(({ action }) => action === 'redirectToNowhere').length)
})

t.test('with a rate, a request that waits for a connection is timed from when it was due', async t => {
  const server = new Misbehaving(n => n === 10 ? 'silence' : 'answer')
  const { load, lines } = await openLoad(t, server, { connections: 1, rate: 100, timeoutMs: 1000 })
  load.start()
  await server.seen(150)
  await load.end()
  const latencies = lines.flatMap(line => line.latency ?? [])
  const late = sum(latencies.filter(([ms]) => ms >= 400).map(([, count]) => count))
  t.ok(late >= 55, `${late} requests were due in the second in which the only connection was stuck, and waited`)
})

t.test('a load process that dies is reported', async t => {
  const server = new Misbehaving(() => 'answer')
  const { load } = await openLoad(t, server, {})
  load.start()
  await server.seen(20)
  const died = new Promise(resolve => load.once('died', resolve))
  load.kill()
  t.equal(await died, 'SIGKILL')
})

/** @param {number[]} list */
function sum (list) {
  return list.reduce((a, b) => a + b, 0)
}
