'use strict'

const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { startCli, FIXTURES } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { Load } = require('../support/load')
const { becomesTrue, livingOfGroup, childrenOf } = require('../support/processes')

const APP = path.join(FIXTURES, 'misbehaves.js')
const QUICK = ['-i', '50ms', '--stop-linger', '100ms', '--kill-timeout', '1s']

for (const [workers, prefix] of /** @type {const} */ ([[2, false], [1, true]])) {
  t.test(`SIGKILL of the primary${prefix ? ', through which the worker prints,' : ''} with requests in flight: they are answered, and no process is left`, async t => {
    const { port, child, events, out, exited } = await startCli(t, ['-w', String(workers), ...QUICK, ...(prefix ? ['--prefix'] : []), APP])
    await events.until('worker.ready', { count: workers })
    const clients = await clientPerWorker(t, port, workers)
    const slow = [...clients.values()].map(agent => get(port, '/slow?ms=1500', { agent }))
    t.ok(await becomesTrue(() => out.length === workers), 'each worker has a request in flight')
    child.kill('SIGKILL')
    for (const answer of await Promise.all(slow)) t.match(answer, { status: 200, body: 'ok' })
    t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
    t.same(await exited, { code: null, signal: 'SIGKILL' })
  })
}

t.test('SIGKILL of the primary of idle workers: no process is left', async t => {
  const { port, child, events } = await startCli(t, ['-w', '2', ...QUICK, APP])
  await events.until('worker.ready', { count: 2 })
  await clientPerWorker(t, port, 2)
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
  t.equal((await get(port)).error, 'ECONNREFUSED')
})

t.test('SIGKILL of the primary while workers boot: no process is left', async t => {
  const { child, events } = await startCli(t, ['-w', '2', ...QUICK, APP])
  await events.until('worker.spawn', { count: 2 })
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
})

t.test('SIGKILL of the primary in the middle of a recycle, under keep-alive load: no process is ever left', async t => {
  // worker.condemn is next to worker.spawn. At worker.retire the other worker is still to be recycled.
  const moments = [...extent({ short: [], long: ['worker.condemn'] }), 'worker.spawn', 'worker.ready', 'worker.drain', 'worker.retire']
  for (let i = 0; i < extent({ short: moments.length, long: 4 * moments.length }); i++) {
    const moment = moments[i % moments.length]
    const workers = extent({ short: moment === 'worker.retire' ? 2 : 1, long: 2 })
    const { port, child, events } = await startCli(t, ['-w', String(workers), ...QUICK, APP])
    await events.until('worker.ready', { count: workers })
    const load = new Load({ port, connections: 6 })
    t.teardown(() => load.stop())
    await load.after(20)
    const soFar = events.all(moment).length
    child.kill('SIGHUP')
    await events.until(moment, { count: soFar + 1 })
    child.kill('SIGKILL')
    t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), `at ${moment}: no process is left`)
    await load.stop()
  }
})

t.test('SIGKILL of the primary while it stops: no process is left', async t => {
  const { port, child, events } = await startCli(t, ['-w', '1', '--stop-linger', '60s', APP])
  await events.until('worker.ready')
  const clients = await clientPerWorker(t, port, 1)
  child.kill('SIGTERM')
  await events.until('worker.drain')
  child.kill('SIGKILL')
  for (const agent of clients.values()) agent.destroy()
  t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
})

t.test('SIGKILL of the primary while it waits for workers whose app swallows SIGTERM: no process is left', async t => {
  const { child, events, out } = await startCli(t, ['-w', '1', '--stop-linger', '0', '--kill-timeout', '2s', APP], { env: { SWALLOW: '1' } })
  await events.until('worker.ready')
  child.kill('SIGTERM')
  t.ok(await becomesTrue(() => out.length === 1))
  t.match(out, [/^swallowed/])
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
})

t.test('after six recycles there is no zombie, and no process that does not serve', async t => {
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '-i', '50ms', '--jitter', '0', '--max-requests', '20', '--stop-linger', '100ms', APP])
  await events.until('worker.ready', { count: 2 })
  const load = new Load({ port, connections: 6 })
  t.teardown(() => load.stop())
  await events.until('recycled', { count: 6 })
  t.same(childrenOf(child.pid).filter(p => p.state === 'Z').length <= 1, true, 'at most the worker that is being reaped')
  t.same((await load.stop()).failures, [])
  const zombies = () => childrenOf(child.pid).filter(p => p.state === 'Z')
  t.ok(await becomesTrue(() => zombies().length === 0 && childrenOf(child.pid).length === 2), 'two workers, no zombie')
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})
