'use strict'

const t = require('tap')
const { get, clientPerWorker } = require('../support/client')
const { startFleet } = require('../support/fleet')

t.test('a server on port 0 that a worker opens while it serves is its own: no client reaches another worker there', async t => {
  const { port, supervisor, events } = await startFleet(t, 'ports-on-demand.js', { workers: 2 })
  const clients = await clientPerWorker(t, port, 2)
  const opened = []
  for (const agent of [...clients.values(), ...clients.values()]) opened.push(JSON.parse((await get(port, '/open', { agent })).body))
  t.equal(new Set(opened.map(({ port }) => port)).size, 4)
  for (let i = 0; i < 5; i++) for (const { pid, port } of opened) t.equal((await get(port)).body, String(pid))
  await supervisor.reload()
  t.same(events.all('worker.not-ready'), [], 'the replacements need not open them')
  t.equal((await get(port)).status, 200)
})
