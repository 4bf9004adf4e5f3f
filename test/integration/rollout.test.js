'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { formatStatus } = require('../../lib/operate/control-table')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { trackFleetSize } = require('../support/fleet-size')

const OPTIONS = { workers: 2, interval: '50ms', killTimeout: '500ms' }

/** A file that sets how the app starts. @param {any} t */
function startModeFile (t) {
  const file = path.join(t.testdir({ startMode: 'well' }), 'startMode')
  return { file, set: (/** @type {string} */ startMode) => fs.writeFileSync(file, startMode) }
}

for (const { title, modes, why } of [
  { title: 'that dies at once', modes: ['dies', 'dies', 'dies'], why: 'it exited with code 7' },
  { title: 'that never listens, or listens too late', modes: ['never', 'late', 'never'], why: 'it was not ready within 3000 ms' }
]) {
  t.test(`a replacement ${title}: the old worker stays in service, and nothing fails (Puma: test_worker_boot_timeout)`, async t => {
    const { file, set } = startModeFile(t)
    process.env.START_MODE = file
    // As long as by default where the test does not wait for it: on a busy machine a boot takes seconds.
    const { port, supervisor, events } = await startFleet(t, 'start-modes.js', modes.includes('dies') ? OPTIONS : { ...OPTIONS, readyTimeout: '3s' })
    const load = new Load({ port, connections: 10 })
    t.teardown(() => load.stop())
    await load.after(50)
    const [{ pid }] = supervisor.status().workers
    const seen = trackFleetSize(supervisor)

    set(modes[0])
    const since = events.lines.length // on a very busy machine the first workers of the fleet may have been late, too
    const isNew = (/** @type {any} */ line) => events.lines.indexOf(line) >= since
    await t.rejects(supervisor.recycle(0), { code: 'RECYCLE_NOT_READY', details: { slot: 0, why } })
    for (let tries = 1; tries <= modes.length; tries++) {
      await events.until('worker.not-ready', { count: tries, where: isNew })
      if (tries < modes.length) set(modes[tries])
    }
    const unready = events.all('worker.not-ready').filter(isNew)
    for (const line of unready) t.match(line, { slot: 0, why })
    t.ok(unready[0].nextTryMs < unready[1].nextTryMs && unready[1].nextTryMs < unready[2].nextTryMs, 'each retry waits longer')
    const tries = events.all('worker.spawn').filter(isNew)
    for (let i = 0; i + 1 < tries.length; i++) t.ok(tries[i + 1].t - unready[i].t >= unready[i].nextTryMs, 'as long as reported')
    t.match(supervisor.status().workers.find(worker => worker.slot === 0), { pid, state: 'ready' })
    t.same(events.all('worker.drain').filter(({ reason }) => reason !== 'not-ready'), [])

    set('well')
    t.match(await events.until('recycled'), { slot: 0, oldPid: pid, reason: 'requested', cut: 0 }, 'the slot is recycled as soon as the app starts again')
    t.ok(seen.fewestReady >= 2, 'both slots were served at all times')
    const { requests, failures, sockets } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
    t.equal(sockets, 10, 'no client ever reconnected')
  })
}

t.test('a replacement whose code still loads is not said not to listen where the others do', async t => {
  const { file, set } = startModeFile(t)
  process.env.START_MODE = file
  const { supervisor } = await startFleet(t, 'start-modes.js', { ...OPTIONS, readyTimeout: '3s' })
  set('blocks')
  await t.rejects(supervisor.recycle(0), { code: 'RECYCLE_NOT_READY', details: { why: 'it was not ready within 3000 ms; its code was still loading' } })
})

t.test('workers that are scaled away while they boot say nothing of the code: the reload goes on', async t => {
  const { file, set } = startModeFile(t)
  process.env.START_MODE = file
  const { supervisor, events } = await startFleet(t, 'start-modes.js', { ...OPTIONS, maxSurge: 3 })
  set('never')
  const commands = [supervisor.reload().catch(() => {})]
  await events.until('worker.spawn', { count: 4 })
  for (let i = 1; i <= 3; i++) {
    commands.push(supervisor.scale(3).catch(() => {}))
    await events.until('worker.spawn', { count: i, where: line => line.slot === 2 })
    commands.push(supervisor.scale(2).catch(() => {}))
    await events.until('scaled', { count: i })
  }
  t.same(events.all('fleet.warning').map(({ warning }) => warning), [])
  t.same(events.all('worker.not-ready'), [])
  await supervisor.stop()
  await Promise.all(commands)
})

t.test('a reload whose replacements fail stops after three, keeps the old workers and says so', async t => {
  const { file, set } = startModeFile(t)
  process.env.START_MODE = file
  const { port, supervisor, events } = await startFleet(t, 'start-modes.js', OPTIONS)
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  const pids = () => supervisor.status().workers.map(worker => worker.pid)
  const before = pids()

  set('dies')
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED', message: /did not become ready: it exited with code 7; the old workers stay in service; a worker that must be replaced meanwhile runs the new code: mend it and reload$/ })
  t.same(pids(), before)
  t.match(events.all('fleet.warning'), [{ warning: 'rollout-stopped', failures: 3, why: 'it exited with code 7', isReplaced: true }])
  t.match(formatStatus(supervisor.status()), '\nthe latest reload (generation 1) was stopped after 3 replacements that did not become ready: it exited with code 7; a worker that must be replaced meanwhile runs the new code: mend it and reload\n')
  t.equal(events.all('worker.not-ready').length, 3)
  const { t: stoppedAt } = events.all('fleet.warning')[0]
  await events.until('worker.sample', { where: line => line.t > stoppedAt + 1500 })
  t.equal(events.all('worker.spawn').length, before.length + 3, 'nothing is tried any more')
  t.same(events.all('worker.drain'), [])

  set('well')
  await supervisor.reload()
  t.notOk(pids().some(pid => before.includes(pid)), 'repaired, it reloads')
  t.equal(supervisor.status().reloadStopped, null)
  t.equal(events.all('recycled').length, 2)
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 10, 'no client ever reconnected')
})

t.test('two reloads at once both end when every worker is newer than the second', async t => {
  const { supervisor, events } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 3 })
  const first = supervisor.reload()
  await events.until('worker.spawn', { count: 4 })
  await Promise.all([first, supervisor.reload()])
  const { generation } = events.all('fleet.reload')[1]
  for (const worker of supervisor.status().workers) t.ok(worker.generation >= generation)
  t.ok(events.all('recycled').length <= 4, 'only the slot under way is replaced twice')
})

t.test('by SIGHUP: a failing reload is logged, the fleet serves on, and SIGHUP again works once the app is repaired (unicorn: reload-bad-config.t)', async t => {
  const { file, set } = startModeFile(t)
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '-i', '50ms', '--stop-linger', '100ms', path.join(FIXTURES, 'start-modes.js')], { env: { START_MODE: file } })
  await events.until('worker.ready', { count: 2 })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(50)
  set('dies')
  child.kill('SIGHUP')
  t.match(await events.until('fleet.warning'), { level: 40, warning: 'rollout-stopped', msg: /the old workers stay in service/ })
  await load.after(50)
  t.same(events.all('worker.drain'), [])
  set('well')
  child.kill('SIGHUP')
  await events.until('recycled', { count: 2 })
  await load.after(50)
  t.same((await load.stop()).failures, [])
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('one worker alone is reloaded without a gap', async t => {
  const { port, supervisor } = await startFleet(t, 'plain.js', { ...OPTIONS, workers: 1 })
  const loads = [true, false].map(keepAlive => new Load({ port, connections: 5, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (let i = 0; i < extent({ short: 3, long: 10 }); i++) {
    await loads[1].after(50)
    await supervisor.reload()
  }
  for (const load of loads) t.same((await load.stop()).failures, [])
})
