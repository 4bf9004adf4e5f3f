'use strict'

const t = require('tap')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { freePort } = require('../support/fleet')
const { startTellingFleet, beginDrain, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

t.test('each connection stays with its own server, whatever address that listens on', async t => {
  const port2 = await freePort()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')) // short: the kernel takes ~100 bytes
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const socketPath = path.join(folder, 'app.sock')
  process.env.PORT_2 = String(port2)
  process.env.SOCKET_PATH = socketPath
  const fleet = await startTellingFleet(t, 'several-servers.js')
  const { port, told, supervisor, events } = fleet
  const anyOne = (await told.until('any one')).port
  const anyTwo = (await told.until('any two')).port
  const places = {
    first: { port, host: '127.0.0.1' },
    second: { port: port2, host: '127.0.0.1' },
    six: { port, host: '::1' },
    path: { path: socketPath },
    'any one': { port: anyOne, host: '127.0.0.1' },
    'any two': { port: anyTwo, host: '127.0.0.1' }
  }
  const clients = []
  for (const [name, where] of Object.entries(places)) {
    for (let i = 0; i < 3; i++) clients.push({ name, client: await RawClient.connect(where) })
  }
  for (let round = 0; round < 4; round++) {
    for (const { name, client } of clients) {
      const { headers, body } = await client.fetch('/')
      t.equal(headers['x-server'], name)
      t.equal(String(body), 'ok')
      t.equal(Number(headers['x-pid']), supervisor.status().workers[0].pid)
    }
    const line = await supervisor.recycle(0)
    checkAccount(t, line)
    t.equal(line.moved, clients.length)
  }
  for (const { name, client } of clients) {
    t.equal((await client.fetch('/')).headers['x-server'], name)
    t.notOk(client.isEnded)
  }
  t.same(told.all('any one').map(message => message.port), Array(5).fill(anyOne), 'port 0 is the same port in each worker')
  t.equal(supervisor.status().totals.refused, 0)
  t.equal(events.all('worker.crash').length, 0)

  await t.test('new connections reach the server they connect to, during a recycle too', async t => {
    const drain = await beginDrain(fleet)
    for (const [name, where] of Object.entries(places)) {
      const client = await RawClient.connect(where)
      const { headers } = await client.fetch('/')
      t.equal(headers['x-server'], name)
      t.not(Number(headers['x-pid']), drain.pid)
      await client.close()
    }
    checkAccount(t, await drain.recycled)
  })
  await Promise.all(clients.map(({ client }) => client.close()))
})
