'use strict'

const http = require('node:http')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')

const WORKERS = 3
/** Between a response and the next request: with the 5 ms of each, a connection has half of an event loop. */
const THINK_MS = 5

/**
 * Clients of a connection each, and which worker answered last.
 *
 * @param {any} t tap's @param {number} port @param {number} count
 */
async function connect (t, port, count) {
  const clients = Array.from({ length: count }, () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const client = {
      pid: '',
      answers: 0,
      errors: /** @type {any[]} */ ([]),
      reconnects: 0,
      ask: async (/** @type {string} */ path) => {
        const { body, error, status, reused } = await get(port, path, { agent })
        if (status !== 200) client.errors.push(error ?? status)
        if (client.answers++ > 0 && !reused) client.reconnects++
        client.pid = body
      }
    }
    return client
  })
  for (const client of clients) await client.ask('/')
  return clients
}

/** @param {Awaited<ReturnType<typeof connect>>} clients @param {AbortSignal} stop @returns {Promise<unknown>} */
function keepBusy (clients, stop) {
  return Promise.all(clients.map(async client => {
    while (!stop.aborted) {
      await client.ask('/busy')
      await new Promise(resolve => setTimeout(resolve, THINK_MS))
    }
  }))
}

/** @param {{ pid: string }[]} clients */
const pidsOf = clients => new Set(clients.map(({ pid }) => pid)).size

t.test('the busy connections of one worker go to the others, whatever quiet ones there are: no request fails, and no client reconnects', async t => {
  const { port, supervisor } = await startFleet(t, 'spins.js', { workers: WORKERS })
  const clients = await connect(t, port, 30)
  /** @type {Map<string, typeof clients>} */
  const byPid = new Map()
  for (const client of clients) byPid.set(client.pid, [...byPid.get(client.pid) ?? [], client])
  const busy = [...byPid.values()].sort((a, b) => b.length - a.length)[0].slice(0, WORKERS)
  t.equal(busy.length, WORKERS)
  t.equal(pidsOf(busy), 1)
  const stop = new AbortController()
  const running = keepBusy(busy, stop.signal)
  t.ok(await becomesTrue(() => pidsOf(busy) === WORKERS, 30_000), `each has a worker of its own: ${busy.map(({ pid }) => pid)}`)
  const { moved } = supervisor.status().totals
  await becomesTrue(() => supervisor.status().totals.moved > moved, 4000)
  t.equal(pidsOf(busy), WORKERS, 'and keeps it')
  const { moves } = supervisor.status().totals
  t.ok(moves.load > 0 && moves.load + moves.number === supervisor.status().totals.moved, JSON.stringify(moves))
  stop.abort()
  await running
  for (const client of clients) await client.ask('/')
  t.same(clients.flatMap(({ errors }) => errors), [])
  t.equal(clients.reduce((sum, { reconnects }) => sum + reconnects, 0), 0)
})

t.test('one connection that makes all the load stays where it is', async t => {
  const { port, supervisor } = await startFleet(t, 'spins.js', { workers: WORKERS })
  const [client] = await connect(t, port, 1)
  const { pid } = client
  const stop = new AbortController()
  const running = keepBusy([client], stop.signal)
  await becomesTrue(() => supervisor.status().totals.moved > 0, 3000)
  stop.abort()
  await running
  t.same([client.pid, supervisor.status().totals.moved], [pid, 0])
})

t.test('without hand-off, and with a shared queue, no load moves anything', async t => {
  for (const how of [{ handoff: false }, { schedule: 'shared' }]) {
    const { port, supervisor } = await startFleet(t, 'spins.js', { workers: 2, ...how })
    const clients = await connect(t, port, 6)
    const busy = clients.filter(({ pid }) => pid === clients[0].pid)
    const stop = new AbortController()
    const running = keepBusy(busy, stop.signal)
    await becomesTrue(() => supervisor.status().totals.moved > 0, 3000)
    stop.abort()
    await running
    t.equal(supervisor.status().totals.moved, 0)
  }
})
