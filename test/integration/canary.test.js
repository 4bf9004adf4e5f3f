'use strict'

/** New code is tried in one worker first, under load: it goes on, or back, and no request is lost. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { judge } = require('../../lib/features/canary/verdict')
const { formatStatus } = require('../../lib/operate/control-table')
const { get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { startFleet } = require('../support/fleet')
const { LITTLE, LOAD, OPTIONS, source, start, loadOf } = require('../support/trial')

/** The journal has all inputs: judged again they give the same figures. @param {any} t tap's @param {any} events */
function judgeAgain (t, events) {
  for (const { isFinal, old, fresh, figures, decidedBy } of events.all('canary.verdict')) {
    t.match(judge({ old, fresh, isFinal }), { figures, decidedBy }, 'the verdict follows from what the journal has')
  }
}

/** @param {any} supervisor */
const pids = supervisor => supervisor.status().workers.map((/** @type {any} */ { pid }) => pid).sort()

t.test('one fleet, three verdicts', async t => {
  const { supervisor, events, load, write, port } = await start(t, { canary: '50%', bake: '10s' }, LOAD)

  await t.test('code that is as good: the reload goes on, in all workers, and the one that came first leaves', async t => {
    const before = pids(supervisor)
    write(source('better'))
    const reload = supervisor.reload({ canary: 1, bake: '15s' })
    await events.until('worker.ready', { count: 3 })
    t.match(supervisor.status(), { totals: { workers: 3, ready: 3 }, canary: { state: /^(starting|warming-up)$/, workers: 1 } })
    t.match(await reload, /^no figure is worse: [\d,]+ requests of the new code and [\d,]+ of the old$/)
    const { requests, failures, sockets } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
    t.equal(sockets, LOAD.connections, 'no client ever reconnected')
    t.same(pids(supervisor).filter((/** @type {number} */ pid) => before.includes(pid)), [])
    t.match(supervisor.status(), { totals: { workers: 2, ready: 2 }, canary: { state: 'promoted', generation: 1 } })
    t.match(events.all('fleet.trial'), [{ generation: 1, before: 0, slots: [2] }])
    t.match(events.all('scaled'), [{ slot: 2, cut: 0 }])
    judgeAgain(t, events)
    const { requests: of } = events.all('canary.verdict')[0]
    t.ok(of.fresh > of.old / 4, `its share of the traffic: ${of.fresh} requests, beside ${of.old} of two others`)
    t.match(await get(port), { body: 'better' })
  })

  await t.test('code that is worse: its worker leaves, the others never did, and no request is lost', async t => {
    const load = loadOf(t, port)
    const before = pids(supervisor)
    write(source('cut'))
    const says = /^unfinished responses: \d+\.\d\d % of [\d,]+ requests, against 0\.00 % of [\d,]+ of the old workers$/
    await t.rejects(supervisor.reload({ canary: 1, bake: '12s' }), { code: 'RECYCLE_REJECTED', exitCode: 1, details: { why: says } })
    t.same(pids(supervisor), before)
    t.match(events.all('fleet.rejected'), [{ generation: 2, isReplaced: true }])
    t.match(events.all('canary.verdict'), [{}, { verdict: 'bad', isGood: false }])
    judgeAgain(t, events)
    t.match(supervisor.status().canary, { state: 'rejected', isReplaced: true })
    const { failures } = await load.stop()
    t.same(failures.filter(({ error }) => error !== 'aborted'), [])
    for (let i = 0; i < 20; i++) t.match(await get(port), { status: 200, body: 'better' })
  })

  await t.test('too few requests: it is not known, and what becomes of the code is as the user wants; without a trial the reload goes on', async t => {
    write(source('good'))
    await t.rejects(supervisor.reload(), { code: 'RECYCLE_UNDECIDED', exitCode: 2, message: /^whether the new code is good is not known: too few requests to judge: .*; the workers before serve on$/ })
    t.match(events.all('canary.verdict'), [{}, {}, { verdict: 'undecided', isGood: false }])
    t.match(await get(port), { body: 'better' })
    if (process.env.RECYCLE_LONG) {
      await supervisor.reload({ undecided: 'go' })
      t.match(events.all('canary.verdict'), [{}, {}, {}, { verdict: 'undecided', isGood: true }])
      t.match(supervisor.status().workers, [{ generation: 4 }, { generation: 4 }])
    }
    await supervisor.reload({ canary: 0 })
    t.equal(events.all('fleet.trial').length, events.all('canary.verdict').length, 'canary 0: without')
    t.match(await get(port), { body: 'good' })
  })
})

t.test('commands meanwhile: another reload and an upgrade are refused, scaling is not; --abort takes it back, --promote goes on', async t => {
  const { supervisor, events, load, write } = await start(t)
  const before = pids(supervisor)
  await t.rejects(supervisor.reload({ abort: true }), { code: 'RECYCLE_NO_TRIAL', exitCode: 1, message: '--abort: no reload has new code on trial' })
  await t.rejects(supervisor.reload({ bake: '10s' }), { code: 'RECYCLE_BAD_USAGE', exitCode: 2, message: '--bake of a reload needs --canary' })
  await t.rejects(supervisor.reload({ promote: true, abort: true }), { code: 'RECYCLE_BAD_USAGE', exitCode: 2, message: '--promote of a reload stands alone: without --abort' })
  await t.rejects(supervisor.reload({ canary: 'some' }), { code: 'RECYCLE_BAD_OPTION', message: '--canary was given "some"; it takes a whole number from 0 to 1024, or a percentage of the workers, such as 80%' })
  write(source('better'))
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED', details: { why: 'a command has taken it back' } })
  await events.until('worker.ready', { count: 3 })
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ON_TRIAL', message: /^a reload has new code on trial, for (1h|60m|59\.\dm|[\d.]+h) more; it ends sooner by recycle reload --promote, or --abort$/ })
  await t.rejects(supervisor.upgrade(), { code: 'RECYCLE_NOT_UPGRADED' })
  await supervisor.scale(3)
  t.same(supervisor.status().workers.map(({ slot }) => slot).sort(), [0, 1, 2, 3], 'a slot that is not the trial\'s')
  await supervisor.scale(2)
  t.equal(await supervisor.reload({ abort: true }), 'a command has taken it back')
  await first
  t.same(pids(supervisor), before)

  const second = supervisor.reload({ canary: 1, bake: '1h' })
  await events.until('fleet.trial', { count: 2 })
  await events.until('worker.ready', { count: 5 })
  await supervisor.reload({ promote: true })
  await second
  t.match(supervisor.status().workers, [{ generation: 2 }, { generation: 2 }])
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, LITTLE.connections, 'no client ever reconnected')
})

t.test('code that does not start, and code that dies: the workers before serve on', async t => {
  const { supervisor, load, write } = await start(t)
  const before = pids(supervisor)
  write('let a\nlet a')
  await t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED', message: /^the new code was rejected: it does not start: it exited with code 1: SyntaxError: Identifier 'a' has already been declared \(\/.*\/app\.js:2\); the workers before serve on$/ })
  t.match(formatStatus(supervisor.status()), /\nThe latest reload was taken back \(generation 1\): it does not start: it exited with code 1: SyntaxError: [^\n]* \(\/.*\/app\.js:2\)/)
  write(`${source('good')}\nsetTimeout(() => process.exit(3), 500)`)
  await t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED', message: /its workers do not stay up: / })
  t.same(pids(supervisor), before)
  load.stop()
})

t.test('releases by a link: a worker that is replaced meanwhile, or afterwards, runs the release before; rollback', async t => {
  const folder = fs.realpathSync(t.testdir({ releases: { 1: { 'app.js': source('good') }, 2: { 'app.js': source('better') } } }))
  const current = path.join(folder, 'current')
  const file = (/** @type {number} */ of) => path.join(folder, 'releases', String(of), 'app.js')
  const lead = (/** @type {number} */ to) => {
    fs.rmSync(current, { force: true })
    fs.symlinkSync(`releases/${to}`, current)
  }
  lead(1)
  const { supervisor, events } = await startFleet(t, path.join(current, 'app.js'), OPTIONS)
  const [{ pid }] = supervisor.status().workers
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: the fleet has run ${file(1)} since it was started` })
  lead(2)
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  await events.until('worker.ready', { count: 3 })
  t.match(formatStatus(supervisor.status()), `\ngeneration 0, 2 workers: ${file(1)}\ngeneration 1, 1 worker: ${file(2)}\n`)
  t.equal(supervisor.status().app, file(1), 'the other is on trial')
  process.kill(pid, 'SIGKILL')
  const [{ app: meanwhile }] = [await events.until('worker.spawn', { count: 4 })]
  await events.until('worker.ready', { count: 4 })
  await supervisor.reload({ abort: true })
  await first
  t.equal(meanwhile, file(1))
  t.match(events.all('fleet.rejected'), [{ isReplaced: false }])
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: the latest code was rejected, and the fleet runs ${file(1)} all along` })
  await supervisor.recycle(1)
  t.match(
    supervisor.status(), { app: file(1), workers: [{ app: file(1), generation: 0 }, { app: file(1), generation: 0 }] }
  )

  await supervisor.reload()
  t.match(events.all('fleet.reloaded'), [{ app: file(2) }])
  t.same(await supervisor.rollback(), { app: file(1), named: file(2) })
  t.match(supervisor.status().workers, [{ app: file(1) }, { app: file(1) }])
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: the fleet has gone back from ${file(2)} already; recycle reload runs what the link leads to, ${file(2)}` })
  await supervisor.reload()
  t.match(supervisor.status().workers, [{ app: file(2) }, { app: file(2) }], 'a reload asks for it')
  fs.mkdirSync(path.dirname(file(3)))
  fs.writeFileSync(file(3), 'throw new Error("broken")')
  lead(3)
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED', message: /the old workers stay in service$/ })
  t.match(supervisor.status(), { app: file(2), reloadStopped: { isReplaced: false } })
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: the latest reload has failed, and the fleet runs ${file(2)} all along` })
  await events.until('worker.sample', { where: ({ ageMs }) => ageMs > 1000 }) // a fleet that has not served yet would end
  const before = events.all('worker.ready').length
  for (const { pid } of supervisor.status().workers) process.kill(pid, 'SIGKILL')
  await events.until('worker.ready', { count: before + 2 })
  t.match(supervisor.status().workers, [{ app: file(2) }, { app: file(2) }], 'workers that are replaced run what has been proven')
  lead(2)
  await supervisor.reload()
  t.equal(supervisor.status().reloadStopped, null)
  fs.rmSync(path.dirname(file(1)), { recursive: true })
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: ${file(1)}, which the fleet has run before, is there no more` })

  for (const release of [4, 5]) {
    fs.mkdirSync(path.dirname(file(release)))
    fs.writeFileSync(file(release), source('good'))
  }
  lead(4)
  await supervisor.reload()
  fs.writeFileSync(file(2), 'throw new Error("broken meanwhile")')
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  lead(5)
  await supervisor.reload()
  t.same(await supervisor.rollback(), { app: file(4), named: file(5) }, 'a rollback that failed has undone nothing')
})

t.test('a rollback while a reload is under way, by itself or of code that was promoted, takes it back: the reload is rejected', async t => {
  const folder = fs.realpathSync(t.testdir({ releases: { 1: { 'app.js': source('good') }, 2: { 'app.js': source('better') } } }))
  const current = path.join(folder, 'current')
  const file = (/** @type {number} */ of) => path.join(folder, 'releases', String(of), 'app.js')
  fs.symlinkSync('releases/1', current)
  const { supervisor, events } = await startFleet(t, path.join(current, 'app.js'), OPTIONS)
  fs.rmSync(current)
  fs.symlinkSync('releases/2', current)
  const rejected = { code: 'RECYCLE_REJECTED', message: 'the new code was rejected: recycle rollback has taken the reload back; the workers before serve on' }
  for (const isTried of [false, true]) {
    const reload = supervisor.reload(isTried ? { canary: 1, bake: '1h' } : {})
    const ended = [t.rejects(reload, rejected)]
    if (isTried) {
      await events.until('worker.ready', { where: ({ slot }) => slot === 2 })
      ended.push(t.rejects(supervisor.reload({ promote: true }), rejected))
    }
    const before = events.all('worker.spawn').length
    await events.until('worker.spawn', { count: before + 1 })
    t.match(await supervisor.rollback(), { app: file(1) })
    await Promise.all(ended)
    const { app, workers, canary } = supervisor.status()
    t.match({ app, workers }, { app: file(1), workers: [{ slot: 0, app: file(1) }, { slot: 1, app: file(1) }] })
    t.same([workers.length, canary?.state], [2, isTried ? 'rejected' : undefined])
  }
  t.same(new Set(events.all('fleet.reloaded').map(({ app }) => app)), new Set([file(1)]), 'the other code was never that of the fleet')
})

t.test('a comparison that is asked for while a reload is under way begins when that has ended', async t => {
  const { supervisor, events, write } = await start(t)
  const reload = supervisor.reload()
  await events.until('worker.spawn', { count: 3 })
  write(source('better'))
  const tried = supervisor.reload({ canary: 1, bake: '1h' })
  await reload
  await events.until('worker.ready', { where: ({ slot }) => slot === 2 })
  t.match(events.all('fleet.trial'), [{ generation: 2, before: 1, slots: [2] }])
  t.ok(events.lines.findIndex(({ event }) => event === 'fleet.reloaded') < events.lines.findIndex(({ event }) => event === 'fleet.trial'))
  const promoted = supervisor.reload({ promote: true })
  t.equal(await promoted, await tried)
  t.match(supervisor.status(), { canary: { state: 'promoted' }, workers: [{ slot: 0, generation: 2 }, { slot: 1, generation: 2 }] })
})

t.test('one that waits for a reload says so, and --abort ends that at once', async t => {
  const { supervisor, events } = await start(t, { drainTimeout: '30s' })
  const underWay = supervisor.reload()
  const waiting = supervisor.reload({ canary: 1 })
  t.match(formatStatus(supervisor.status()), /^New code: a reload is under way; when that has ended, new code is tried$/m)
  const rejected = t.rejects(waiting, { code: 'RECYCLE_REJECTED', details: { why: 'a command has taken it back' } })
  t.equal(await supervisor.reload({ abort: true }), 'a command has taken it back')
  await rejected
  t.equal(supervisor.status().canary, null)
  await underWay
  t.same(events.all('fleet.trial'), [])
})

t.test('the command: what it says, and its exit codes; where it is ended, the fleet goes on by itself', async t => {
  const room = controlRoom(t)
  const app = path.join(fs.realpathSync(t.testdir({ 'app.js': source('good') })), 'app.js')
  const { port, events } = await room.start(2, ['--stop-linger', '0', app])
  await events.until('worker.ready', { count: 2 })
  t.match(await room.recycle(['reload', '--promote']), { code: 1, stderr: 'recycle: --promote: no reload has new code on trial\n' })
  t.match(await room.recycle(['reload', '--canary', '--bake', 'soon']), { code: 2, stderr: /^recycle: --bake was given "soon"; it takes a time of 10s / })
  t.match(await room.recycle(['rollback']), { code: 1, stderr: `recycle: there is no release to go back to: the fleet has run ${app} since it was started\n` })

  const ended = room.recycle(['reload', '--canary', '--bake', '1h', '--no-wait'])
  t.match(await ended, { code: 0, stdout: /reload has begun/ })
  await events.until('worker.ready', { count: 3 })
  t.match(await room.recycle(['reload', '--promote']), { code: 0 })
  t.match(await events.until('canary.verdict'), { isGood: true })
  await events.until('fleet.reloaded')

  const load = loadOf(t, port)
  fs.writeFileSync(app, source('slow'))
  const { code, stderr } = await room.recycle(['reload', '--canary', '--bake', '12s'])
  t.equal(code, 1)
  t.match(stderr, /1 worker of the new code joins, on trial: slot 2\n[^]*the new code warms up, 12s left; [^]*the new code is compared, [^]*recycle: the new code was rejected: (median|99th percentile of the)[^\n]*; the workers before serve on\n$/)
  t.match((await room.recycle(['status'])).stdout, /\nThe latest reload was taken back \(generation 2\): .*; the code on the disk is what was taken back: /)
  t.same((await load.stop()).failures, [])
})
