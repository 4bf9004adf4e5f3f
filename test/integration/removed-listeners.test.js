'use strict'

const t = require('tap')
const { beginDrain, checkAccount, startTellingFleet } = require('../support/draining')
const { becomesTrue } = require('../support/processes')
const { RawClient, head } = require('../support/raw-client')

const DRAIN_TIMEOUT_MS = 5000

/** @param {any} supervisor @param {number} count */
async function isCounted (supervisor, count) {
  return becomesTrue(() => supervisor.status().workers[0].connections === count)
}

/** How a connection loses its listeners, and how its client leaves. */
const WAYS = {
  'the socket\'s for `close`': client => client.fetch('/close'),
  'all of the socket\'s': client => client.fetch('/all'),
  'all of the response\'s': client => client.fetch('/response'),
  'all of an upgraded socket\'s': client => client.fetch('/', 'Connection: upgrade', 'Upgrade: echo'),
  'all of a tunnel\'s': client => tunnel(client, 'plain:1'),
  'all of a tunnel\'s, whose `close` listeners the app has called itself': client => tunnel(client, 'strange:1')
}

async function tunnel (client, to) {
  client.send(head('CONNECT', to))
  return client.received(1)
}

for (const env of [{}, { DROPS_OURS: '1' }]) {
  t.test(`an app that takes listeners off, ${env.DROPS_OURS ? 'also those of recycle for connections' : 'but none of recycle for connections'}`, async t => {
    if (env.DROPS_OURS) process.env.DROPS_OURS = env.DROPS_OURS
    const fleet = await startTellingFleet(t, 'takes-listeners-off.js', { drainTimeout: `${DRAIN_TIMEOUT_MS}ms` })
    delete process.env.DROPS_OURS
    const { port, supervisor, events } = fleet

    for (const [what, act] of Object.entries(WAYS)) {
      await t.test(`${what}: its connections are counted as long as they are open`, async t => {
        const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.connect(port)))
        for (const client of clients) await act(client)
        t.ok(await isCounted(supervisor, 3))
        await clients[0].close()
        clients[1].socket.resetAndDestroy()
        clients[2].socket.end()
        await clients[2].ended()
        t.ok(await isCounted(supervisor, 0))
        t.ok(await becomesTrue(() => supervisor.status().workers[0].inFlight === 0))
      })
    }

    await t.test('and a drain ends when they are closed, with an account that adds up', async t => {
      const clients = []
      for (const act of Object.values(WAYS)) {
        const client = await RawClient.connect(port)
        await act(client)
        clients.push(client)
      }
      t.ok(await isCounted(supervisor, clients.length))
      const { recycled } = await beginDrain(fleet)
      for (const client of clients) await client.close()
      const line = await recycled
      checkAccount(t, line)
      t.equal(line.connections, clients.length)
      t.equal(line.lost, false)
      t.ok(line.drainMs < DRAIN_TIMEOUT_MS, `it took ${line.drainMs} ms`)
      t.same(events.all('worker.crash'), [])
    })
  })
}

t.test('connections that such an app leaves open move if they are idle, or are cut at the deadline and named', async t => {
  const fleet = await startTellingFleet(t, 'takes-listeners-off.js', { drainTimeout: '1s' })
  const answered = await RawClient.connect(fleet.port)
  await WAYS['all of the response\'s'](answered)
  const upgraded = await RawClient.connect(fleet.port)
  await WAYS['all of an upgraded socket\'s'](upgraded)
  const { recycled } = await beginDrain(fleet)
  const line = await recycled
  await upgraded.ended()
  t.match(
    line, { connections: 2, moved: 1, cut: 1, lost: false, cuts: [{ upgraded: true, remotePort: upgraded.localPort }] }
  )
  t.equal(fleet.events.all('worker.retire')[0].killedFor ?? null, null, 'the deadline of its drain was enough')
  t.equal((await answered.fetch('/')).status, 200)
  await answered.close()
})
