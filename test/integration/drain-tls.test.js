'use strict'

const net = require('node:net')
const tls = require('node:tls')
const t = require('tap')
const { extent } = require('../support/campaign')
const { pattern } = require('../fixtures/pattern')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')
const { Load } = require('../support/load')
const { RawClient, head } = require('../support/raw-client')

const MB = 1024 * 1024

t.test('connections over TLS do not move: the next response has Connection: close', async t => {
  const fleet = await startTellingFleet(t, 'exchanges.js', { args: ['--tls'] })
  const { port, told } = fleet
  const connect = () => RawClient.connect(port, { secure: true })

  t.test('in flight, idle, in the middle of a body and of a download', async t => {
    const idle = await connect()
    await idle.fetch('/')
    const silent = await connect()
    const flying = await connect()
    await afterTold(told, 'requested', () => flying.get('/drained'))
    const pipelining = await connect()
    await afterTold(told, 'requested', () => pipelining.send(head('GET', '/drained') + head('GET', '/drained?2')))
    const posting = await connect()
    await afterTold(told, 'post', () => posting.send(head('POST', '/', `Content-Length: ${MB}`)).send(Buffer.alloc(1000)))
    const reading = await connect()
    reading.pause()
    await afterTold(told, 'bytes', () => reading.get('/bytes?mb=5'))

    const drain = await beginDrain(fleet)
    const samples = fleet.events.all('worker.sample').length
    await fleet.events.until('worker.sample', { count: samples + 10 }) // time for many checks for idle connections
    posting.send(Buffer.alloc(MB - 1000))
    reading.resume()
    t.ok((await reading.received(1))[0].body.equals(pattern(5 * MB)))
    t.equal((await posting.received(1))[0].body.toString().split(' ')[0], String(MB))
    const twice = await pipelining.received(2)
    t.same(twice.map(response => response.body.toString()), ['/drained', '/drained?2'])
    t.not(twice[0].headers.connection, 'close')
    await flying.received(1)
    for (const client of [idle, silent, reading]) {
      t.notOk(client.isEnded, 'an idle connection is not closed')
      await client.fetch('/')
    }
    for (const client of [idle, silent, flying, pipelining, posting, reading]) {
      const last = client.responses.at(-1)
      t.equal(last.status, 200)
      t.equal(Number(last.headers['x-pid']), drain.pid)
      t.equal(last.headers.connection, 'close')
      await client.ended()
      t.equal(client.error, null)
    }
    const line = await drain.recycled
    checkAccount(t, line)
    t.equal(line.connections, 6)
    t.equal(line.closedAfterResponse, 6)
  })

  t.test('one that has sent nothing moves, and is agreed on there; one that stops within its handshake holds no drain', async t => {
    const [silent, stopping] = await Promise.all([0, 1].map(() => new Promise(resolve => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(socket))
      t.teardown(() => socket.destroy())
    })))
    stopping.write(Buffer.from([0x16, 3, 1, 2, 0, 1]))
    const other = await connect()
    await other.fetch('/') // both have been accepted
    await other.close()
    for (const ends of [{ moved: 1, closedIdle: 1 }, { moved: 1, closedIdle: 0 }]) {
      const line = await (await beginDrain(fleet)).recycled
      checkAccount(t, line)
      t.match(line, ends, JSON.stringify(line))
    }
    const client = new RawClient(tls.connect({ socket: silent, rejectUnauthorized: false }))
    t.equal((await client.fetch('/')).status, 200)
    await client.close()
  })

  t.test('keep-alive clients under load see no failure through recycle upon recycle', async t => {
    const load = new Load({ port, connections: 10, https: { rejectUnauthorized: false } })
    for (let i = 0; i < extent({ short: 4, long: 10 }); i++) {
      await load.after(50)
      checkAccount(t, await fleet.supervisor.recycle(0))
    }
    const { requests, failures } = await load.stop()
    t.same(failures, [], `of ${requests}`)
  })
})
