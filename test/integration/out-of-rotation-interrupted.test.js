'use strict'

const t = require('tap')
const { startFleet } = require('../support/fleet')
const { clientOf, hold, pidOf, workerOf } = require('../support/memory')

t.test('requests left at the timeout are not cut: the worker stays in service', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { drainTimeout: '500ms' })
  const { pid } = workerOf(supervisor, 1)
  const client = await clientOf(t, port, pid)
  await hold(client, told)
  await t.rejects(supervisor.gc(1), { code: 'RECYCLE_NOT_DONE', message: /1 of its connections are left, with 1 requests in flight/ })
  t.match(events.all('worker.in-rotation'), [{ pid, why: /are left/ }])
  t.equal(workerOf(supervisor, 1).state, 'ready')
  const releasing = await clientOf(t, port, pid)
  await releasing.fetch('/release')
  const [, { status, headers }] = await client.received(2)
  t.equal(status, 200)
  t.not(headers.connection, 'close')
  t.equal(pidOf(await client.fetch('/')), pid)
})

t.test('without another worker that serves it is refused', async t => {
  const { supervisor, events } = await startFleet(t, 'memory.js', { workers: 1 })
  await t.rejects(supervisor.gc(0), { code: 'RECYCLE_NOT_DONE', message: 'the collection of slot 0 was not done: no other worker serves' })
  t.equal(events.all('worker.out-of-rotation').length, 0)
  await supervisor.scale(2)
  t.match(await supervisor.gc(0), { event: 'collected' })
})

t.test('if the other workers die meanwhile, it is called back', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 2 })
  const [{ pid }, other] = supervisor.status().workers
  const client = await clientOf(t, port, pid)
  await hold(client, told)
  const refused = t.rejects(supervisor.gc(0), { code: 'RECYCLE_NOT_DONE', message: /called back/ })
  await events.until('worker.out-of-rotation')
  process.kill(other.pid, 'SIGKILL')
  await refused
  t.equal(workerOf(supervisor, 0).state, 'ready')
})

t.test('its silence does not count as stuck', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 2, stuckTimeout: '1s' })
  const [{ pid }, other] = supervisor.status().workers
  const client = await clientOf(t, port, pid)
  await hold(client, told)
  const collected = supervisor.gc(0)
  await events.until('worker.out-of-rotation')
  process.kill(pid, 'SIGSTOP')
  const samples = events.all('worker.sample').filter(line => line.pid === other.pid).length
  await events.until('worker.sample', { where: line => line.pid === other.pid, count: samples + 20 })
  await client.close()
  process.kill(pid, 'SIGCONT')
  t.match(await collected, { event: 'collected', pid })
  const since = events.all('worker.sample').filter(line => line.pid === pid).length
  await events.until('worker.sample', { where: line => line.pid === pid, count: since + 3 })
  t.same(events.all('worker.condemn'), [])
})

for (const when of /** @type {const} */ (['leaving', 'at its task'])) {
  t.test(`a stop while it is ${when} ends normally`, async t => {
    const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 2, drainTimeout: '1s', args: when === 'leaving' ? [] : ['--objects=1000000'] })
    const [{ pid }] = supervisor.status().workers
    const client = await clientOf(t, port, pid)
    if (when === 'leaving') await hold(client, told)
    const task = supervisor.gc(0).then(() => null, (/** @type {any} */ error) => error.code)
    const waiting = supervisor.gc(1).then(() => null, (/** @type {any} */ error) => error.code)
    await events.until('worker.out-of-rotation')
    await supervisor.stop()
    if (when === 'leaving') t.equal(await task, 'RECYCLE_NOT_DONE')
    else await task
    t.equal(await waiting, 'RECYCLE_STOPPED')
    const stopped = events.all('stopped')
    t.equal(stopped.length, 2)
    t.equal(stopped.find(line => line.oldPid === pid)?.cut, when === 'leaving' ? 1 : 0)
    t.notOk(stopped.some(line => line.lost))
  })
}

t.test('a slot is scaled away while its worker is out of rotation', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 3, drainTimeout: '1s', replay: 'off' })
  const { pid } = workerOf(supervisor, 2)
  const client = await clientOf(t, port, pid)
  await hold(client, told)
  const refused = t.rejects(supervisor.gc(2), { code: 'RECYCLE_NOT_DONE' })
  await events.until('worker.out-of-rotation')
  await supervisor.scale(2)
  await refused
  t.match(events.all('scaled'), [{ oldPid: pid, cut: 1 }])
  t.match(await supervisor.gc(0), { event: 'collected' })
})
