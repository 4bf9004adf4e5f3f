'use strict'

const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { freePort } = require('../support/fleet')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient, head, settled } = require('../support/raw-client')

t.test("the server's own deadlines, on connections that have moved", async t => {
  const port2 = process.env.PORT_2 = String(await freePort())
  const { port, supervisor } = await startTellingFleet(t, 'deadlines.js')

  t.test('an idle connection is closed at the end of its keepAliveTimeout, though it moves twice', async t => {
    const moving = await RawClient.connect(Number(port2))
    await moving.fetch('/')
    const idleSince = Date.now()
    for (let i = 0; i < 2; i++) {
      const line = await supervisor.recycle(0)
      checkAccount(t, line)
      t.equal(line.moved, 1)
    }
    t.notOk(moving.isEnded)
    await moving.ended()
    t.equal(moving.error, null)
    t.ok(moving.endedAt - idleSince >= 8000 - 5, `it had ${moving.endedAt - idleSince} ms`)
  })

  t.test('a connection that is idle for longer than headersTimeout after its move is served, and gets no 408', async t => {
    const client = await RawClient.connect(port)
    const twice = await RawClient.connect(port)
    for (const each of [client, twice]) await each.fetch('/')
    const silent = await RawClient.connect(port) // headersTimeout counts in either worker
    await settled(port)
    const line = await supervisor.recycle(0)
    checkAccount(t, line)
    await settled(port)
    t.ok(line.moved >= 3 || silent.isEnded, 'all have moved, unless the new worker took longer to boot than the silent one had')
    await after(2500)
    checkAccount(t, await supervisor.recycle(0))
    await after(2600) // 5 s after its first move, 2.6 s after its second
    for (const each of [client, twice]) {
      t.equal(each.responses.length, 1, 'the client received no unrequested bytes')
      t.notOk(each.isEnded)
      const response = await each.fetch('/')
      t.equal(response.status, 200)
      t.equal(Number(response.headers['x-pid']), supervisor.status().workers[0].pid)
    }
    t.ok(silent.isEnded)
    await t.test('the server still times out an incomplete head', async t => {
      client.send(head('GET', '/').slice(0, -2))
      t.equal((await client.received(3))[2].status, 408)
      await client.ended()
    })
    await twice.close()
  })
})
