'use strict'

const t = require('tap')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

t.test('bytes that were read and not parsed move with their connection, and are served by the sibling, byte for byte', async t => {
  const { port, supervisor, told } = await startTellingFleet(t, 'puts-back.js')
  const body = Buffer.from(Array.from({ length: 2048 }, (_, i) => i % 256))
  const request = Buffer.concat([Buffer.from(`POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`), body])
  const clients = []
  for (const split of [1, 30, request.length - 1000, request.length]) { // in the head, in the body, all of it
    const client = await RawClient.connect(port)
    client.send(`POST /hold HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${split}\r\n\r\n`).send(request.subarray(0, split))
    await client.received(1)
    clients.push({ client, split })
    await told.until('held', { count: clients.length })
  }
  const line = await supervisor.recycle(0)
  checkAccount(t, line)
  t.equal(line.moved, clients.length)
  for (const { client, split } of clients) {
    client.send(request.subarray(split))
    const [, echoed] = await client.received(2)
    t.equal(Number(echoed.headers['x-pid']), line.pid)
    t.ok(echoed.body.equals(body), `${split} bytes of the request had been read`)
    await client.close()
  }
})
