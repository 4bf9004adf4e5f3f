'use strict'

const t = require('tap')
const { createHash } = require('node:crypto')
const { setTimeout: after } = require('node:timers/promises')
const { pattern } = require('../fixtures/pattern')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')
const { RawClient, head, settled } = require('../support/raw-client')

const MB = 1024 * 1024

t.test('a connection outlives its workers', async t => {
  const fleet = await startTellingFleet(t, 'exchanges.js')
  const { port, told, supervisor } = fleet

  /** Recycles the only worker, which has `connections`, all of them movable. */
  async function recycleMoving (t, connections) {
    const line = await supervisor.recycle(0)
    checkAccount(t, line)
    t.equal(line.moved, connections)
    t.ok(line.drainMs < supervisor.options.drainTimeoutMs, `nothing was waited for: ${line.drainMs} ms`)
    return line
  }

  t.test('the same TCP connection is served by one worker after another', async t => {
    const client = await RawClient.connect(port)
    const pids = new Set()
    for (let i = 0; i < 5; i++) {
      for (const path of ['/echo/a', '/late?ms=1', '/echo/b']) {
        const response = await client.fetch(path)
        t.equal(response.body.toString(), path)
        pids.add(response.headers['x-pid'])
      }
      await recycleMoving(t, 1)
    }
    t.equal(pids.size, 5, 'a worker each')
    t.notOk(client.isEnded)
    await client.close()
  })

  t.test('end(30 MB) to a reader that pauses during three drains arrives byte for byte on one connection', async t => {
    const client = await RawClient.connect(port)
    const expected = pattern(30 * MB)
    for (let i = 1; i <= 3; i++) {
      client.pause()
      await afterTold(told, 'bytes', () => client.get('/bytes?mb=30'))
      const drain = await beginDrain(fleet)
      client.resume()
      const response = (await client.received(i))[i - 1]
      t.ok(response.body.equals(expected))
      t.equal(Number(response.headers['x-pid']), drain.pid)
      const line = await drain.recycled
      checkAccount(t, line)
      t.equal(line.moved, 1)
    }
    await client.close()
  })

  t.test('a slow upload during three drains arrives byte for byte on one connection', async t => {
    const client = await RawClient.connect(port)
    const body = pattern(2 * MB)
    const summary = `${body.length} ${createHash('sha256').update(body).digest('hex')}`
    for (let i = 1; i <= 3; i++) {
      await afterTold(told, 'post', () => client.send(head('POST', '/', `Content-Length: ${body.length}`)).send(body.subarray(0, 100_001)))
      const drain = await beginDrain(fleet)
      for (let at = 100_001; at < body.length; at += 100_001) {
        client.send(body.subarray(at, at + 100_001))
        await after(5) // the upload is slow
      }
      const response = (await client.received(i))[i - 1]
      t.equal(response.body.toString(), summary)
      t.equal(Number(response.headers['x-pid']), drain.pid)
      const line = await drain.recycled
      checkAccount(t, line)
      t.equal(line.moved, 1)
    }
    await client.close()
  })

  t.test('silent and adopted idle connections survive three recycles of less than a second each', async t => {
    const silent = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(port)))
    const idle = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(port)))
    for (const client of idle) await client.fetch('/')
    await settled(port)
    for (let i = 0; i < 3; i++) await recycleMoving(t, 20)
    const { workers: [{ pid }] } = supervisor.status()
    for (const client of [...silent, ...idle]) {
      const response = await client.fetch('/')
      t.equal(response.status, 200)
      t.equal(Number(response.headers['x-pid']), pid)
      t.notOk(client.isEnded)
    }
    await Promise.all([...silent, ...idle].map(client => client.close()))
  })

  t.test('a client that sends Expect: 100-continue before the drain sends its body during it', async t => {
    const client = await RawClient.connect(port)
    client.send(head('POST', '/', 'Content-Length: 5', 'Expect: 100-continue'))
    t.equal((await client.received(1))[0].status, 100)
    const drain = await beginDrain(fleet)
    client.send('hello')
    const [, response] = await client.received(2)
    t.equal(response.status, 200)
    t.match(response.body.toString(), /^5 /)
    t.equal(Number(response.headers['x-pid']), drain.pid)
    t.equal((await drain.recycled).moved, 1)

    client.send(head('POST', '/', 'Content-Length: 5', 'Expect: 100-continue'))
    t.equal((await client.received(3))[2].status, 100, 'and also after the move')
    client.send('hello')
    t.match((await client.received(4))[3].body.toString(), /^5 /)
    await client.close()
  })

  t.test('HTTP/1.0 with keep-alive moves, without it is closed after the response', async t => {
    const keeping = await RawClient.connect(port)
    keeping.send('GET /echo/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    t.equal((await keeping.received(1))[0].headers.connection, 'keep-alive')
    await recycleMoving(t, 1)
    keeping.send('GET /echo/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    t.equal((await keeping.received(2))[1].body.toString(), '/echo/2')

    const closing = await RawClient.connect(port)
    await afterTold(told, 'requested', () => closing.send('GET /drained HTTP/1.0\r\n\r\n'))
    const drain = await beginDrain(fleet)
    t.equal((await closing.received(1))[0].body.toString(), '/drained')
    await closing.ended()
    t.equal(closing.error, null)
    const line = await drain.recycled
    checkAccount(t, line)
    t.equal(line.moved, 1)
    t.equal(line.closedAfterResponse, 1)
    await keeping.close()
  })

  t.test('a request with Connection: close is answered and its connection closed, before and after a move', async t => {
    const flying = await RawClient.connect(port)
    await afterTold(told, 'requested', () => flying.get('/drained', 'Connection: close'))
    const moving = await RawClient.connect(port)
    await moving.fetch('/')
    const drain = await beginDrain(fleet)
    t.equal((await flying.received(1))[0].headers.connection, 'close')
    await flying.ended()
    const line = await drain.recycled
    checkAccount(t, line)
    t.equal(line.closedAfterResponse, 1)
    t.equal(line.moved, 1)
    t.equal((await moving.fetch('/', 'Connection: close')).headers.connection, 'close')
    await moving.ended()
    t.equal(moving.error, null)
  })

  t.test('a moved connection may pipeline and send heads and bodies in parts', async t => {
    const client = await RawClient.connect(port)
    await client.fetch('/')
    await recycleMoving(t, 1)
    const paths = Array.from({ length: 20 }, (_, i) => `/late?ms=${i % 3}&${i}`)
    client.send(paths.map(path => head('GET', path)).join(''))
    const responses = await client.received(1 + paths.length)
    t.same(responses.slice(1).map(response => response.body.toString()), paths)
    await recycleMoving(t, 1)
    client.send('G')
    await settled(port)
    client.send('ET /echo/late HTTP/1.1\r\nHost: localhost\r\n\r\n')
    t.equal((await client.received(22))[21].body.toString(), '/echo/late')
    await client.close()
  })
})
