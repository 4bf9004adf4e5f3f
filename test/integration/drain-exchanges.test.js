'use strict'

const t = require('tap')
const { createHash } = require('node:crypto')
const { pattern } = require('../fixtures/pattern')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')
const { RawClient, head, settled } = require('../support/raw-client')

const MB = 1024 * 1024
const body = pattern(3 * MB)
const summary = `${body.length} ${createHash('sha256').update(body).digest('hex')}`

/** @param {Buffer} bytes */
function chunk (bytes) {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

for (const handoff of [true, false]) {
  t.test(handoff ? 'with hand-off' : 'without hand-off', async t => {
    const fleet = await startTellingFleet(t, 'exchanges.js', { handoff })
    const { port, told } = fleet

    /** The end that every client here expects. `of`: how many there are in this drain. */
    async function checkEnd (t, client, drain, { pid = drain.pid, of = 1 } = {}) {
      const last = client.responses.at(-1)
      t.equal(Number(last.headers['x-pid']), pid, 'of the worker that is to answer')
      for (const earlier of client.responses.slice(0, -1)) t.not(earlier.headers.connection, 'close', 'not before the last response')
      if (handoff) {
        t.not(last.headers.connection, 'close')
        const line = await drain.recycled
        checkAccount(t, line)
        t.equal(line.moved, of)
        const next = await client.fetch('/')
        t.equal(next.status, 200)
        t.not(Number(next.headers['x-pid']), drain.pid, 'the connection went on in the replacement')
        await client.close()
      } else {
        t.equal(last.headers.connection, 'close')
        await client.ended()
        t.equal(client.error, null, 'it ended by FIN')
        const line = await drain.recycled
        checkAccount(t, line)
        t.equal(line.closedAfterResponse, of)
      }
    }

    t.test('requests pipelined in one write before the drain are all answered, in order, and slow ones one after another', async t => {
      const sent = [['/echo/0', '/drained?1', '/echo/2', '/late?ms=5', '/drained?4'], Array.from({ length: 10 }, (_, i) => `/drained?${i}`)]
      const clients = await Promise.all(sent.map(() => RawClient.connect(port)))
      const already = told.all('requested').length
      for (const [i, client] of clients.entries()) client.send(sent[i].map(path => head('GET', path)).join(''))
      await told.until('requested', { count: already + 12 })
      const drain = await beginDrain(fleet)
      for (const [i, client] of clients.entries()) {
        t.same((await client.received(sent[i].length)).map(r => r.body.toString()), sent[i])
      }
      for (const client of clients) await checkEnd(t, client, drain, { of: clients.length })
    })

    t.test('requests pipelined in one write during the drain and answered at once, or later, are all answered, in order', async t => {
      const sent = ['/echo/', '/late?ms=3&'].map(path => Array.from({ length: 20 }, (_, i) => `${path}${i}`))
      const clients = await Promise.all(sent.map(() => RawClient.connect(port)))
      for (const client of clients) await afterTold(told, 'post', () => client.send(head('POST', '/', 'Content-Length: 10')).send('01234'))
      const drain = await beginDrain(fleet)
      for (const [i, client] of clients.entries()) client.send('56789' + sent[i].map(path => head('GET', path)).join(''))
      for (const [i, client] of clients.entries()) {
        const responses = await client.received(1 + sent[i].length)
        t.same(responses.slice(1).map(r => r.body.toString()), sent[i])
      }
      for (const client of clients) await checkEnd(t, client, drain, { of: clients.length })
    })

    t.test('a request head that is half sent when the drain begins may be completed later, and so may the first head on a connection', async t => {
      const [client, fresh] = await Promise.all([0, 1].map(() => RawClient.connect(port)))
      client.send(head('GET', '/echo/whole') + 'GET /echo/half HTTP/1.1\r\nHost: loc')
      await client.received(1) // the same read had the half head
      fresh.send('GET /echo/half HT')
      await settled(port)
      const drain = await beginDrain(fleet)
      const busy = await RawClient.connect(port) // the replacement serves other clients meanwhile
      const pid = Number((await busy.fetch('/')).headers['x-pid'])
      t.not(pid, drain.pid)
      await busy.close()
      for (const each of [client, fresh]) t.notOk(each.isEnded)
      client.send('alhost\r\n\r\n')
      t.equal((await client.received(2))[1].body.toString(), '/echo/half')
      t.notOk(fresh.isEnded)
      fresh.send('TP/1.1\r\nHost: localhost\r\n\r\n')
      t.equal((await fresh.received(1))[0].body.toString(), '/echo/half')
      await checkEnd(t, client, drain, { of: 2 })
      await checkEnd(t, fresh, drain, { of: 2, pid: handoff ? pid : drain.pid }) // what it had sent has moved
    })

    t.test('a body, of known length or chunked, that is half sent when the drain begins, or cut within its bytes, arrives in full (unicorn: test_request_read)', async t => {
      const bodies = [
        [`Content-Length: ${body.length}`, body.subarray(0, MB), body.subarray(MB)],
        ['Transfer-Encoding: chunked', chunk(body.subarray(0, MB)), Buffer.concat([chunk(body.subarray(MB)), Buffer.from('0\r\n\r\n')])]
      ].flatMap(([header, first, second]) =>
        [[header, first, second], [header, first.subarray(0, 1000), Buffer.concat([first.subarray(1000), second])]])
      const clients = await Promise.all(bodies.map(() => RawClient.connect(port)))
      for (const [i, client] of clients.entries()) await afterTold(told, 'post', () => client.send(head('POST', '/', bodies[i][0])).send(bodies[i][1]))
      const drain = await beginDrain(fleet)
      for (const [i, client] of clients.entries()) client.send(bodies[i][2])
      for (const client of clients) t.equal((await client.received(1))[0].body.toString(), summary)
      for (const client of clients) await checkEnd(t, client, drain, { of: clients.length })
    })

    t.test('a slow download that began before the drain ends in full', async t => {
      const client = await RawClient.connect(port)
      await afterTold(told, 'dripping', () => client.get('/drip'))
      const drain = await beginDrain(fleet)
      const [response] = await client.received(1)
      const chunks = response.body.toString().split(' ')
      t.ok(chunks.length > 10)
      t.same(chunks, [...chunks.slice(0, -1).keys(), 'end'].map(String))
      t.equal(Number(response.headers['x-pid']), drain.pid)
      if (!handoff) { // its head was sent before the drain, so the next response has Connection: close
        t.not(response.headers.connection, 'close')
        await client.fetch('/')
      }
      await checkEnd(t, client, drain)
    })

    t.test('end(12 MB) to a reader that pauses during the whole drain arrives byte for byte (unicorn: test_response_write)', async t => {
      const client = await RawClient.connect(port)
      client.pause()
      await afterTold(told, 'bytes', () => client.get('/bytes?mb=12'))
      const drain = await beginDrain(fleet)
      await settled(port) // in the replacement
      client.resume()
      const [response] = await client.received(1)
      t.ok(response.body.equals(pattern(12 * MB)))
      if (!handoff) await client.fetch('/')
      await checkEnd(t, client, drain)
    })

    t.test('a client that connected before the drain and has sent nothing is served when it sends a request', async t => {
      const client = await RawClient.connect(port)
      await settled(port)
      const drain = await beginDrain(fleet)
      if (handoff) checkAccount(t, await drain.recycled)
      const response = await client.fetch('/echo/first')
      t.equal(response.body.toString(), '/echo/first')
      if (!handoff) return checkEnd(t, client, drain)
      t.not(Number(response.headers['x-pid']), drain.pid)
      t.equal((await drain.recycled).moved, 1)
      await client.close()
    })

    t.test('requests in flight when the drain begins finish (Node.js: test-http-server-close-idle-wait-response.js)', async t => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(port)))
      const already = told.all('requested').length
      for (const [i, client] of clients.entries()) client.get(`/drained?${i}`)
      await told.until('requested', { count: already + clients.length })
      const drain = await beginDrain(fleet)
      const responses = await Promise.all(clients.map(client => client.received(1)))
      for (const [i, [response]] of responses.entries()) {
        t.equal(response.status, 200)
        t.equal(response.body.toString(), `/drained?${i}`)
        t.equal(Number(response.headers['x-pid']), drain.pid)
        t.equal(response.headers.connection, handoff ? 'keep-alive' : 'close')
      }
      const line = await drain.recycled
      checkAccount(t, line)
      t.equal(line.inFlight, 20)
      t.equal(line.finished, 20)
      t.equal(handoff ? line.moved : line.closedAfterResponse, 20)
      await Promise.all(clients.map(client => client.close()))
    })

    if (!handoff) {
      t.test('an idle connection is not closed while the drain lasts, and is served once more', async t => {
        const client = await RawClient.connect(port)
        await client.fetch('/')
        const silent = await RawClient.connect(port)
        await settled(port)
        const drain = await beginDrain(fleet)
        const samples = fleet.events.all('worker.sample').length
        await fleet.events.until('worker.sample', { count: samples + 15 }) // time for many checks for idle connections
        t.notOk(client.isEnded)
        t.notOk(silent.isEnded)
        for (const each of [client, silent]) {
          const response = await each.fetch('/')
          t.equal(response.status, 200)
          t.equal(Number(response.headers['x-pid']), drain.pid)
          t.equal(response.headers.connection, 'close')
          await each.ended()
        }
        const line = await drain.recycled
        checkAccount(t, line)
        t.equal(line.closedAfterResponse, 2)
      })
    }
  })
}
