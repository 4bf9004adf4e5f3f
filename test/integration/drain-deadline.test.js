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
    for (const client of [hanging, posting, half, pipelining]) await client.ended()
    t.ok(line.drainMs >= drainTimeoutMs - 5, 'not before the timeout')
    t.equal(line.connections, 6)
    t.equal(line.cut, 5, JSON.stringify(line.cuts))
    t.equal(sumOfEnds(line), line.connections, 'the audit adds up')
    t.equal(line.unacked, 0)
    if (handoff) {
      t.equal(line.moved, 1)
      t.equal((await idle.fetch('/')).status, 200)
    } else {
      t.equal(line.closedIdle, 1)
      await idle.ended()
      t.equal(idle.error, null)
    }

    const named = ({ localPort }) => line.cuts.filter(cut => cut.remotePort === localPort)
    const names = client => named(client).map(({ method, path }) => `${method} ${path}`)
    t.same(names(hanging), ['GET /never'])
    t.same(names(posting), ['POST /upload'])
    t.same(names(half), ['null null'])
    t.same(names(pipelining), ['GET /never/1', 'GET /echo/2'])
    t.match(names(reading), [/^(GET|null) (\/bytes|null)$/])
    t.same(names(idle), [])
    for (const { ageMs, upgraded } of line.cuts) {
      t.ok(ageMs >= drainTimeoutMs - 5 && ageMs < 60_000, `it is ${ageMs} ms old`)
      t.equal(upgraded, false)
    }
    t.notMatch(JSON.stringify(fleet.events.lines), 'secret', 'the journal has no query string')
    for (const client of [reading, idle]) await client.close()
  })
}
