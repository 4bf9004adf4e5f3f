'use strict'

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { decided, replay } = require('../support/replay')
const { unplanned } = require('../support/replay-plan')

t.test('workers that fill up together are condemned before they cross, nothing is dropped, and the journal gives each of these steps again', async t => {
  const { port, supervisor, events } = await startFleet(t, 'late-leaky.js', { workers: 4, interval: '50ms', jitter: 0, maxRss: '110MiB' })
  const load = new Load({ port, connections: 8, thinkMs: 20 })
  t.teardown(() => load.stop())
  const early = await events.until('recycled', { where: line => line.reason === 'forecast' })
  await events.until('recycled', { count: 4 })
  const { requests, failures } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(early.cut, 0)
  for (const { bytes, softBytes, crossesInMs } of events.all('worker.condemn').filter(line => line.reason === 'forecast')) {
    t.ok(bytes > 0.5 * softBytes, `${bytes} of ${softBytes}`)
    t.type(crossesInMs, 'number')
  }
  const lines = [...events.lines]
  t.same(unplanned(lines), [])
  t.strictSame(replay(lines), decided(lines))
  t.not(supervisor.status().memory, null)
})
