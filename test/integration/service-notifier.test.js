'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { get } = require('../support/client')
const { becomesTrue, childrenOf, runToEnd } = require('../support/processes')
const { startListener, skip } = require('../support/service-manager')
const { startUpgradable } = require('../support/upgrade')

const PERIOD_MS = 400

const file = (/** @type {string} */ name) => path.join(FIXTURES, name)

// Features that lack it say so themselves
const isOther = (/** @type {string} */ warning) => !['blocked-addon', 'failover-addon'].includes(warning)

t.test('the service manager is told of start, reload and stop, and workers know nothing of it', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '--drain-timeout', '20s', file('introspect.js')], { env: { NOTIFY_SOCKET: notifySocket } })

  t.match(await heard.until('EXTEND_TIMEOUT_USEC'), { EXTEND_TIMEOUT_USEC: '40000000', STATUS: '0 of 2 workers ready, 0 recycles' })
  t.match(await heard.until('READY'), { READY: '1', STATUS: '2 of 2 workers ready, 0 recycles' })
  t.same(Object.keys(JSON.parse((await get(port)).body).env).filter(name => /^(?:LISTEN|NOTIFY|WATCHDOG)_/.test(name)), [])

  const before = process.hrtime.bigint() / 1000n
  child.kill('SIGHUP')
  const { MONOTONIC_USEC, EXTEND_TIMEOUT_USEC } = await heard.until('RELOADING')
  t.ok(before < BigInt(MONOTONIC_USEC) && BigInt(MONOTONIC_USEC) < process.hrtime.bigint() / 1000n, 'by the clock of the kernel')
  t.equal(EXTEND_TIMEOUT_USEC, '75000000')
  t.match(await heard.until('READY', { count: 2 }), { STATUS: '2 of 2 workers ready, 2 recycles' })

  child.kill('SIGTERM')
  t.match(await heard.until('STOPPING'), { STOPPING: '1', EXTEND_TIMEOUT_USEC: '35000000', STATUS: 'stopping: 2 of 2 workers ready, 2 recycles' })
  t.same(await exited, { code: 0, signal: null })
  t.same(heard.lines.map(({ event }) => event).filter(state => ['READY', 'RELOADING', 'STOPPING'].includes(state)), ['READY', 'RELOADING', 'READY', 'STOPPING'])
  t.same(events.all('fleet.warning'), [])
})

t.test('the watchdog hears of the primary twice in its time, and not while the primary stands still', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { child, events } = await startCli(t, ['-w', '1', file('plain.js')], { env: { NOTIFY_SOCKET: notifySocket, WATCHDOG_USEC: String(PERIOD_MS * 1000) } })
  await events.until('worker.ready')
  await heard.until('WATCHDOG', { count: 3 })
  /** How often it has been heard, all that has been sent until now. */
  const pings = async () => {
    const mark = `STATUS=${Math.random()}`
    await runToEnd(['systemd-notify', mark], { env: { NOTIFY_SOCKET: notifySocket } })
    await heard.until('STATUS', { where: ({ STATUS }) => mark.endsWith(STATUS) })
    return heard.all('WATCHDOG').length
  }
  const workers = events.all('worker.spawn').map(({ pid }) => pid)
  child.kill('SIGSTOP')
  t.ok(await becomesTrue(() => childrenOf(child.pid).every(({ pid, state }) => workers.includes(pid) || state === 'Z')), 'no message is being sent')
  const before = await pings()
  await setTimeout(PERIOD_MS * 3)
  t.equal(await pings(), before)
  child.kill('SIGCONT')
  await heard.until('WATCHDOG', { count: heard.all('WATCHDOG').length + 2 })
})

t.test('at an upgrade the new primary says that it is the main process, and the old one says no more', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { child, events, exited, primary, areGone } = await startUpgradable(t, [file('plain.js')], { workers: 1, env: { NOTIFY_SOCKET: notifySocket } })
  await heard.until('READY')
  child.kill('SIGUSR2')
  t.match(await heard.until('MAINPID'), { MAINPID: String((await events.until('fleet.upgraded')).pid), READY: '1' })
  await events.until('fleet.left')
  t.equal((await heard.until('MAINPID', { count: 3 })).MAINPID, String(primary()), 'once the old one has ended, again, behind a worker')
  process.kill(primary(), 'SIGTERM')
  await heard.until('STOPPING')
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
  t.same(heard.lines.map(({ event }) => event).filter(state => ['MAINPID', 'READY', 'STOPPING'].includes(state)), ['READY', 'MAINPID', 'MAINPID', 'MAINPID', 'STOPPING'])
  t.same(events.all('fleet.warning'), [])
})

t.test('a new primary that is told to stop while workers of the old one still drain says so', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { port, child, events, exited, primary, areGone } = await startUpgradable(t, [file('plain.js')], { workers: 1, env: { NOTIFY_SOCKET: notifySocket } })
  await heard.until('READY')
  const slow = get(port, '/slow?ms=3000')
  child.kill('SIGUSR2')
  await events.until('fleet.upgraded')
  process.kill(primary(), 'SIGTERM')
  await heard.until('STOPPING')
  t.same(events.all('fleet.left'), [], 'the old workers were not gone')
  t.match(await slow, { status: 200 })
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
})

t.test('an upgrade that fails is not told of', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const folder = t.testdir({ 'app.js': "require('node:http').createServer((request, response) => response.end()).listen(process.env.PORT)" })
  const { child, events, exited } = await startUpgradable(t, [path.join(folder, 'app.js')], { workers: 1, env: { NOTIFY_SOCKET: notifySocket } })
  await heard.until('READY')
  fs.writeFileSync(path.join(folder, 'app.js'), 'process.exit(3)')
  child.kill('SIGUSR2')
  await events.until('fleet.upgrade-failed')
  child.kill('SIGTERM')
  await heard.until('STOPPING')
  await exited
  t.same(heard.lines.map(({ event }) => event).filter(state => ['MAINPID', 'READY', 'STOPPING'].includes(state)), ['READY', 'STOPPING'])
})

t.test('the status follows the workers', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { port, events } = await startCli(t, ['-w', '1', file('misbehaves.js')], { env: { NOTIFY_SOCKET: notifySocket } })
  await heard.until('READY')
  await get(port, '/exit')
  await events.until('worker.ready', { count: 2 })
  process.kill((await events.until('fleet.start')).pid, 'SIGTTIN')
  t.match(await heard.until('STATUS', { where: ({ STATUS }) => STATUS.startsWith('2 of 2') }), { STATUS: '2 of 2 workers ready, 0 recycles' })
})

t.test('no process is needed to tell: where none can be started, the watchdog hears of the primary all the same', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { child, events, exited } = await startCli(t, ['-w', '1', file('plain.js')], { env: { NOTIFY_SOCKET: notifySocket, WATCHDOG_USEC: String(PERIOD_MS * 1000), PATH: '/nowhere' } })
  await heard.until('READY')
  await heard.until('WATCHDOG', { count: 2 })
  child.kill('SIGTERM')
  await heard.until('STOPPING')
  t.same(await exited, { code: 0, signal: null })
  t.same(events.all('fleet.warning'), [])
})

t.test('without the addon the program tells', { skip }, async t => {
  const { notifySocket, heard } = await startListener(t)
  const { child, events, exited } = await startCli(t, ['-w', '1', file('plain.js')], { env: { NOTIFY_SOCKET: notifySocket, NODE_OPTIONS: '--no-addons' } })
  await heard.until('READY')
  child.kill('SIGTERM')
  await heard.until('STOPPING')
  t.same(await exited, { code: 0, signal: null })
  t.same(events.all('fleet.warning').map(({ warning }) => warning).filter(isOther), [])
})

for (const [what, env, why] of /** @type {[string, Record<string, string>, string]} */ ([
  ['nothing listens for it', {}, '/nowhere: sendto: No such file or directory'],
  ['there is neither the addon nor systemd-notify', { NODE_OPTIONS: '--no-addons' }, 'spawn systemd-notify ENOENT']
])) {
  t.test(`where ${what} it says so once, and serves`, async t => {
    const { port, child, events, exited } = await startCli(t, ['-w', '1', file('plain.js')], { env: { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '100000', PATH: '/nowhere', ...env } })
    t.match(await events.until('fleet.warning', { where: ({ warning }) => isOther(warning) }), { warning: 'notify', why })
    await events.until('worker.ready')
    t.equal((await get(port)).status, 200)
    child.kill('SIGTERM')
    t.same(await exited, { code: 0, signal: null })
    t.equal(events.all('fleet.warning').filter(({ warning }) => isOther(warning)).length, 1)
  })
}
