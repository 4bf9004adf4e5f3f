'use strict'

/** A worker that leaves the rotation for a while, by its app's pause() or by its health check. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { clientPerWorker, get } = require('../support/client')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { formatStatus } = require('../../lib/operate/control-table')

const workerOf = (/** @type {any} */ supervisor, /** @type {number} */ pid) =>
  supervisor.status().workers.find((/** @type {any} */ worker) => worker.pid === pid)

t.test('pause() moves the connections away, and resume() brings the worker back; nothing fails', async t => {
  const { port, supervisor, events } = await startFleet(t, 'pauses.js', { workers: 2 })
  const [[pid, agent], [other]] = await clientPerWorker(t, port, 2)
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 10, keepAlive, thinkMs: 10 }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  t.match(await get(port, '/refill', { agent }), { body: String(pid) })
  t.match(await events.until('worker.paused'), { pid, why: 'refills its cache' })
  t.match(formatStatus(supervisor.status()), /^slot \d is out of rotation: refills its cache$/m)
  while (workerOf(supervisor, pid).connections > 0) await loads[1].after(5)
  const before = workerOf(supervisor, pid).requests
  t.match(await get(port, '/pid', { agent }), { body: String(other), reused: true }, 'its client is at the other worker')
  await loads[1].after(20)
  t.ok(workerOf(supervisor, pid).requests <= before + 2, `it had no request meanwhile: ${workerOf(supervisor, pid).requests - before}`)
  t.same(events.all('worker.resumed'), [])
  supervisor.signal('SIGUSR2')
  t.match(await events.until('worker.resumed'), { pid, why: null })
  for (let i = 0; i < 200 && workerOf(supervisor, pid).requests < before + 10; i++) await loads[1].after(10)
  t.ok(workerOf(supervisor, pid).requests >= before + 10, 'and has requests again')
  const [kept, opened] = await Promise.all(loads.map(load => load.stop()))
  t.same([...kept.failures, ...opened.failures], [], `of ${kept.requests + opened.requests}`)
  t.equal(kept.sockets, 10)
})

t.test('a worker that is out of rotation does a task there, and stays out; the one that serves alone does not leave for a task', async t => {
  const { port, supervisor, events } = await startFleet(t, 'pauses.js', { workers: 2 })
  const [[pid, agent], [other]] = await clientPerWorker(t, port, 2)
  await get(port, '/refill', { agent })
  const { slot } = await events.until('worker.paused')
  const alone = 1 - Number(slot)
  await t.rejects(supervisor.gc(alone), { code: 'RECYCLE_NOT_DONE', details: { why: 'no other worker serves' } })
  t.match(await supervisor.gc(Number(slot)), { event: 'collected', pid, moved: 0 })
  t.match(workerOf(supervisor, pid), { state: 'ready', paused: 'refills its cache' })
  for (let i = 0; i < 30; i++) t.match(await get(port, '/pid'), { body: String(other) })
  t.same(events.all('worker.resumed'), [])
  supervisor.signal('SIGUSR2')
  await events.until('worker.resumed')
  t.match(await supervisor.gc(alone), { event: 'collected', pid: other })
})

t.test('the last worker in rotation stays; where it dies one is called back, until another is ready; a reload replaces one that is out', async t => {
  const { port, supervisor, events } = await startFleet(t, 'pauses.js', { workers: 2 })
  const [[pid, agent], [other, others]] = await clientPerWorker(t, port, 2)
  await get(port, '/pause', { agent })
  await events.until('worker.paused')
  await get(port, '/pause', { agent: others })
  t.match(await events.until('fleet.warning', { where: ({ warning }) => warning === 'kept-in-rotation' }), { pid: other, why: 'refills its cache' })
  process.kill(other, 'SIGKILL')
  t.match(await events.until('worker.resumed'), { pid, why: 'no other worker is in rotation' })
  await events.until('worker.paused', { count: 2, where: line => line.pid === pid })
  await supervisor.reload()
  t.ok(supervisor.status().workers.every((/** @type {any} */ { paused }) => paused === null))
  t.match(events.all('recycled').find(line => line.oldPid === pid), { cut: 0, ended: 'retired' })
})

t.test('--health-action rotate: a worker that fails its probes is out until it passes one, and is not replaced; the last one stays', async t => {
  const file = path.join(t.testdir({ ill: '' }), 'ill')
  process.env.HEALTH_FILE = file
  t.teardown(() => { delete process.env.HEALTH_FILE })
  const { port, supervisor, events } = await startFleet(t, 'pauses.js', {
    workers: 2, health: '/healthz', healthPeriod: '100ms', healthFailureThreshold: 2, healthAction: 'rotate', interval: '50ms'
  })
  const load = new Load({ port, connections: 8, thinkMs: 10 })
  t.teardown(() => load.stop())
  const [one, two] = supervisor.status().workers.map((/** @type {any} */ { pid }) => pid)
  fs.writeFileSync(file, `${one}`)
  t.match(await events.until('worker.paused'), { pid: one, why: 'GET /healthz: status 503' })
  fs.writeFileSync(file, `${one} ${two}`)
  t.match(await events.until('fleet.warning', { where: ({ warning }) => warning === 'kept-in-rotation' }), { pid: two })
  fs.writeFileSync(file, `${two}`)
  t.match(await events.until('worker.resumed'), { pid: one, why: null })
  t.match(await events.until('worker.paused', { where: ({ pid }) => pid === two }), { pid: two })
  fs.writeFileSync(file, '')
  t.match(await events.until('worker.resumed', { where: ({ pid }) => pid === two }), { why: null })
  await load.after(50)
  t.same((await load.stop()).failures, [])
  t.same([...events.all('worker.condemn'), ...events.all('worker.crash')], [])
})
