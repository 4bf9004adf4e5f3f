'use strict'

const t = require('tap')
const { startTellingFleet, checkAccount } = require('../support/draining')
const { RawClient, settled } = require('../support/raw-client')

/** @param {RawClient} client */
async function ask (client) {
  return JSON.parse((await client.fetch('/')).body.toString())
}

t.test('connection counts of both workers', async t => {
  const { port, told, supervisor, events } = await startTellingFleet(t, 'connection-counts.js', { killTimeout: '20s' })
  const talking = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(port)))
  const silent = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(port)))
  const clients = [...talking, ...silent]
  const before = []
  for (const client of talking) before.push(await ask(client))
  await settled(port)
  const line = await supervisor.recycle(0)
  checkAccount(t, line)
  t.equal(line.moved, 10)

  t.test("the sender: no connection is left, and the app's own server.close() returns", async t => {
    t.match(await events.until('worker.retire'), { code: 0, signal: null })
    const closed = await told.until('closed', { where: message => message.pid === line.oldPid })
    t.equal(closed.connections, 0)
    t.equal(closed.heard.connection, 11, 'the ten, and the connection that read the counts')
    t.equal(closed.heard.close, 11, 'the app saw each of them close')
    t.equal(closed.error, null)
    t.equal(closed.listening, true, 'only the app closed the server')
    t.equal(closed.address.port, port)
  })

  t.test('the receiver: adopted connections count, and each is emitted with its first request', async t => {
    const probe = await RawClient.connect(port)
    const first = await ask(probe)
    t.not(first.pid, line.oldPid)
    t.equal(first.connections, 11)
    t.equal(first.heard.connection, 1)
    for (const [i, client] of clients.entries()) {
      const answer = await ask(client)
      t.equal(answer.pid, first.pid)
      t.equal(answer.connections, 11, 'a connection that comes out of the inbox is not counted twice')
      t.equal(answer.heard.connection, i + 2)
      t.equal(answer.heard.close, 0)
      t.equal(answer.remotePort, client.localPort)
      t.equal(answer.remoteAddress, before[0].remoteAddress)
      t.equal(answer.remoteFamily, before[0].remoteFamily)
      t.equal(answer.localPort, port)
    }
    for (const client of clients) await client.close()
    let last = await ask(probe)
    while (last.connections > 1) last = await ask(probe)
    t.equal(last.heard.close, 10)
    await probe.close()
  })
})

t.test('a connection that closes while it waits in the inbox is no longer counted', async t => {
  const { port, supervisor } = await startTellingFleet(t, 'connection-counts.js')
  const clients = await Promise.all(Array.from({ length: 6 }, () => RawClient.connect(port)))
  for (const client of clients) await ask(client)
  t.equal((await supervisor.recycle(0)).moved, 6)
  for (const client of clients.slice(0, 5)) await client.close()
  let answer = await ask(clients[5])
  while (answer.connections > 1) answer = await ask(clients[5])
  t.equal(answer.connections, 1)
  const line = await supervisor.recycle(0)
  checkAccount(t, line)
  t.equal(line.connections, 1)
  t.equal(line.moved, 1)
  await clients[5].close()
})

t.test('maxConnections of the server is respected, and connections above it are served by their old worker', async t => {
  const { port, supervisor, events } = await startTellingFleet(t, 'connection-counts.js', { workers: 2, args: ['4'] })
  const clients = []
  const perWorker = new Map()
  while (clients.length < 8) {
    const client = await RawClient.connect(port)
    const answer = await Promise.race([ask(client), client.ended().then(() => null)]).catch(() => null)
    if (answer === null) continue // the worker that accepted it has four connections already
    clients.push(client)
    perWorker.set(answer.pid, (perWorker.get(answer.pid) ?? 0) + 1)
  }
  t.same([...perWorker.values()], [4, 4])
  const scaled = supervisor.scale(1)
  await events.until('worker.drain')
  const samples = events.all('worker.sample').length
  await events.until('worker.sample', { count: samples + 80 }) // they are offered again for three seconds
  const answers = []
  for (const client of clients) answers.push(await ask(client))
  t.equal(new Set(answers.map(answer => answer.pid)).size, 2)
  for (const { connections } of answers) t.ok(connections <= 4, `${connections} at once`)
  await scaled
  const line = await events.until('scaled')
  checkAccount(t, line)
  t.match(line, { moved: 0, takenBack: 4, closedAfterResponse: 4 })
  t.ok(line.refused > 4)
  t.equal(supervisor.status().totals.refused, line.refused)
  for (const client of clients) await client.close()
})
