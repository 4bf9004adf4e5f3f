'use strict'

const t = require('tap')
const { loadAddon } = require('../../lib/mold/addon')
const { startFleet } = require('../support/fleet')
const { get, clientPerWorker, keepAsking } = require('../support/client')

const OPTIONS = { workers: 3, interval: '50ms', stuckTimeout: '1s', killTimeout: '500ms' }

t.test('a worker in an endless loop is still measured, and replaced; the other workers are not affected', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', OPTIONS)
  const clients = await clientPerWorker(t, port, 3)
  const [pid, agent] = [...clients][0]
  clients.delete(pid)
  const stops = [...clients.values()].map(other => keepAsking(port, '/pid', other))
  const spun = get(port, '/spin', { agent })

  const { slot, reason, silentMs } = await events.until('worker.condemn')
  t.same([reason, silentMs >= 1000], ['stuck', true])
  const samples = events.all('worker.sample').filter(line => line.pid === pid && line.silentMs > 500)
  t.ok(samples.length > 0)
  for (const sample of samples) t.match(sample, { rssBytes: Number, meter: String })

  t.match(await events.until('recycled'), { slot, oldPid: pid, reason: 'stuck', lost: true })
  t.match(await spun, loadAddon().addon ? { status: 502 } : { error: 'ECONNRESET' }) // no other worker gets it
  t.match(events.all('worker.retire').at(-1), { pid, signal: 'SIGKILL' })
  const spawned = events.lines.findIndex(line => line.event === 'worker.ready' && line.slot === slot && line.pid !== pid)
  t.ok(spawned !== -1 && spawned < events.lines.findIndex(line => line.event === 'worker.drain'), 'its replacement is ready before it is killed')
  for (const stop of stops) {
    const { requests, failures } = await stop()
    t.ok(requests > 0)
    t.same(failures, [])
  }
  t.match(supervisor.status().totals, { workers: 3, ready: 3, recycles: 1 })
  t.equal(events.all('worker.condemn').length, 1)
})

t.test('a worker with an open inspector is never stuck', async t => {
  const { port, events } = await startFleet(t, 'misbehaves.js', OPTIONS)
  const clients = await clientPerWorker(t, port, 3)
  const [pid, agent] = [...clients][0]
  const now = Date.now()
  const { requests } = await events.until('worker.sample', { where: line => line.pid === pid && line.t - line.silentMs > now + 100 })
  t.match(await get(port, '/inspect', { agent }), { status: 200 })
  t.match(await get(port, '/', { agent }), { status: 200 })
  await events.until('worker.sample', { where: line => line.pid === pid && line.requests === requests + 2 }) // a heartbeat since the inspector is open
  get(port, '/spin', { agent })
  const { t: began } = events.lines.at(-1) ?? {}
  await events.until('worker.sample', { where: line => line.pid === pid && line.t > began + 3000 })
  t.same(events.all('worker.condemn'), [])
  t.same(events.all('worker.drain'), [])
})
