'use strict'

const t = require('tap')
const { sumOfEnds } = require('../support/fleet')
const { startTellingFleet, afterTold, beginDrain } = require('../support/draining')
const { RawClient, head, settled } = require('../support/raw-client')

for (const handoff of [true, false]) {
  t.test(`requests left at the drain timeout are cut and named, ${handoff ? 'with' : 'without'} hand-off (nginx: worker_shutdown_timeout.t)`, async t => {
    const drainTimeoutMs = 1000
    const fleet = await startTellingFleet(t, 'exchanges.js', { handoff, replay: 'off', drainTimeout: `${drainTimeoutMs}ms` })
    const { port, told } = fleet
    const connect = () => RawClient.connect(port)

    const hanging = await connect()
    await afterTold(told, 'requested', () => hanging.get('/never?secret=1'))
    const posting = await connect()
    await afterTold(told, 'post', () => posting.send(head('POST', '/upload?secret=2', 'Content-Length: 1000')).send('half'))
    const half = await connect()
    await half.fetch('/')
    half.send('GET /half?secret=3 HT')
    const pipelining = await connect()
    await afterTold(told, 'requested', () => pipelining.send(head('GET', '/never/1') + head('GET', '/echo/2')))
    const reading = await connect()
    reading.pause()
    await afterTold(told, 'bytes', () => reading.get('/bytes?mb=30'))
    const idle = await connect()
    await idle.fetch('/')
    await settled(port)

    const drain = await beginDrain(fleet)
    const line = await drain.recycled
    for (const client of [hanging, posting, pipelining]) await client.ended()
    t.ok(line.drainMs >= drainTimeoutMs - 5, 'not before the timeout')
    t.equal(line.connections, 6)
    t.equal(line.cut, 4, JSON.stringify(line.cuts))
    t.equal(sumOfEnds(line), line.connections, 'the audit adds up')
    t.equal(line.unacked, 0)
    if (handoff) {
      t.equal(line.moved, 2)
      t.equal((await idle.fetch('/')).status, 200)
      half.send('TP/1.1\r\nHost: x\r\n\r\n')
      t.equal((await half.received(2))[1].status, 200)
    } else {
      t.equal(line.closedIdle, 2, 'the app has seen nothing of half a head')
      await half.ended()
      await idle.ended()
      t.equal(idle.error, null)
    }

    const named = ({ localPort }) => line.cuts.filter(cut => cut.remotePort === localPort)
    const names = client => named(client).map(({ method, path }) => `${method} ${path}`)
    t.same(names(hanging), ['GET /never'])
    t.same(names(posting), ['POST /upload'])
    t.same(names(half), [])
    t.same(names(pipelining), ['GET /never/1', 'GET /echo/2'])
    t.match(names(reading), [/^(GET|null) (\/bytes|null)$/])
    t.same(names(idle), [])
    for (const { ageMs, upgraded } of line.cuts) {
      t.ok(ageMs >= drainTimeoutMs - 5 && ageMs < 60_000, `it is ${ageMs} ms old`)
      t.equal(upgraded, false)
    }
    t.notMatch(JSON.stringify(fleet.events.lines), 'secret', 'the journal has no query string')
    for (const client of [reading, idle, half]) await client.close()
  })
}

const BEGUN = { 'half a head': ['GET /echo/a HTTP/1.1\r\nHost: x\r\nX-A', ': b\r\n\r\n'], 'one byte': ['G', 'ET /echo/a HTTP/1.1\r\nHost: x\r\n\r\n'], 'a blank line': ['\r\n', 'GET /echo/a HTTP/1.1\r\nHost: x\r\n\r\n'] }

t.test('clients that have begun a request and do not go on hold no drain: they move with what they have sent, from worker to worker', async t => {
  const fleet = await startTellingFleet(t, 'exchanges.js')
  const clients = await Promise.all(Object.values(BEGUN).flatMap(([begun]) => [false, true].map(async isUsed => {
    const client = await RawClient.connect(fleet.port)
    if (isUsed) await client.fetch('/')
    for (const byte of begun) client.send(byte)
    return client
  })))
  await settled(fleet.port)
  for (let i = 0; i < 2; i++) {
    const line = await (await beginDrain(fleet)).recycled
    t.match(line, { moved: clients.length, cut: 0, closedIdle: 0 }, JSON.stringify(line))
  }
  const rests = Object.values(BEGUN).flatMap(([, rest]) => [rest, rest])
  for (const [i, client] of clients.entries()) {
    const next = client.received(client.responses.length + 1)
    client.send(rests[i])
    t.match((await next).at(-1), { status: 200, body: Buffer.from('/echo/a') }, Object.keys(BEGUN)[i >> 1])
    await client.close()
  }
})

t.test('where they cannot move they get 408, and are no cut', async t => {
  const fleet = await startTellingFleet(t, 'exchanges.js', { handoff: false })
  const [client, slow] = await Promise.all([0, 1].map(() => RawClient.connect(fleet.port)))
  client.send(BEGUN['half a head'][0])
  slow.send('GET /')
  await settled(fleet.port)
  const drain = await beginDrain(fleet)
  const [timeout] = await client.received(1)
  t.match(timeout, { status: 408, headers: { connection: 'close' } })
  const line = await drain.recycled
  t.match(line, { cut: 0, cuts: [], closedIdle: 2 }, JSON.stringify(line))
  t.ok(line.drainMs < 15_000, `half of the drain timeout has not passed: ${line.drainMs} ms`)
  for (const each of [client, slow]) await each.close()
})
