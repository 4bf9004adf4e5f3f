'use strict'

const t = require('tap')
const { extent } = require('../support/campaign')
const { Load } = require('../support/load')
const { startCli } = require('../support/fleet')
const { becomesTrue, childrenOf } = require('../support/processes')
const { surviveRecycles, startApp, endure, checkRecycles, appFile } = require('./under-load')

t.test('an app that forks a cluster serves instead of forking', async t => {
  const { supervisor } = await surviveRecycles(t, 'own-cluster.js')
  t.same(supervisor.status().workers.flatMap((/** @type {any} */ { pid }) => childrenOf(pid)), [], 'no worker has forked')
})

t.test('an app with threads and children of its own', async t => {
  const fleet = await startApp(t, 'own-helpers.js')
  await endure(t, fleet, [
    new Load({ port: fleet.port, path: '/thread', connections: 5, thinkMs: 200 }),
    new Load({ port: fleet.port, path: '/fork', connections: 1, thinkMs: 1000 }),
    new Load({ port: fleet.port, path: '/exec', connections: 1, thinkMs: 1000 })
  ])
})

t.test('an app that exchanges messages with its parent never receives those of recycle, and its own are not taken for them', async t => {
  const fleet = await startApp(t, 'own-messages.js', { workers: 1, maxRequests: undefined })
  const { told } = fleet
  const load = new Load({ port: fleet.port, connections: 5 })
  for (let i = 0; i < 2; i++) {
    await load.after(20)
    await fleet.supervisor.recycle(0)
  }
  await fleet.supervisor.reload()
  const { requests, failures } = await load.stop()
  t.same(failures, [], `none of ${requests} requests failed: a worker that received a message of recycle answers 500`)
  checkRecycles(t, fleet.events)
  t.same(fleet.events.all('worker.request'), [], 'its own messages request no recycle')
  t.equal(fleet.events.all('recycled').length, 3)
  t.ok(told.all('requested').length >= requests, 'all its messages arrive')
  await told.until('heard', { count: 3 })
  t.same(told.all('heard').flatMap(({ heard }) => heard), [])
})

// Of each worker: two at first, and two after the reload; a pipe holds 900
const LINES = extent({ short: 5000, long: 25_000 })

t.test(`an app that prints a lot: ${4 * LINES} lines, each whole, in order and with its slot`, async t => {
  const { port, child, events, out, exited } = await startCli(t, ['-w', '2', '--prefix', '--stop-linger', '100ms', appFile('prints.js')], { env: { LINES: String(LINES) } })
  await events.until('worker.ready', { count: 2 })
  const load = new Load({ port, connections: 5, thinkMs: 20 })
  t.ok(await becomesTrue(() => out.length >= 2 * LINES, 60_000))
  child.kill('SIGHUP')
  await events.until('recycled', { count: 2 })
  t.ok(await becomesTrue(() => out.length >= 4 * LINES, 60_000))
  const { requests, failures } = await load.stop()
  t.same(failures, [], `none of ${requests} requests failed`)
  checkRecycles(t, events)

  const slots = new Map(events.all('worker.spawn').map(({ pid, slot }) => [pid, slot]))
  const printed = new Map([...slots.keys()].map(pid => [pid, 0]))
  /** @type {string[]} */
  const torn = []
  for (const line of out) {
    const [, slot, pid, n] = /^\[(\d+)\] (\d+) (\d+) \.{60}$/.exec(line)?.map(Number) ?? []
    if (pid === undefined || slots.get(pid) !== slot || (printed.get(pid) ?? 0) + 1 !== n) torn.push(line)
    else printed.set(pid, n)
  }
  t.same(torn.slice(0, 3), [])
  t.same([...printed.values()], [LINES, LINES, LINES, LINES])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('--meter pidusage, as elsewhere than on Linux, recycles by RSS', async t => {
  const { supervisor, events } = await surviveRecycles(t, 'leaks.js', {
    load: { thinkMs: 100 }, // faster, and the app passes the hard limit between two samples
    options: { meter: 'pidusage', maxRequests: undefined, maxRss: '110MiB' },
    reason: 'rss',
    recycles: 1
  })
  t.equal(supervisor.parts.sampler.meter.name, 'pidusage')
  const rss = events.all('recycled').filter((/** @type {any} */ line) => line.reason === 'rss')
  t.ok(rss.every((/** @type {any} */ line) => line.rssBefore > 110 * 1024 ** 2), 'no worker was recycled before its budget')
})
