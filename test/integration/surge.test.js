'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { clientPerWorker, get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { trackFleetSize } = require('../support/fleet-size')
const { extent } = require('../support/campaign')
const { formatStatus } = require('../../lib/operate/control-table')

const { addon } = loadAddon()
const ROUNDS = extent({ short: [1], long: [1, 2] })
const RELOADS = extent({ short: 1, long: 3 })

t.test('a budget that a fresh worker exceeds is said once and raised: no worker is replaced for it', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, interval: '50ms', samples: 1, jitter: 0, maxRss: '2MiB' })
  for (const slot of [0, 1]) await events.until('worker.sample', { count: 10, where: line => line.slot === slot })
  t.same(events.all('worker.condemn'), [])
  const warnings = events.all('fleet.warning').filter(line => line.warning === 'fresh-over-budget')
  t.equal(warnings.length, 1)
  const { bytes, softBytes, raisedBytes } = warnings[0]
  t.same({ softBytes, raisedBytes }, { softBytes: 2 * 1024 ** 2, raisedBytes: Math.round(1.25 * bytes) })
  const { freshOverBudget, workers } = supervisor.status()
  t.same(freshOverBudget, { bytes, softBytes, raisedBytes })
  for (const { budgetBytes, rssBytes } of workers) t.ok(budgetBytes > rssBytes)
  t.match(formatStatus(supervisor.status()), /^a fresh worker already has \d+(\.\d)? MiB, more than its budget of 2 MiB, and so would its replacement: workers are replaced above/m)
})

t.test('pages of files that workers map are no reason to replace them: said once', { skip: !addon && 'no addon, which maps files' }, async t => {
  const file = path.join(t.testdir(), 'mapped')
  fs.writeFileSync(file, '')
  fs.truncateSync(file, 192 * 1024 ** 2)
  process.env.MAPPED = file
  t.teardown(() => delete process.env.MAPPED)
  const { port, events, supervisor } = await startFleet(t, 'maps.js', { interval: '50ms', jitter: 0, maxRss: '120MiB', hardRss: '130MiB' })
  const all = await clientPerWorker(t, port, 2, 'x-pid')
  for (const [pid, agent] of all) {
    const isAll = (/** @type {any} */ line) => line.pid === pid && line.rssBytes > 190 * 1024 ** 2
    while (!events.all('worker.sample').some(isAll)) t.equal((await get(port, '/', { agent })).status, 200)
    const { rssBytes, anonBytes } = await events.until('worker.sample', { where: isAll })
    t.ok(anonBytes < rssBytes / 2)
    t.match(await events.until('worker.budget', { where: line => line.pid === pid }), { budget: { metric: 'anon', softBytes: 120 * 1024 ** 2 } })
  }
  t.same(events.all('worker.condemn'), [])
  t.match(events.all('fleet.warning').map(({ warning, metric }) => [warning, metric]), [['mapped-files', 'rss']])
  t.equal(supervisor.status().totals.recycles, 0)
})

t.test('a worker that grows above its raised budget is replaced', async t => {
  const { port, events } = await startFleet(t, 'leaky.js', { workers: 1, interval: '50ms', jitter: 0, maxRss: '2MiB' })
  await events.until('worker.budget')
  const load = new Load({ port, connections: 2 })
  t.teardown(() => load.stop())
  t.match(await events.until('recycled'), { cut: 0, reason: /^(hard-)?rss$/ })
  t.same((await load.stop()).failures, [])
})

t.test('all workers at their age at once: never fewer ready workers than configured, one recycle at a time', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 3, interval: '50ms', jitter: 0, maxAge: '1s' })
  const seen = trackFleetSize(supervisor)
  const load = new Load({ port, connections: 6 })
  t.teardown(() => load.stop())
  // Step by step: the time limit of until() is for one recycle, not for all.
  for (const count of ROUNDS) for (const slot of [0, 1, 2]) await events.until('recycled', { count, where: line => line.slot === slot })
  t.equal(seen.fewestReady, 3, 'every slot was served at all times')
  t.ok(seen.mostAlive <= 5, `one replacement at a time beside three: ${seen.mostAlive} alive with the retiring worker`)
  for (const recycled of events.all('recycled')) t.match(recycled, { cut: 0, reason: 'age' })
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 6, 'no client ever reconnected')
})

t.test('--max-surge 0 --max-unavailable 1 drains first, one at a time, and nothing fails', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, interval: '50ms', maxSurge: 0, maxUnavailable: 1 })
  const seen = trackFleetSize(supervisor)
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 6, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 0; i < RELOADS; i++) {
    await loads[1].after(30)
    await supervisor.reload()
  }
  t.equal(seen.fewestReady, 1, 'at times one worker was missing, never two')
  t.equal(seen.mostAlive, 2, 'there was never an extra worker')
  await events.until('recycled', { count: 2 * RELOADS })
  const recycles = events.all('recycled')
  for (const { how, cut, slot, pid, oldPid } of recycles) {
    t.match({ how, cut }, { how: 'drain-first', cut: 0 })
    const at = (/** @type {string} */ event, /** @type {number} */ which) =>
      events.lines.findIndex(line => line.event === event && line.slot === slot && line.pid === which)
    t.ok(at('worker.retire', oldPid) < at('worker.spawn', pid), 'the old worker exits before the new one is spawned')
  }
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
  }
})

t.test('one worker with a lock that no other process can share: the old one leaves first, and its clients wait', async t => {
  process.env.LOCK = path.join(t.testdir(), 'lock')
  t.teardown(() => { delete process.env.LOCK })
  const { port, supervisor, events } = await startFleet(t, 'locks.js', { workers: 1, maxSurge: 0, maxUnavailable: 1 })
  const seen = trackFleetSize(supervisor)
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 6, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 0; i < RELOADS; i++) {
    await loads[1].after(30)
    await supervisor.reload()
  }
  await loads[0].after(30)
  const [kept, opened] = await Promise.all(loads.map(load => load.stop()))
  t.same([...kept.failures, ...opened.failures], [], `of ${kept.requests + opened.requests} requests`)
  t.equal(kept.sockets, 6, 'idle connections wait in the primary, and no client reconnects')
  t.equal(seen.mostAlive, 1)
  for (const line of events.all('recycled')) t.match(line, { how: 'drain-first', cut: 0, unaccounted: 0, ended: 'retired' })
  t.same(events.all('worker.crash'), [])
})

t.test('--max-surge 2: two recycle at once', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { workers: 3, interval: '50ms', maxSurge: 2 })
  const seen = trackFleetSize(supervisor)
  const load = new Load({ port, connections: 6 })
  t.teardown(() => load.stop())
  await load.after(30)
  await supervisor.reload()
  t.ok(seen.fewestReady >= 3, 'every slot was served at all times')
  t.ok(seen.mostAlive >= 5, 'two replacements beside the fleet')
  await events.until('recycled', { count: 3 })
  t.same((await load.stop()).failures, [])
})
