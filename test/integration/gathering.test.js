'use strict'

const http = require('node:http')
const os = require('node:os')
const t = require('tap')
const { load } = require('../../bench/support/load')
const { longAlone } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')

const RATE = 8000
const WORKERS = 2 * os.availableParallelism() + 1
// Where other processes take the CPUs, event loops are late, and nothing is gathered.
const skip = longAlone('80')

t.setTimeout(120_000)

/** @param {import('../../lib').Supervisor} supervisor */
const resting = supervisor => supervisor.status().workers.filter(({ rests }) => rests).length

t.test('under short requests workers rest; a stream that cannot move wakes them; no request fails and no client reconnects', { skip }, async t => {
  const { port, supervisor } = await startFleet(t, 'short-requests.js', { workers: WORKERS })
  const running = load({ port, connections: 50, rate: RATE, seconds: 40 })
  t.ok(
    await becomesTrue(() => resting(supervisor) === WORKERS - os.availableParallelism(), 20_000),
    JSON.stringify(supervisor.status().workers.map(({ elu, loopLagMs }) => [elu, loopLagMs]))
  )
  const client = http.get({ port, path: '/events', agent: false }, response => response.resume()).on('error', () => {})
  t.teardown(() => client.destroy())
  t.ok(await becomesTrue(() => resting(supervisor) === 0, 5000))
  const { dropped, refused, sockets } = await running
  t.same({ dropped, refused, sockets }, { dropped: 0, refused: 0, sockets: 50 })
})

t.test('where the servers of the workers that do the load have no room for more connections, the others accept them', { skip }, async t => {
  process.env.MOST = '12'
  t.teardown(() => { delete process.env.MOST })
  const { port, supervisor } = await startFleet(t, 'short-requests.js', { workers: WORKERS })
  const running = load({ port, connections: 10 * os.availableParallelism(), rate: RATE, seconds: 40 })
  t.ok(await becomesTrue(() => resting(supervisor) > 0, 20_000))
  // It waits for an answer to each request
  const more = await load({ port, connections: 6 * WORKERS, rate: 100, seconds: 5 })
  for (const { dropped, refused } of [more, await running]) t.same({ dropped, refused }, { dropped: 0, refused: 0 })
  t.equal(more.sockets, 6 * WORKERS)
  t.ok(more.max < 5000, `the last of them was accepted before the other load had ended: ${more.max} ms`)
})
