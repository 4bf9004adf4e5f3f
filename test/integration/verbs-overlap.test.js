'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { startFleet } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue } = require('../support/processes')

const OPTIONS = { workers: 3, interval: '50ms', readyTimeout: '10s', killTimeout: '500ms' }

/** A file that sets how the app starts. @param {any} t */
function startModeFile (t) {
  const file = path.join(t.testdir({ startMode: 'well' }), 'startMode')
  process.env.START_MODE = file
  return (/** @type {string} */ startMode) => fs.writeFileSync(file, startMode)
}

t.test('scale while a slot is being scaled away: each call ends, and the last one counts', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', OPTIONS)
  const slow = Array.from({ length: 12 }, () => get(port, '/slow?ms=1000'))
  await becomesTrue(() => supervisor.status().workers.reduce((sum, { inFlight }) => sum + inFlight, 0) === 12)
  const first = supervisor.scale(1)
  await events.until('worker.drain', { count: 2 })
  t.equal(supervisor.size, 1, 'a retiring worker is not counted')
  const recycled = supervisor.recycle(2)
  await t.rejects(recycled, { code: 'RECYCLE_NO_SLOT' })
  const ends = await Promise.allSettled([first, supervisor.scale(1), supervisor.scale(3)])
  const overtaken = { reason: { code: 'RECYCLE_OVERTAKEN', message: 'the number of workers was changed to 3 before the fleet had 1' } }
  t.match(ends, [overtaken, overtaken, { status: 'fulfilled' }])
  const { workers, totals } = supervisor.status()
  t.match({ totals, states: workers.map(({ state }) => state) }, { totals: { workers: 3, ready: 3 }, states: ['ready', 'ready', 'ready'] })
  for (const { status } of await Promise.all(slow)) t.equal(status, 200)
})

t.test('a recycle() of a slot that is scaled away is rejected with that reason', async t => {
  const { port, supervisor } = await startFleet(t, 'misbehaves.js', OPTIONS)
  const slow = get(port, '/slow?ms=300')
  const recycles = [1, 2].map(slot => supervisor.recycle(slot))
  const scaled = supervisor.scale(1)
  const ends = await Promise.allSettled(recycles)
  await scaled
  for (const { status, value, reason } of /** @type {any[]} */ (ends)) {
    if (status === 'fulfilled') t.match(value, { event: 'recycled' }, 'it was under way')
    else t.match(reason, { code: 'RECYCLE_NOT_DONE', details: { why: 'its slot was closed' } })
  }
  t.match(await slow, { status: 200 })
})

t.test('scale down retires no serving worker before a worker that stays serves', async t => {
  const { port, supervisor, events } = await startFleet(t, 'late.js', { ...OPTIONS, workers: 2 })
  const [stays, leaves] = supervisor.status().workers
  process.kill(stays.pid, 'SIGKILL')
  await events.until('worker.crash')
  const scaled = supervisor.scale(1)
  let [served, failed] = [0, 0]
  const asking = (async () => {
    while (events.all('scaled').length === 0) {
      (await get(port, '/')).status === 200 ? served++ : failed++
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  })()
  await Promise.all([scaled, asking])
  t.equal(failed, 0, `of ${served + failed}`)
  const at = (/** @type {string} */ event, /** @type {(line: any) => boolean} */ where) =>
    events.lines.findIndex(line => line.event === event && where(line))
  t.ok(at('worker.ready', line => line.slot === stays.slot && line.pid !== stays.pid) < at('worker.drain', line => line.pid === leaves.pid))
})

t.test('a fork that fails at once, as without memory, counts as an early death too', async t => {
  const { port, supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 2 })
  const [{ pid }] = supervisor.status().workers
  t.teardown(() => { delete process.env.TOO_LONG })
  process.env.TOO_LONG = 'x'.repeat(200_000) // the kernel accepts no variable of more than 128 KiB
  process.kill(pid, 'SIGKILL')
  t.match(await events.until('worker.crash', { where: line => line.error, count: 2 }), { slot: 0, pid: null, error: /E2BIG/ })
  await t.rejects(supervisor.recycle(1), { code: 'RECYCLE_NOT_READY', details: { why: /^it could not be started \(spawn E2BIG\)$/ } })
  t.match(await get(port, '/'), { status: 200 }, 'the other worker serves')
  delete process.env.TOO_LONG
  await supervisor.ready()
  t.match(supervisor.status().totals, { workers: 2, ready: 2 })
})

t.test('scale up of an app that no longer starts is rejected, and is retried', async t => {
  const set = startModeFile(t)
  const { supervisor } = await startFleet(t, 'start-modes.js', { ...OPTIONS, workers: 1 })
  set('dies')
  await t.rejects(supervisor.scale(2), { code: 'RECYCLE_NOT_READY', message: /^the worker of slot 1 did not become ready: 3 have failed in a row: it exited with code 7; it is tried again$/ })
  set('well')
  await supervisor.ready()
  t.match(supervisor.status().totals, { workers: 2, ready: 2 })
})

t.test('with --max-surge 0 a recycle whose replacement fails is no success, and a reload of such code stops', async t => {
  const set = startModeFile(t)
  const { supervisor, events } = await startFleet(t, 'start-modes.js', { ...OPTIONS, maxSurge: 0, maxUnavailable: 1 })
  set('dies')
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  t.match(events.all('fleet.warning'), [{ warning: 'rollout-stopped', failures: 3 }])
  t.equal(events.all('worker.drain').length, 1, 'no other worker was drained')
  set('well')
  await supervisor.ready()
  set('dies')
  await t.rejects(supervisor.recycle(1), { code: 'RECYCLE_NOT_READY', details: { slot: 1, why: 'it exited with code 7' } })
})

t.test('a recycle of a worker that boots, and does not get ready, is rejected', async t => {
  const set = startModeFile(t)
  // Time enough for the first two: a busy machine takes more than a second for one
  const { supervisor, events } = await startFleet(t, 'start-modes.js', { ...OPTIONS, workers: 2, readyTimeout: '5s' })
  set('never')
  process.kill(supervisor.status().workers[1].pid, 'SIGKILL')
  await events.until('worker.spawn', { count: 3 })
  await t.rejects(supervisor.recycle(1), { code: 'RECYCLE_NOT_DONE', details: { slot: 1, why: /^it was not ready within 5000 ms/ } })
  set('well')
  await supervisor.ready()
})

t.test('the old worker dies while its replacement boots: the recycle completes, and nothing counts twice', async t => {
  const { supervisor, events } = await startFleet(t, 'late.js', { ...OPTIONS, workers: 2 })
  const [{ pid }] = supervisor.status().workers
  const recycled = supervisor.recycle(0)
  await events.until('worker.spawn', { count: 3 })
  process.kill(pid, 'SIGKILL')
  t.match(await recycled, { event: 'recycled', oldPid: pid, connections: 0, cut: 0, lost: false })
  t.equal(events.all('worker.crash').length, 1)
  t.equal(events.all('worker.drain').length, 0)
})

t.test('a reload or a recycle takes no extra samples of other workers', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 2, interval: '60s' })
  for (let i = 0; i < 2; i++) await supervisor.recycle(0)
  t.same(events.all('worker.sample').filter(({ slot }) => slot !== 0), [])
})

t.test('an address that one worker alone listens on is not required of the others', async t => {
  const { supervisor } = await startFleet(t, 'jobs-in-slot-0.js', { ...OPTIONS, workers: 2 })
  process.kill(supervisor.status().workers[1].pid, 'SIGKILL')
  await becomesTrue(() => supervisor.status().totals.ready === 1)
  await supervisor.scale(3)
  t.match(supervisor.status().totals, { workers: 3, ready: 3 })
})
