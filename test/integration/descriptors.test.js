'use strict'

const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { FIXTURES } = require('../support/fleet')
const { startLimited } = require('../support/limited')
const { becomesTrue } = require('../support/processes')
const { RawClient } = require('../support/raw-client')
const { Storm } = require('../support/storm')

const app = path.join(FIXTURES, 'uses-descriptors.js')
const CLIENTS = 1024

/** No process of the fleet died or wrote to stderr. @param {any} t tap's @param {any} fleet */
function checkAlive (t, { child, events, said }) {
  t.same(events.all('worker.crash'), [])
  t.same(said, [], 'nothing is thrown')
  t.equal(child.exitCode, null, 'the primary lives')
}

for (const [descriptors, workers, per] of [[512, 1, 0], [512, 5, 2], [64, 2, 0]]) {
  const what = `${workers} workers with ${descriptors} descriptors each, ${1 + per} for a connection`
  t.test(`${what}: none dies of ${CLIENTS} clients, and no client is reset`, async t => {
    const fleet = await startLimited(t, { app, descriptors, workers, env: { PER: String(per) } })
    const storm = new Storm(t, { port: fleet.port, connections: CLIENTS, processes: 2 })
    const warning = await fleet.events.until('fleet.warning', { where: ({ warning }) => warning !== 'failover-descriptors' })
    t.match(warning, { warning: 'descriptors' })
    for (let answered = 0; answered < CLIENTS;) {
      const counts = await storm.until(({ answered: now, failures }) => now > answered || failures.length > 0, 10_000)
      if (counts.answered === answered || counts.failures.length > 0) break
      answered = counts.answered
      storm.dismissAnswered() // connections in the queue are accepted
    }
    t.same(storm.counts(), { connected: CLIENTS, answered: CLIENTS, failures: [] })
    checkAlive(t, fleet)
  })
}

t.test('a worker whose app uses every descriptor accepts no connection until descriptors are free again', async t => {
  const fleet = await startLimited(t, { app, descriptors: 256, workers: 1 })
  const client = await RawClient.connect(fleet.port)
  t.equal((await client.fetch('/grab')).status, 200)
  t.match(await fleet.events.until('fleet.warning', { where: ({ warning }) => warning !== 'failover-descriptors' }), { warning: 'descriptors', connections: 1, capacity: 0 }, 'the worker has noticed it')
  const waiting = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(fleet.port)))
  for (const one of waiting) one.get('/')
  t.equal((await client.fetch('/')).status, 200, 'it serves the connections that it has')
  t.same(waiting.flatMap(({ responses }) => responses), [])
  t.equal((await client.fetch('/release')).status, 200)
  for (const one of waiting) t.equal((await one.received(1))[0].status, 200)
  for (const one of [client, ...waiting]) await one.close()
  checkAlive(t, fleet)
})

t.test('connections that come as an app takes the last descriptor stay in the queue', async t => {
  const fleet = await startLimited(t, { app, descriptors: 256, workers: 1 })
  const [busy, client] = [await RawClient.connect(fleet.port), await RawClient.connect(fleet.port)]
  for (const one of [busy, client]) await one.fetch('/')
  busy.get('/?ms=400')
  await setTimeout(100)
  const grabbed = client.fetch('/grab') // read in the same turn in which they are accepted, before them
  await setTimeout(20)
  const waiting = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(fleet.port)))
  for (const one of waiting) one.get('/')
  t.equal((await grabbed).status, 200)
  t.match(await fleet.events.until('fleet.warning', { where: ({ warning }) => warning !== 'failover-descriptors' }), { warning: 'descriptors', connections: 2 }, 'the worker has noticed it')
  t.same(waiting.filter(({ responses, isEnded }) => isEnded || responses.length > 0), [])
  t.equal((await client.fetch('/release')).status, 200)
  for (const one of waiting) t.equal((await one.received(1))[0].status, 200)
  for (const one of [busy, client, ...waiting]) await one.close()
  checkAlive(t, fleet)
})

t.test('a listening socket lost for lack of a descriptor is requested again', async t => {
  const fleet = await startLimited(t, { app, descriptors: 256, workers: 1 })
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(fleet.port)))
  for (const client of clients) await client.fetch('/')
  await clients[0].fetch('/hog')
  t.match(await fleet.events.until('fleet.warning', { where: ({ warning }) => warning !== 'failover-descriptors' }), { connections: 20, capacity: 10 })
  // The worker is below its limit, but has no descriptor for a connection
  for (const client of clients) await client.close()
  t.ok(await becomesTrue(() => fleet.connections().every(count => count === 0)))
  const waiting = await RawClient.connect(fleet.port)
  waiting.get('/')
  process.kill(fleet.events.all('worker.ready')[0].pid, 'SIGUSR2')
  t.equal((await waiting.received(1))[0].status, 200)
  await waiting.close()
  t.same(fleet.events.all('worker.crash'), [])
})
