'use strict'

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { get } = require('../support/client')
const { FIXTURES, startCli, startFleet } = require('../support/fleet')
const { becomesTrue, childrenOf } = require('../support/processes')

// A process namespace, as of a container, in which the program is PID 1; inside a user namespace if the test is not run
// by root.
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child', ...process.getuid?.() === 0 ? [] : ['--map-root-user']]
const { error, status, stderr } = spawnSync('unshare', [...UNSHARE, 'true'])
const skip = (error || status !== 0) && `process namespaces are not available: ${error?.message ?? String(stderr).trim()}`
const skipReaping = skip || loadAddon().missing

/** @param {any} t @param {string[]} args @param {Record<string, string>} [env] */
async function startAsPid1 (t, args, env) {
  const fleet = await startCli(t, args, { env, under: () => ['unshare', ...UNSHARE] })
  const pid = () => childrenOf(/** @type {number} */ (fleet.child.pid))[0].pid // of the primary, out here
  return { ...fleet, kill: (/** @type {NodeJS.Signals} */ signal) => process.kill(pid(), signal), zombies: () => childrenOf(pid()).filter(({ state }) => state === 'Z') }
}

t.test('as PID 1 it collects the exits of processes that the app has left behind, and no other', { skip: skipReaping }, async t => {
  const { port, events, zombies, kill, exited } = await startAsPid1(t, ['-w', '1', '-i', '50ms', path.join(FIXTURES, 'leaves-orphans.js')])
  await events.until('worker.ready')
  t.equal(events.all('fleet.start')[0].pid, 1)
  const orphans = []
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 5; i++) orphans.push(get(port, '/orphan'))
    await Promise.all(orphans)
    await get(port, '/exit')
    const crash = await events.until('worker.crash', { count: round + 1 })
    t.same([crash.code, crash.signal], [7, null], 'the exit of a worker is known')
    await events.until('worker.ready', { count: round + 2 })
  }
  t.ok(await becomesTrue(() => zombies().length === 0), `of ${orphans.length} none is left as a zombie`)
  t.same(events.all('fleet.warning'), [])
  kill('SIGHUP')
  await events.until('recycled')
  t.same(events.all('recycled').map(({ cut, lost }) => ({ cut, lost })), [{ cut: 0, lost: false }])
  kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('as PID 1 its workers may be forked, and their exits are known', { skip: skipReaping }, async t => {
  const { port, events, zombies, kill, exited } = await startAsPid1(t, ['-w', '2', '--fork', 'mold', path.join(FIXTURES, 'leaves-orphans.js')])
  await events.until('worker.ready', { count: 2 })
  await Promise.all(Array.from({ length: 5 }, () => get(port, '/orphan')))
  await get(port, '/exit')
  const { code, signal } = await events.until('worker.crash')
  t.same([code, signal], [7, null])
  await events.until('worker.ready', { count: 3 })
  t.ok(await becomesTrue(() => zombies().length === 0))
  kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('as PID 1 it exits with 1 where the app does not start', { skip }, async t => {
  const { events, exited } = await startAsPid1(t, ['-w', '2', path.join(FIXTURES, 'doomed.js')], { DOOMED: 'all' })
  t.same(await exited, { code: 1, signal: null })
  t.match(events.all('fleet.failed'), [{ code: 'RECYCLE_APP_DIES' }])
})

for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT'])) {
  t.test(`as PID 1 it heeds a ${signal} that comes before any worker is ready`, { skip }, async t => {
    const { events, kill, exited } = await startAsPid1(t, ['-w', '1', path.join(FIXTURES, 'plain.js')])
    await events.until('worker.spawn')
    kill(signal)
    t.same(await exited, { code: 0, signal: null })
  })
}

t.test('as PID 1 of a library, it warns that an init is needed', { skip }, async t => {
  const program = `require(${JSON.stringify(path.join(__dirname, '..', '..'))}).supervise({ app: ${JSON.stringify(path.join(FIXTURES, 'plain.js'))}, workers: 1, log: 'json' })`
  const { events } = await startCli(t, [], { under: () => ['unshare', ...UNSHARE, process.execPath, '-e', program] })
  t.match(await events.until('fleet.warning'), { level: 40, warning: 'pid-1', msg: /recycle is used as a library; start the container with an init \(docker run --init/ })
})

t.test('as PID 1 it is not upgraded', { skip }, async t => {
  const { events, kill } = await startAsPid1(t, ['-w', '1', path.join(FIXTURES, 'plain.js')])
  await events.until('worker.ready')
  kill('SIGUSR2')
  t.match(await events.until('fleet.upgrade-failed'), { why: /^recycle is PID 1, and the container ends with it/ })
  t.equal(events.all('worker.spawn').length, 1)
})

t.test('as any other process it does not warn', async t => {
  const { events } = await startFleet(t, 'plain.js', { workers: 1 })
  t.same(events.all('fleet.warning'), [])
})
