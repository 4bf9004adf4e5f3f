'use strict'

const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

const CONNECTIONS = 300
const { missing } = loadAddon()

for (const { what, options, isBatched } of [
  { what: 'with the addon connections move in batches', options: {}, isBatched: true },
  { what: 'without it they move one by one', options: { nodeOption: ['--no-addons'] }, isBatched: false }
]) {
  t.test(what, { skip: isBatched && missing }, async t => {
    const { port, supervisor } = await startTellingFleet(t, 'counts-messages.js', options)
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawClient.connect(port)))
    await Promise.all(clients.map(client => client.fetch('/')))
    const line = await supervisor.recycle(0)
    checkAccount(t, line)
    t.equal(line.moved, CONNECTIONS)
    const answers = await Promise.all(clients.map(client => client.fetch('/')))
    const [{ pid, batch = 0, move = 0, moved = 0 }] = answers.map(({ body }) => JSON.parse(String(body)))
    t.equal(pid, line.pid)
    if (isBatched) {
      t.ok(batch >= CONNECTIONS / 128 && batch < CONNECTIONS / 2, `${batch} batches`)
      t.same([move, moved], [0, 0])
    } else {
      t.same([batch, move, moved], [0, CONNECTIONS, CONNECTIONS])
    }
    await Promise.all(clients.map(client => client.close()))
  })
}
