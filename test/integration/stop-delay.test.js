'use strict'

const http = require('node:http')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { formatStatus } = require('../../lib/operate/control-table')
const { startAdmin } = require('../support/admin')
const { get } = require('../support/client')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { becomesTrue, livingOfGroup } = require('../support/processes')

const APP = path.join(FIXTURES, 'misbehaves.js')

t.test('a fleet that is to stop is not ready, serves all that comes, and closes each connection behind its answer; then it stops', async t => {
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-delay', '3s', '--admin', '127.0.0.1:0', '--stop-linger', '5s', APP])
  await events.until('worker.ready', { count: 2 })
  const { port: adminPort } = new URL((await events.until('fleet.admin')).url)
  const ready = async () => (await get(Number(adminPort), '/readyz')).status
  t.equal(await ready(), 200)
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 10, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  await Promise.all(loads.map(load => load.after(100)))
  const long = get(port, '/slow?ms=4000', { agent: new http.Agent({ keepAlive: true }) })
  child.kill('SIGTERM')
  t.match(await events.until('fleet.stop-delay'), { delayMs: 3000 })
  t.equal(await ready(), 503)
  const agent = new http.Agent({ keepAlive: true })
  const closes = async () => (await get(port, '/', { agent })).headers.connection === 'close'
  t.ok(await becomesTrue(closes))
  for (let i = 0; i < 20; i++) {
    const answer = await get(port, '/', { agent })
    if (i > 0 && events.all('worker.drain').length > 0) break // the machine is slow: the delay is over
    t.match(answer, { status: 200, reused: false, headers: { connection: 'close' } }, 'a new connection is accepted, and closed behind its answer')
  }
  const drain = await events.until('worker.drain')
  t.ok(drain.time - events.all('fleet.stopping')[0].time >= 2990, 'after the delay')
  t.match(await long, { status: 200, headers: { connection: 'close' } }, 'what is in flight finishes')
  t.same(await exited, { code: 0, signal: null })
  for (const load of loads) {
    const { failures } = await load.stop()
    t.same(failures.filter(failure => failure.error !== 'ECONNREFUSED'), [], 'only connections after the stop are refused')
  }
  for (const stopped of events.all('stopped')) t.equal(stopped.cut, 0)
  t.same(livingOfGroup(child.pid), [])
})

t.test('status tells it, a worker that dies meanwhile is replaced, its replacement closes connections too, and there is no upgrade', async t => {
  const { port, supervisor, events, ask } = await startAdmin(t, APP, { stopDelay: '5s' })
  t.same(supervisor.status().stopDelay, { leftMs: null })
  const [{ pid }] = supervisor.status().workers
  const stopped = supervisor.stop()
  t.match(formatStatus(supervisor.status()), /^stopping in 5s \(--stop-delay\)/m)
  await t.rejects(supervisor.upgrade(), { code: 'RECYCLE_STOPPED' })
  process.kill(pid, 'SIGKILL')
  await events.until('worker.crash')
  await events.until('worker.ready', { count: 3 })
  t.match(await ask('/readyz'), { status: 503, body: /stopping/ })
  const agent = new http.Agent({ keepAlive: true })
  const late = events.all('worker.ready')[2].pid
  const pids = new Set()
  t.ok(await becomesTrue(async () => {
    const { body, headers } = await get(port, '/pid', { agent })
    if (headers.connection === 'close') pids.add(Number(body))
    return pids.has(late)
  }))
  await stopped
  t.equal(events.all('fleet.stop-delay').length, 1)
})

t.test('a second signal ends the delay and stops now', async t => {
  const { child, events, exited } = await startCli(t, ['-w', '1', '--stop-delay', '60s', APP])
  await events.until('worker.ready')
  const began = performance.now()
  child.kill('SIGTERM')
  await events.until('fleet.stop-delay')
  await setTimeout(1100) // sooner it would be the same signal
  t.same(events.all('worker.drain'), [])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.ok(performance.now() - began < 20_000)
})

t.test('there is no delay for a stop that is to be at once, for a fleet that does not serve, and without the option', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { stopDelay: '60s' })
  await supervisor.stop({ now: true })
  t.same(events.all('fleet.stop-delay'), [])
  const booting = await startCli(t, ['-w', '1', '--stop-delay', '60s', APP])
  await booting.events.until('worker.spawn')
  booting.child.kill('SIGTERM')
  t.same(await booting.exited, { code: 0, signal: null })
  t.same(booting.events.all('fleet.stop-delay'), [])
  const plain = await startFleet(t, 'plain.js')
  await plain.supervisor.stop()
  t.same(plain.events.all('fleet.stop-delay'), [])
  t.equal(plain.supervisor.status().stopDelay, null)
})
