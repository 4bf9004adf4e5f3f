'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')
const { startAdmin } = require('../support/admin')

/** Polls until stopped; returns the answers that were not 200. @param {(path: string) => Promise<any>} ask */
function watchReadiness (ask) {
  const stopped = new AbortController()
  /** @type {any[]} */
  const bad = []
  let asked = 0
  const done = (async () => {
    while (!stopped.signal.aborted) {
      const { status, body } = await ask('/readyz')
      asked++
      if (status !== 200) bad.push({ status, body })
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  })()
  return async () => {
    stopped.abort()
    await done
    return { bad, asked }
  }
}

t.test('a fleet is ready while it recycles, reloads and scales', async t => {
  const { ask, supervisor } = await startAdmin(t, 'plain.js', { workers: 2 })
  t.match(await ask('/readyz'), { status: 200, body: 'ready: 2 of 2 workers are, 2 must be\n' })
  t.match(await ask('/healthz'), { status: 200, body: 'ok\n' })
  const stopped = watchReadiness(ask)
  await supervisor.recycle(0)
  await supervisor.scale(4)
  await supervisor.reload()
  t.equal((await ask('/readyz')).body, 'ready: 4 of 4 workers are, 4 must be\n')
  await supervisor.scale(1)
  const { bad, asked } = await stopped()
  t.same(bad, [])
  t.ok(asked > 20, `${asked} times`)
  t.equal((await ask('/readyz')).body, 'ready: 1 of 1 workers are, 1 must be\n')
})

t.test('a fleet with as many workers missing as allowed is ready', async t => {
  const { ask, supervisor } = await startAdmin(t, 'plain.js', { workers: 2, maxSurge: 0, maxUnavailable: 1 })
  const stopped = watchReadiness(ask)
  await supervisor.recycle(1)
  t.same((await stopped()).bad, [])
  t.equal((await ask('/readyz')).body, 'ready: 2 of 2 workers are, 1 must be\n')
})

t.test('workers that fail their health check are not ready, though they serve', async t => {
  const file = path.join(t.testdir(), 'health')
  fs.writeFileSync(file, '200')
  process.env.HEALTH_FILE = file
  t.teardown(() => { delete process.env.HEALTH_FILE })
  const { ask, port, events } = await startAdmin(t, 'limits.js', { workers: 2, health: '/healthz', healthPeriod: '100ms', healthTimeout: '2s', readyTimeout: '20s' })
  t.equal((await ask('/readyz')).body, 'ready: 2 of 2 workers are, 2 must be\n')
  fs.writeFileSync(file, '503')
  await events.until('worker.condemn', { count: 2 })
  t.match(await ask('/readyz'), { status: 503, body: 'not ready: 0 of 2 workers are, 2 must be; 2 fail their health check\n' })
  t.match(await get(port), { status: 200 }, 'they serve: no replacement passes either')
  fs.writeFileSync(file, '200')
  await events.until('recycled', { count: 2 })
  t.match(await ask('/readyz'), { status: 200, body: 'ready: 2 of 2 workers are, 2 must be\n' })
})

t.test('after a crash a fleet is not ready until the worker is replaced', async t => {
  const { ask, supervisor, events } = await startAdmin(t, 'keeps.js', { workers: 2 })
  process.env.LATE_MS = '600000' // for workers spawned from here on
  t.teardown(() => { delete process.env.LATE_MS })
  process.kill(supervisor.status().workers[0].pid, 'SIGKILL')
  const crash = await events.until('worker.crash')
  t.match(await ask('/readyz'), { status: 503, body: 'not ready: 1 of 2 workers are, 2 must be\n' })
  t.match(await ask('/healthz'), { status: 200 })
  const { pid } = await events.until('worker.spawn', { where: line => line.t >= crash.t })
  t.match(await ask('/readyz'), { status: 503 }, 'its replacement is late')
  delete process.env.LATE_MS
  process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { where: line => line.t > crash.t })
  t.match(await ask('/readyz'), { status: 200 })
})

t.test('a fleet that is just starting is not ready', async t => {
  const { child, events, exited } = await startCli(t, ['-w', '2', '--control', 'none', '--admin', '0', path.join(FIXTURES, 'keeps.js')], { env: { LATE_MS: '600000' } })
  const { url } = await events.until('fleet.admin')
  const { port } = new URL(url)
  t.match(await get(Number(port), '/readyz'), { status: 503, body: /^not ready: 0 of 2 workers are/ })
  t.match(await get(Number(port), '/healthz'), { status: 200 })
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('from the start of a stop a fleet is not ready; the server answers until the end', async t => {
  const { port, adminPort, ask, supervisor, events } = await startAdmin(t, 'plain.js', { workers: 2 })
  const upload = http.request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': 2 }, agent: false })
  upload.write('x') // the other half is sent later
  await becomesTrue(() => supervisor.status().workers.some((/** @type {any} */ worker) => worker.inFlight === 1))
  const idle = new http.Agent({ keepAlive: true })
  t.equal((await ask('/healthz', { agent: idle })).status, 200)
  const stopped = supervisor.stop()
  const [ready, healthy, metrics, status] = await Promise.all(['/readyz', '/healthz', '/metrics', '/status'].map(path => ask(path)))
  t.match(ready, { status: 503, body: 'not ready: the fleet is stopping\n' })
  t.equal(healthy.status, 200)
  t.match(metrics, { status: 200, body: 'recycle_workers{state="draining"}' })
  t.equal(JSON.parse(status.body).workers.length, 2)
  t.equal(events.all('fleet.stop').length, 0, 'the response before the end')
  upload.end('y')
  t.equal((await once(upload, 'response'))[0].resume().statusCode, 200)
  await stopped
  await becomesTrue(() => Object.keys(idle.freeSockets).length === 0)
  t.same(Object.keys(idle.freeSockets), [], 'remaining connections are closed')
  t.equal((await get(adminPort, '/healthz')).error, 'ECONNREFUSED')
})

t.test('the status is that of the supervisor', async t => {
  const { ask, supervisor } = await startAdmin(t, 'plain.js', { workers: 2, interval: '10m', name: 'shop', control: 'none' })
  const { headers, body } = await ask('/status')
  t.equal(headers['content-type'], 'application/json')
  const still = (/** @type {any} */ status) => ({
    ...status, workers: status.workers.map(({ ageMs, elu, ...worker }) => worker)
  })
  t.same(still(JSON.parse(body)), still(JSON.parse(JSON.stringify(supervisor.status()))))
  t.match(JSON.parse(body), { v: 1, name: 'shop', workers: [{ slot: 0, state: 'ready' }, { slot: 1 }], totals: { workers: 2, ready: 2 } })
})
