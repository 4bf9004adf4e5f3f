'use strict'

/**
 * Servers with `maxConnections`: a connection above it is for a worker that has room, and waits in the queue where none
 * has.
 */

const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')
const { RawClient } = require('../support/raw-client')

t.setTimeout(60_000)

/** @param {RawClient} client */
const ask = async client => JSON.parse(String((await client.fetch('/')).body))

t.test('150 clients at once, three workers that take 50 each: no client is dropped, and the next one gets the first room', async t => {
  const { port, supervisor } = await startFleet(t, 'connection-counts.js', { workers: 3, args: ['50'] })
  const clients = await Promise.all(Array.from({ length: 150 }, () => RawClient.connect(port)))
  const perWorker = async (/** @type {RawClient[]} */ clients) => {
    /** @type {Map<number, number>} */
    const counts = new Map()
    for (const { pid } of await Promise.all(clients.map(ask))) counts.set(pid, (counts.get(pid) ?? 0) + 1)
    return [...counts.values()].join()
  }
  t.equal(await perWorker(clients), '50,50,50')
  const late = await RawClient.connect(port)
  const answered = ask(late)
  await Promise.all(clients.map(ask))
  t.same([late.isEnded, late.responses.length], [false, 0], 'it waits')
  await clients[0].close()
  t.match(await answered, { pid: Number })
  t.match(await supervisor.recycle(0), { cut: 0, closedIdle: 0, closedAfterResponse: 0, closedByClient: 0, unacked: 0 })
  // Some may be on their way meanwhile, to even out the load: where all are full, they come back
  t.ok(await becomesTrue(async () => await perWorker([...clients.slice(1), late]) === '50,50,50'), 'the replacement takes them all')
  t.ok(clients.slice(1).every(({ isEnded }) => !isEnded))
  for (const client of [...clients, late]) await client.close()
})

t.test('with --sticky, requests that are on their way to their session\'s worker and back keep their places: no client is dropped', async t => {
  const { port } = await startFleet(t, 'connection-counts.js', { workers: 2, sticky: 'ip', args: ['4'] })
  const load = new Load({ port, connections: 12, thinkMs: 10 })
  const each = new Load({ port, connections: 4, keepAlive: false, thinkMs: 1 })
  await load.after(1000)
  const ended = await Promise.all([load, each].map(load => load.stop()))
  t.same(ended.flatMap(({ failures }) => failures), [])
})

t.test('an app that wants connections dropped beyond its limit has them dropped', async t => {
  const { port } = await startFleet(t, 'connection-counts.js', { workers: 1, args: ['1', 'drop'] })
  const [first, second] = [await RawClient.connect(port), await RawClient.connect(port)]
  await Promise.race([first.ended(), second.ended()])
  for (const client of [first, second]) await client.close()
})

for (const [drainTimeout, ms, answered] of /** @type {const} */ ([['20s', 100, 10], ['300ms', 20_000, 0]])) {
  t.test(`connections that wait at a stop are served as there is room, for ${drainTimeout} at most`, async t => {
    process.env.MOST = '2'
    t.teardown(() => { delete process.env.MOST })
    const { port, supervisor, events } = await startFleet(t, 'limits.js', { workers: 1, interval: '50ms', drainTimeout })
    const answers = Promise.all(Array.from({ length: 10 }, () => get(port, `/slow?ms=${ms}`)))
    await events.until('worker.sample', { where: ({ inFlight }) => inFlight === 2 })
    await supervisor.stop()
    t.equal((await answers).filter(({ status }) => status === 200).length, answered)
    const [{ connections, cut, cuts }] = events.all('stopped')
    t.same([cuts.length, cut], [10 - answered, 10 - answered])
    t.ok(connections >= cut)
    t.same(cuts.filter((/** @type {any} */ { remotePort }) => !(remotePort > 0)), [])
  })
}

/** With a stop under way: two clients have requests in flight, eight are queued. @param {any} t @param {string} app */
async function stopping (t, app) {
  process.env.MOST = '2'
  t.teardown(() => { delete process.env.MOST })
  const { port, supervisor, events } = await startFleet(t, app, { workers: 1, interval: '50ms' })
  const clients = Array.from({ length: 10 }, () => get(port, '/slow?ms=1000'))
  await events.until('worker.sample', { where: ({ inFlight }) => inFlight === 2 })
  return { clients: Promise.all(clients), stopped: supervisor.stop(), supervisor, events }
}

t.test('where a worker is killed during a stop, those that are queued in it get the same as those that it serves', async t => {
  const { clients, stopped, supervisor, events } = await stopping(t, 'limits.js')
  t.ok(await becomesTrue(() => supervisor.status().failover.connections === 10), 'the primary has a copy of each')
  process.kill(events.all('worker.ready')[0].pid, 'SIGKILL')
  t.same((await clients).map(({ status }) => status), Array(10).fill(502))
  await stopped
  t.match(events.all('stopped'), [{ lost: true, connections: 10, cut: 10 }])
})

t.test('those that are queued in a server that its app closes meanwhile are served, too', async t => {
  const folder = t.testdir({
    'app.js': `
      const server = require('node:http').createServer((request, response) => setTimeout(() => response.end('ok'), 200))
      server.maxConnections = Number(process.env.MOST)
      process.on('recycle:drain', () => server.close())
      server.listen(process.env.PORT)`
  })
  const { clients, stopped, events } = await stopping(t, path.join(folder, 'app.js'))
  t.same((await clients).map(({ status }) => status), Array(10).fill(200))
  await stopped
  t.match(events.all('stopped'), [{ cut: 0, unaccounted: 0, lost: false }])
})
