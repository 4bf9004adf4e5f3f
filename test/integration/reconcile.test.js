'use strict'

/** What a fleet does of its own accord, and in which order, by lib/core/plan.js and primary/reconciler.js. */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet, FIXTURES } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')
const { unplanned } = require('../support/replay-plan')

const OPTIONS = { workers: 2, interval: '60s', readyTimeout: '10s' }

/** @param {any} t */
function startModeFile (t) {
  const file = path.join(t.testdir({ startMode: 'well' }), 'startMode')
  process.env.START_MODE = file
  return (/** @type {string} */ startMode) => fs.writeFileSync(file, startMode)
}

t.test('a fleet that is started twice has its workers once', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 1 })
  supervisor.start()
  await supervisor.recycle(0)
  t.equal(supervisor.status().workers.length, 1)
  t.equal(events.all('fleet.start').length, 1)
})

t.test('a replacement that fails is tried again when the journal says, whatever the interval', async t => {
  const set = startModeFile(t)
  const { supervisor, events } = await startFleet(t, 'start-modes.js', { ...OPTIONS, workers: 1 })
  set('dies')
  await t.rejects(supervisor.recycle(0), { code: 'RECYCLE_NOT_READY' })
  await events.until('worker.not-ready', { count: 3 })
  set('well')
  t.match(await events.until('recycled'), { slot: 0, reason: 'requested' })
  const tries = events.all('worker.spawn').slice(1)
  for (const [i, { t: at, nextTryMs }] of events.all('worker.not-ready').entries()) {
    if (tries[i + 1]) t.ok(tries[i + 1].t - at >= nextTryMs, `${nextTryMs} ms later at the earliest`)
  }
})

t.test('slots that are wanted again while their workers leave are the same ones', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { ...OPTIONS, workers: 3, maxSurge: 3 })
  const slow = Array.from({ length: 12 }, () => get(port, '/slow?ms=1500'))
  await becomesTrue(() => supervisor.status().workers.every(({ state }) => state === 'ready'))
  const fewer = supervisor.scale(1).catch(() => {})
  await events.until('worker.drain', { count: 2 })
  await supervisor.scale(3)
  await fewer
  t.same(supervisor.status().workers.map(({ slot, state }) => [slot, state]), [0, 1, 2].map(slot => [slot, 'ready']))
  t.same(events.all('scaled').map(({ slot }) => slot).sort(), [1, 2])
  for (const { status } of await Promise.all(slow)) t.equal(status, 200)
})

t.test('a fleet that is scaled up boots no more at once than may surge', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 1 })
  await supervisor.scale(3)
  let starting = 0
  for (const { event } of events.lines.slice(events.lines.findIndex(({ event }) => event === 'fleet.scale'))) {
    if (event === 'worker.spawn') starting++
    if (event === 'worker.ready') starting--
    t.ok(starting <= 1)
  }
})

t.test('scale takes no number that the limits would not have been accepted with', async t => {
  const { supervisor } = await startFleet(t, 'plain.js', { ...OPTIONS, maxUnavailable: 1 })
  await t.rejects(supervisor.scale(1), { code: 'RECYCLE_BAD_OPTION', message: /more than maxUnavailable, which is 1/ })
  t.equal(supervisor.size, 2)
  const { supervisor: auto } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 1, maxRss: 'auto' })
  await t.rejects(auto.scale(1024), { code: 'RECYCLE_BAD_OPTION', message: /^maxRss was given "auto with 1024 workers"; it takes auto only where each worker gets at least 64 MiB/ })
})

t.test('a stop without time for anything is no crash', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, killTimeout: 0 })
  await supervisor.stop({ now: true })
  t.same(events.all('worker.crash'), [])
  t.equal(events.all('worker.retire').length, 2)
  t.match(events.all('stopped'), [{ lost: false, unaccounted: 0 }, { lost: false, unaccounted: 0 }])
})

t.test('a listener that throws stops nothing: its error is uncaught, as of any emitter', async t => {
  const child = fork(path.join(FIXTURES, 'throwing-listener.js'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const [{ errors, states, recycled }] = await once(child, 'message')
  t.match(recycled, { event: 'recycled', cut: 0 })
  t.same(states, ['ready', 'ready'])
  t.same(errors, ['thrown at worker.drain'])
  t.same(await exited, [0, null])
})

t.test('every spawn and every drain of a journal is a step of the plan, made anew from the lines before it', async t => {
  for (const [options, stricter] of [[
    { maxSurge: 2 }, { maxSurge: 1 }
  ], [{ maxSurge: 0, maxUnavailable: 1 }, { maxUnavailable: 0 }], [{ standby: 1 }, { standby: 0 }]]) {
    const { supervisor, events } = await startFleet(t, 'plain.js', { workers: 2, interval: '50ms', ...options })
    process.kill(supervisor.status().workers[1].pid, 'SIGKILL')
    await events.until('worker.crash')
    await supervisor.ready()
    await Promise.all([supervisor.reload(), supervisor.recycle(1).catch(() => {}), supervisor.scale(3)])
    await Promise.all([supervisor.scale(1), supervisor.recycle(0)])
    const { lines } = events
    t.ok(events.all('worker.spawn').length >= 7)
    t.same(unplanned(lines), [], JSON.stringify(options))
    const [start, ...others] = lines
    t.not(unplanned([{ ...start, options: { ...start.options, ...stricter } }, ...others]).length, 0, 'by stricter limits they would not be')
    await supervisor.stop()
  }
})
