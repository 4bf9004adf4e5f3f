'use strict'

/** The app's own metrics in /metrics, over recycles and a death. */

const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { FIXTURES } = require('../support/fleet')
const { startUpgradable } = require('../support/upgrade')
const { get } = require('../support/client')
const { startAdmin, scrape } = require('../support/admin')

const REQUESTS = 'requests_total{path="/a"}'

t.test('counters of the app are added up over the workers, and do not go back as workers are replaced', async t => {
  const { port, adminPort, supervisor, events } = await startAdmin(t, 'prom.js', { workers: 2 })
  const ask = async count => { for (let i = 0; i < count; i++) await get(port, '/a') }
  await ask(20)
  const first = await scrape(adminPort)
  t.match([first.get(REQUESTS), first.get('size_bytes_count'), first.get('size_bytes_bucket{le="10"}'), first.get('answer')], [20, 20, 20, 42])
  t.equal(first.get('recycle_recycles_total{reason="reload"}'), 0, "the supervisor's own names are its own")
  t.equal(first.has('recycle_recycles_total'), false)
  for (let i = 1; i <= 3; i++) {
    await supervisor.reload()
    await ask(10)
    const metrics = await scrape(adminPort)
    t.match([metrics.get(REQUESTS), metrics.get('size_bytes_count'), metrics.get('answer')], [20 + 10 * i, 20 + 10 * i, 42], `after ${i} reloads`)
  }
  const [{ pid }] = supervisor.status().workers
  process.kill(pid, 'SIGKILL')
  await events.until('worker.crash')
  await events.until('worker.ready', { count: 9 })
  t.equal((await scrape(adminPort)).get(REQUESTS), 50, 'what a killed worker had at the last scrape')
})

t.test('nor do they as the primary is replaced, and nothing is counted twice', async t => {
  const { port, child, events } = await startUpgradable(t, ['--admin', '0', path.join(FIXTURES, 'prom.js')])
  const { url } = await events.until('fleet.admin')
  const adminPort = Number(new URL(url).port)
  const run = { isOver: false, asked: 0 }
  const asking = (async () => { for (; !run.isOver; run.asked++) await get(port, '/a') })()
  const seen = []
  const scraping = (async () => { while (!run.isOver) seen.push((await scrape(adminPort)).get(REQUESTS) ?? 0) })()
  for (let i = 1; i <= 2; i++) {
    const { asked } = run
    while (run.asked < asked + 20) await delay(10)
    process.kill(events.all('fleet.upgraded').at(-1)?.pid ?? child.pid, 'SIGUSR2')
    await events.until('fleet.left', { count: i })
  }
  await delay(300)
  run.isOver = true
  await Promise.all([asking, scraping])
  t.equal((await scrape(adminPort)).get(REQUESTS), run.asked)
  t.same(seen, [...seen].sort((a, b) => a - b), 'they never go back')
})

t.test('a registry of its own is exposed in one line; --no-app-metrics serves none', async t => {
  process.env.OWN = '1'
  const { adminPort } = await startAdmin(t, 'prom.js', { workers: 2 })
  delete process.env.OWN
  t.equal((await scrape(adminPort)).get('own_total'), 2)
  const without = await startAdmin(t, 'prom.js', { workers: 1, appMetrics: false })
  await get(without.port, '/a')
  t.equal((await scrape(without.adminPort)).has(REQUESTS), false)
})

t.test('an app without prom-client does not harm the scrape', async t => {
  const { adminPort } = await startAdmin(t, 'plain.js', { workers: 1 })
  const metrics = await scrape(adminPort)
  t.equal(metrics.get('recycle_slots'), 1)
})
