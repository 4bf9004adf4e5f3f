'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { BIN, FIXTURES, freePort } = require('../support/fleet')
const { call } = require('../support/calls')
const { Load } = require('../support/load')
const { get } = require('../support/client')
const { becomesTrue, runToEnd } = require('../support/processes')
const { lacking } = require('../support/program')
const { startAdmin, scrape, scrapeUntil, sumOf } = require('../support/admin')

const REQUESTS = 'recycle_worker_requests_total'

const total = (/** @type {any[]} */ lines, /** @type {string} */ name) =>
  lines.reduce((sum, line) => sum + line[name], 0)

t.test('responses with 5xx and times of responses; the connections of a worker that crashes in its drain are counted once, by its account', async t => {
  const { port, adminPort, supervisor, events } = await startAdmin(t, 'plain.js', { workers: 1, replay: 'off' })
  t.match(await Promise.all(['/500', '/', '/slow?ms=200'].map(path => get(port, path))), [{ status: 500 }, { status: 200 }, {}])
  const times = await scrapeUntil(adminPort, metrics => metrics.has('recycle_worker_response_p99_seconds{slot="0"}'))
  t.ok(times.get('recycle_worker_response_p99_seconds{slot="0"}') >= 0.2 && times.get('recycle_worker_response_p50_seconds{slot="0"}') < 0.2)
  t.equal(times.get('recycle_worker_server_errors{slot="0"}'), 1)
  const stuck = get(port, '/slow?ms=60000').catch(() => {})
  await scrapeUntil(adminPort, metrics => sumOf(metrics, 'recycle_worker_requests_in_flight') === 1)
  const recycled = supervisor.recycle(0)
  const { pid } = await events.until('worker.drain')
  process.kill(pid, 'SIGKILL')
  await Promise.all([stuck, recycled])
  const metrics = await scrape(adminPort)
  t.match(events.all('recycled'), [{ cut: 1, unaccounted: 0, ended: 'crashed' }])
  t.equal(metrics.get('recycle_connections_cut_total'), 1)
  t.equal(metrics.get('recycle_connections_unaccounted_total'), 0)
  t.equal(metrics.get('recycle_worker_crashes_total'), 1)
})

t.test('the metrics agree with the journal', async t => {
  const { port, adminPort, ask, supervisor, events } = await startAdmin(t, 'plain.js', { workers: 2, maxRss: '900MiB', replay: 'off' })
  /** The highest value seen of each counter: none may decrease. @type {Map<string, number>} */
  const highest = new Map()
  /** @type {string[]} */
  const back = []
  const watch = async () => {
    const metrics = await scrape(adminPort)
    for (const [key, value] of metrics) {
      if (!/_(?:total|count|sum|bucket)\b/.test(key)) continue
      if (value < (highest.get(key) ?? 0)) back.push(`${key}: ${highest.get(key)} → ${value}`)
      highest.set(key, value)
    }
    return metrics
  }

  const load = new Load({ port, connections: 6, thinkMs: 5 })
  await load.after(3000) // so many leave garbage
  for (const slot of [0, 1, 0]) {
    const recycled = supervisor.recycle(slot)
    for (let i = 0; i < 5; i++) await watch()
    await recycled
    await load.after(20)
  }
  const reloaded = supervisor.reload()
  for (let i = 0; i < 5; i++) await watch()
  await reloaded
  const { requests, failures } = await load.stop()
  t.same(failures, [])
  t.same(await supervisor.status().totals.recycles, 5)
  const metrics = await scrapeUntil(adminPort, metrics => sumOf(metrics, REQUESTS) >= requests)
  await watch()

  await t.test('recycles, and the ends of their connections', async t => {
    const recycled = events.all('recycled')
    t.equal(metrics.get('recycle_recycles_total{reason="requested"}'), 3)
    t.equal(metrics.get('recycle_recycles_total{reason="reload"}'), 2)
    t.equal(metrics.get('recycle_recycles_total{reason="rss"}'), 0, 'a reason that has not occurred is there, with 0')
    t.equal(metrics.get('recycle_connections_moved_total{reason="leaving"}'), total(recycled, 'moved'))
    t.equal(metrics.get('recycle_connections_moved_total{reason="load"}'), 0)
    t.ok(total(recycled, 'moved') > 0)
    t.equal(metrics.get('recycle_connections_cut_total'), total(recycled, 'cut'))
    t.equal(metrics.get('recycle_connections_taken_back_total'), total(recycled, 'takenBack'))
    t.equal(metrics.get('recycle_connections_unacknowledged_total'), total(recycled, 'unacked'))
    t.equal(metrics.get('recycle_worker_crashes_total'), 0)
    t.equal(metrics.get('recycle_replacements_failed_total'), 0)
  })

  await t.test('durations', async t => {
    const recycled = events.all('recycled')
    const isClose = (/** @type {string} */ key, /** @type {number} */ ms) =>
      t.ok(Math.abs(/** @type {number} */ (metrics.get(key)) - ms / 1000) < 1e-6, key)
    t.equal(metrics.get('recycle_drain_duration_seconds_count'), 5)
    isClose('recycle_drain_duration_seconds_sum', total(recycled, 'drainMs'))
    t.equal(metrics.get('recycle_recycle_duration_seconds_count'), 5)
    isClose('recycle_recycle_duration_seconds_sum', total(recycled, 'tookMs'))
    t.equal(metrics.get('recycle_worker_ready_duration_seconds_count'), 7)
    isClose('recycle_worker_ready_duration_seconds_sum', total(events.all('worker.ready'), 'readyMs'))
    t.equal(metrics.get('recycle_drain_duration_seconds_bucket{le="+Inf"}'), 5)
  })

  await t.test('every request is counted, once, over all recycles', async t => {
    t.equal(sumOf(metrics, REQUESTS), requests)
    t.same(back, [], 'no counter ever decreases')
  })

  await t.test('each slot, as in the status', async t => {
    const samples = events.all('worker.sample').length
    await events.until('worker.sample', { count: samples + 4 }) // at least one sample of both present workers
    const { workers } = supervisor.status()
    const metrics = await scrape(adminPort)
    t.equal(metrics.get('recycle_slots'), 2)
    t.equal(metrics.get('recycle_workers{state="ready"}'), 2)
    t.equal(metrics.get('recycle_workers{state="draining"}'), 0)
    for (const { slot, budgetBytes } of workers) {
      const of = (/** @type {string} */ name) => metrics.get(`recycle_worker_${name}{slot="${slot}"}`)
      t.equal(of('budget_bytes'), budgetBytes)
      t.ok(of('resident_bytes') > 20e6 && of('resident_bytes') < 900e6)
      t.ok(of('event_loop_utilization_ratio') >= 0 && of('event_loop_utilization_ratio') <= 1)
      t.equal(of('connections'), 0)
      t.equal(of('requests_in_flight'), 0)
    }
    const stuck = get(port, '/slow?ms=60000').catch(() => {})
    const busy = await scrapeUntil(adminPort, metrics => sumOf(metrics, 'recycle_worker_requests_in_flight') === 1)
    t.equal(sumOf(busy, 'recycle_worker_requests_in_flight'), 1)
    t.equal(sumOf(busy, 'recycle_worker_connections'), 1)
    await becomesTrue(() => supervisor.status().failover.connections === 1) // the primary has a descriptor of it
    const { slot } = supervisor.status().workers.find((/** @type {any} */ worker) => worker.inFlight === 1)
    process.kill(supervisor.status().workers.find((/** @type {any} */ worker) => worker.slot === slot).pid, 'SIGKILL')
    await stuck
    await events.until('worker.ready', { count: 8 })
    const crashed = await watch()
    t.equal(crashed.get('recycle_worker_crashes_total'), 1)
    t.equal(crashed.get('recycle_connections_cut_total'), total(events.all('recycled'), 'cut') + 1, 'its request was answered with 502')
    t.equal(crashed.get('recycle_connections_unaccounted_total'), 0)
    t.same(back, [], 'nor over a crash')
  })

  await t.test('pauses for garbage collection, over all recycles', async t => {
    /** The counts of each worker at its last sample. @type {Map<number, any>} */
    const last = new Map(events.all('worker.sample').map(line => [line.pid, line.gc]))
    const metrics = await watch()
    for (const [kind, key] of [['scavenge', 'scavenges'], ['mark_sweep', 'markSweeps']]) {
      const of = (/** @type {string} */ name) => [0, 1].reduce((sum, slot) => sum + (metrics.get(`recycle_worker_gc_${name}{slot="${slot}",kind="${kind}"}`) ?? NaN), 0)
      const counted = (/** @type {string} */ name) => [...last.values()].reduce((sum, gc) => sum + gc[key][name], 0)
      t.ok(of('pauses_total') >= counted('count'), `${of('pauses_total')} of ${counted('count')} ${key}`)
      t.ok(of('pause_seconds_total') >= counted('totalMs') / 1000 - 1e-6)
      t.ok(of('longest_pause_seconds') >= 0)
    }
    t.ok([...last.values()].some(gc => gc.scavenges.count > 0), 'there was garbage')
    t.ok(/** @type {number} */ (metrics.get('recycle_worker_event_loop_lag_seconds{slot="0"}')) >= 0)
    t.same(back, [])
  })

  await t.test('one worker is taken out of rotation to collect', async t => {
    await supervisor.gc(0)
    t.equal((await watch()).get('recycle_collections_total{reason="requested"}'), events.all('collected').length)
    t.equal(events.all('collected').length, 1)
  })

  await t.test('a slot that is scaled away has no gauges', async t => {
    await supervisor.scale(1)
    const metrics = await watch()
    t.equal(metrics.get('recycle_slots'), 1)
    t.equal(metrics.has('recycle_worker_budget_bytes{slot="1"}'), false)
    t.equal(metrics.has('recycle_worker_budget_bytes{slot="0"}'), true)
    t.equal(metrics.get('recycle_drain_duration_seconds_count'), events.all('recycled').length + events.all('scaled').length)
    t.equal(events.all('scaled').length, 1)
    t.same(back, [])
  })

  await t.test('the format is that of Prometheus', { skip: lacking('promtool') }, async t => {
    const { body, headers } = await ask('/metrics')
    t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })
    t.same({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  })

  await t.test('the docs have every metric, its type and its labels, and no other', async t => {
    const { body } = await ask('/metrics')
    const types = [...body.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type])
    const docs = fs.readFileSync(path.join(__dirname, '..', '..', 'docs', 'metrics.md'), 'utf8')
    const rows = [...docs.matchAll(/^\| `(recycle_\w+)` \| (\w+) \|([^|]*)\|/gm)].map(([, name, type, labels]) => ({ name, type, labels: [...labels.matchAll(/\w+/g)].map(String) }))
    t.same(new Set(rows.map(({ name, type }) => `${name} ${type}`)), new Set(types.map(([name, type]) => `${name} ${type}`)))
    for (const { name, labels } of rows.filter(({ type }) => type !== 'histogram')) {
      const shown = new RegExp(`^${name}(?:\\{([^}]*)\\})? `, 'm').exec(body)
      if (shown) t.same([...shown[1]?.matchAll(/(\w+)="/g) ?? []].map(match => match[1]), labels, name)
    }
  })

  await t.test('simultaneous scrapes get the same text', async t => {
    const texts = await Promise.all(Array.from({ length: 20 }, () => ask('/metrics')))
    t.ok(texts.every(({ status }) => status === 200))
    t.ok(texts.every(({ body }) => body.endsWith('\n') && body.includes('recycle_worker_gc_longest_pause_seconds')))
  })
})

t.test('prom-client is loaded only with --admin', async t => {
  const script = `
    const { supervise } = require(${JSON.stringify(path.join(__dirname, '..', '..'))})
    const fleet = supervise({ app: process.env.APP, workers: 1, stopLinger: 0, ...JSON.parse(process.env.OPTIONS) })
    fleet.ready().then(() => fleet.stop()).then(() => console.log(Object.keys(require.cache).some(file => file.includes('prom-client'))))`
  const loads = async (/** @type {object} */ options) => runToEnd([process.execPath, '-e', script], {
    env: { PORT: String(await freePort()), APP: path.join(FIXTURES, 'plain.js'), OPTIONS: JSON.stringify(options) }
  })
  t.match(await loads({}), { code: 0, stdout: 'false\n' })
  t.match(await loads({ admin: 0 }), { code: 0, stdout: 'true\n' })
})

t.test('--admin logs its address; an address that is not available gives one sentence', async t => {
  const app = path.join(FIXTURES, 'plain.js')
  const run = (/** @type {string[]} */ ...args) => runToEnd([process.execPath, BIN, '--control', 'none', '--log', 'json', ...args, app], { env: { PORT: '0' } })
  const { adminPort, url } = await startAdmin(t, 'plain.js', { workers: 1 })
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  t.match(await run('--admin', `127.0.0.1:${adminPort}`), {
    code: 2, stdout: '', stderr: `recycle: the admin server cannot listen on 127.0.0.1:${adminPort}: another process listens there already\n`
  })
  t.match(await call(['--admin', '0.0.0.0:9100', app]), {
    code: 2, stderr: 'recycle: --admin was given "0.0.0.0:9100"; it takes a loopback address, such as 127.0.0.1:9100; any other only with --admin-allow-remote\n'
  })
  t.match(await run('--admin', 'there.invalid:0', '--admin-allow-remote'), {
    code: 2, stderr: /^recycle: the admin server cannot listen on there\.invalid:0: (there is no host of that name|the name of the host cannot be looked up)\n$/
  })
})
