'use strict'

// An app may answer a request before it has read its body: 401 to an upload, say. A server that closes then, with bytes
// of the upload unread, resets the connection, and the client may lose the answer that it has been sent (RFC 9112,
// 9.6).

const t = require('tap')
const { longAlone } = require('../support/campaign')
const { startTellingFleet, afterTold, beginDrain, checkAccount } = require('../support/draining')
const { RawClient, head } = require('../support/raw-client')

const SIZE = 8 * 1024 * 1024
const PIECE = Buffer.alloc(64 * 1024)

/**
 * Uploads piece by piece, and reads the answer when all of it is sent, as simple clients do.
 *
 * @param {RawClient} client
 */
async function upload (client) {
  client.pause()
  for (let sent = 0; sent < SIZE && client.error === null; sent += PIECE.length) {
    await new Promise(resolve => client.socket.write(PIECE, resolve))
    await new Promise(setImmediate)
  }
  client.resume()
}

/**
 * @param {{ supervisor: any, events: import('../support/fleet').Events }} fleet
 * @returns {Promise<Record<string, any>>} the account
 */
async function stopFleet ({ supervisor, events }) {
  supervisor.stop()
  return events.until('stopped')
}

for (const [name, secure, options, lastHeader] of /** @type {const} */ ([
  ['HTTPS', true, { args: ['--tls'] }, 'close'],
  ['--no-handoff', false, { handoff: false }, 'close'],
  ['plain HTTP', false, {}, 'keep-alive'],
  ['plain HTTP, at the stop of the fleet', false, { stopLinger: '10s' }, 'close']
])) {
  t.test(`${name}: a request that is answered before its upload was read gets its answer when the worker drains`, async t => {
    const isStop = 'stopLinger' in options
    const isMoved = lastHeader === 'keep-alive'
    const fleet = await startTellingFleet(t, 'exchanges.js', options)
    const connect = async () => {
      const client = await RawClient.connect(fleet.port, { secure })
      await client.fetch('/')
      return client
    }
    const clients = await Promise.all(Array.from({ length: 10 }, connect))
    const early = await connect()
    const idle = await connect()
    await afterTold(fleet.told, 'put', () => early.send(head('PUT', '/', `Content-Length: ${SIZE}`)))
    const holding = await connect() // keeps the worker until every answer is there
    await afterTold(fleet.told, 'post', () => holding.send(head('POST', '/', 'Content-Length: 1')))

    const ended = isStop ? stopFleet(fleet) : (await beginDrain(fleet)).recycled
    await fleet.told.until('drain')
    await Promise.all([early, ...clients].map(client => {
      if (client !== early) client.send(head('PUT', '/', `Content-Length: ${SIZE}`))
      return upload(client)
    }))
    for (const client of [early, ...clients]) {
      const [, answer] = await client.received(2)
      t.match(answer, { status: 401, body: Buffer.from('log in first') })
      t.equal(client.error, null)
    }
    if (isMoved) t.equal((await clients[0].fetch('/')).status, 200, 'the connection lives on')
    for (const client of clients) t.equal(client.responses[1].headers.connection, lastHeader)
    for (const client of [idle, early]) await client.fetch('/')
    holding.send('x')
    await holding.received(2)
    checkAccount(t, await ended)
    for (const client of [...clients, early, idle, holding]) await client.close()
  })
}

t.test('a client that neither finishes its upload nor closes holds the worker for some seconds alone', { skip: longAlone('10') }, async t => {
  const fleet = await startTellingFleet(t, 'exchanges.js', { handoff: false })
  const client = await RawClient.connect(/** @type {any} */ ({ port: fleet.port, host: '127.0.0.1', allowHalfOpen: true }))
  await client.fetch('/')
  const { recycled } = await beginDrain(fleet)
  client.send(head('PUT', '/', `Content-Length: ${SIZE}`))
  await client.ended()
  t.equal(client.responses[1].status, 401)
  const line = await recycled
  checkAccount(t, line)
  t.match(line, { closedAfterResponse: 1 })
  t.ok(line.drainMs > 5000 && line.drainMs < 12_000, `${line.drainMs} ms`)
})
