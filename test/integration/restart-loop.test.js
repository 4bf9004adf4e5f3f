'use strict'

const t = require('tap')
const { extent } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const REQUESTS = extent({ short: 1000, long: 100_000 })

t.setTimeout(60_000 + REQUESTS * 20)

t.test(`${REQUESTS} POSTs of 16 KB, a connection each, over rolling restarts: none fails (Puma: restart_does_not_drop_connections, which allows 0.2 %)`, async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2 })
  const load = new Load({ port, connections: 10, keepAlive: false, thinkMs: 0, postBytes: 16 * 1024 })
  t.teardown(() => load.stop())
  await load.after(50)
  let restarts = 0
  for (; load.requests < REQUESTS; restarts++) await supervisor.reload()
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests}, in ${restarts} restarts`)
  t.ok(restarts > 0)
  const recycled = events.all('recycled')
  t.equal(recycled.length, 2 * restarts)
  t.same(recycled.filter(({ cut, unacked }) => cut + unacked > 0), [])
})
