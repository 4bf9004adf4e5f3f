'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { controlRoom, rawClient, shortFolder } = require('../support/control')
const { freePort, BIN, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { skip: noFork } = require('../support/mold')
const { becomesTrue, runToEnd } = require('../support/processes')
const { startUpgradable, kill } = require('../support/upgrade')

const ROOT = path.join(__dirname, '..', '..')
const PLAIN = path.join(FIXTURES, 'plain.js')
const CACHE = path.join(__dirname, '..', '..', 'node_modules', '.cache', 'recycle-matrix')

/** An app that answers with its version, read when it is loaded. @param {string} version */
const appOf = version => `require('node:http').createServer((request, response) => response.end(${JSON.stringify(version)})).listen(process.env.PORT)`

t.test('under load no request is dropped and no client reconnects, by the command and by SIGUSR2; the code, the control socket, the admin port and the journal go on (HAProxy: seamless-reload; Envoy: hotrestart_handoff_test.py)', async t => {
  const room = controlRoom(t)
  const folder = t.testdir({ 'app.js': appOf('one') })
  const admin = await freePort()
  const journal = path.join(folder, 'run.ndjson')
  const { port, child, events, primary, primaries, exited, areGone } = await startUpgradable(t, ['--name', 'shop', '--admin', String(admin), '--journal', journal, path.join(folder, 'app.js')], { env: room.env })
  const loads = [new Load({
    port, connections: 20
  }), new Load({ port, connections: 5, keepAlive: false }), new Load({ port, connections: 5, postBytes: 100_000 })]
  // As long as the test, however slow that is
  const tail = runToEnd([process.execPath, BIN, 'tail', '--json', '--name', 'shop'], { env: room.env, timeoutMs: 240_000 })
  const scrapes = new Load({ port: admin, path: '/readyz', connections: 2, keepAlive: false })
  t.teardown(() => Promise.all([...loads, scrapes].map(load => load.stop())))
  await loads[0].after(100)
  t.ok(await becomesTrue(() => room.clients() > 0), 'the tail is connected')
  t.equal((await get(port)).body, 'one')

  fs.writeFileSync(path.join(folder, 'app.js'), appOf('two'))
  const { code, stdout, stderr } = await room.recycle(['upgrade', '--name', 'shop'])
  t.match({ code, stdout }, { code: 0, stdout: new RegExp(`^shop has a new supervisor, pid ${primary()}, with the command line and environment of the one before: 2 workers replaced, 0 cut, \\d+ moved\n$`) }, stderr)
  t.not(primary(), child.pid)
  for (let i = 0; i < 10; i++) t.equal((await get(port)).body, 'two')
  t.match(JSON.parse((await room.recycle(['ls', '--json'])).stdout), [{ name: 'shop', pid: primary() }])
  await loads[0].after(50)

  kill(primary(), 'SIGUSR2')
  await events.until('fleet.left', { count: 2 })
  t.equal(new Set(primaries()).size, 3)
  await room.recycle(['scale', '3', '--name', 'shop'])
  kill(primary(), 'SIGUSR2')
  await events.until('fleet.left', { count: 3 })
  t.equal(JSON.parse((await room.recycle(['status', '--name', 'shop', '--json'])).stdout).totals.ready, 3, 'the number of workers is what it has been changed to')
  await loads[0].after(50)

  const counts = await Promise.all([...loads, scrapes].map(load => load.stop()))
  for (const { requests, failures } of counts) t.same(failures, [], `of ${requests} requests`)
  t.equal(counts[0].sockets, 20, 'no client ever reconnected')
  t.equal(counts[2].sockets, 5)
  for (const line of events.all('recycled')) t.match(line, { reason: 'upgrade', cut: 0, unacked: 0, unaccounted: 0, closedAfterResponse: 0, closedIdle: 0 })
  t.equal(events.all('recycled').length, 7)
  // One of the two workers may have had all connections
  const [first, second, third, fourth] = events.all('recycled').map(({ moved }) => moved)
  for (const moved of [first + second, third + fourth]) t.ok(moved >= 20, `${moved} moved`)
  t.same([...events.all('fleet.warning'), ...events.all('worker.crash')], [])

  t.match(await room.recycle(['stop', '--name', 'shop']), { code: 0 })
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone(), 'no process is left')
  t.same(fs.readdirSync(room.folder), [], 'nor a control socket')
  const { stdout: tailed, ...tailEnd } = await tail
  t.same(tailEnd, { code: 0, signal: null, stderr: '' })
  const told = tailed.trim().split('\n').map(line => JSON.parse(line).event)
  t.equal(told.filter(event => event === 'fleet.upgraded').length, 3, 'recycle tail follows the fleet from primary to primary')
  t.equal(told.at(-1), 'fleet.stop')
  const report = JSON.parse((await room.recycle(['report', journal, '--json'])).stdout)
  t.match(report, { app: path.join(folder, 'app.js'), recycles: 7, crashes: 0, cut: 0, unacked: 0, byReason: { upgrade: 7 }, gaps: [], verdict: { ok: true, exitCode: 0 } })
  t.same(report.recycleEvents.map((/** @type {any} */ event) => event.kind), [...Array(7).fill('recycle'), ...Array(3).fill('stop')], 'the journal is one')
})

t.test('a new primary that does not become ready changes nothing, and the command says why', async t => {
  const room = controlRoom(t)
  const folder = t.testdir({ startMode: 'well', 'recycle.config.json': '{ "readyTimeout": "3s" }' })
  const set = (/** @type {string} */ mode) => fs.writeFileSync(path.join(folder, 'startMode'), mode)
  const { port, child, events, primaries } = await startUpgradable(t, ['--name', 'shop', path.join(FIXTURES, 'start-modes.js')], { env: { ...room.env, START_MODE: path.join(folder, 'startMode') }, cwd: folder })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  const workers = async () => {
    const { socket, until } = await rawClient(t, path.join(room.folder, 'shop.sock'))
    socket.write('{"v":1,"id":1,"verb":"status"}\n')
    const { result } = await until(line => line.result !== undefined)
    socket.destroy()
    return result.workers.map((/** @type {any} */ { pid, state }) => ({ pid, state }))
  }
  const before = await workers()
  const upgrade = (/** @type {string[]} */ ...args) => room.recycle(['upgrade', '--name', 'shop', ...args])

  let failed = 0
  for (const { title, prepare, args = [], why } of [
    { title: 'an app that dies', prepare: () => set('dies'), why: /no worker becomes ready: \d died or gave up in a row, the last one exited with code 7/ },
    { title: 'an app that never listens', prepare: () => set('never'), why: /was not ready within 3000 ms; it does not listen on .*, as the others do/ },
    { title: 'a config file that is wrong', prepare: () => fs.writeFileSync(path.join(folder, 'recycle.config.json'), '{ "drainTimeout": "soon" }'), why: /drainTimeout in recycle.config.json was given "soon"/ },
    { title: 'a node that is not there', args: ['--node', '/nowhere/node'], why: /could not be started \(spawn \/nowhere\/node ENOENT\)/ },
    { title: 'a program that is no node', args: ['--node', '/bin/false'], why: /it exited with code 1/ }
  ]) {
    prepare?.()
    const { code, stdout, stderr } = await upgrade(...args)
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: why }, title)
    t.match(stderr, /this one runs the fleet as before\n$/)
    t.match(await events.until('fleet.upgrade-failed', { count: ++failed }), { why, level: 40 }, 'the log, which may come after the response')
    t.same(await workers(), before, 'the same workers serve')
  }
  t.same(primaries().filter(pid => pid !== child.pid && kill(pid, /** @type {any} */ (0))), [], 'no other primary is left')
  t.same(events.all('worker.drain').filter(({ primary }) => primary === child.pid), [])

  fs.writeFileSync(path.join(folder, 'recycle.config.json'), '{}')
  set('well')
  const second = await rawClient(t, path.join(room.folder, 'shop.sock'))
  const first = upgrade()
  await events.until('fleet.upgrade', { count: events.all('fleet.upgrade').length + 1 })
  second.socket.write('{"v":1,"id":1,"verb":"upgrade"}\n')
  t.match(await first, { code: 0 }, 'repaired, it is upgraded')
  t.match(await second.until(({ id, result, error }) => id === 1 && (result !== undefined || error !== undefined)), { error: undefined }, 'a second command joins the first')
  await events.until('fleet.upgraded')
  t.equal(events.all('fleet.upgraded').length, 1)
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 10, 'no client ever reconnected')
})

/**
 * A package whose releases differ in one of the two versions of the messages between primaries.
 *
 * @param {any} t @param {RegExp} constant of lib/tables/primary-message.js
 * @returns {{ bin: string, install: (release: string) => void }} the command by a link, and what sets that
 */
function twoReleases (t, constant) {
  const folder = t.testdir({ ours: {}, theirs: {} })
  for (const release of ['ours', 'theirs']) {
    for (const part of ['bin', 'lib', 'package.json']) fs.cpSync(path.join(ROOT, part), path.join(folder, release, part), { recursive: true })
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, release, 'node_modules'))
  }
  const table = path.join(folder, 'theirs', 'lib', 'tables', 'primary-message.js')
  fs.writeFileSync(table, fs.readFileSync(table, 'utf8').replace(constant, '$& + 1'))
  const link = path.join(folder, 'current')
  const install = (/** @type {string} */ release) => {
    fs.rmSync(link, { force: true })
    fs.symlinkSync(release, link)
  }
  install('ours')
  return { bin: path.join(link, 'bin', 'recycle.js'), install }
}

t.test('a release that passes connections on in another way, there and back: the connections stay and are drained, the log says so, and no request is dropped', async t => {
  const { bin, install } = twoReleases(t, /MOVES = \d+/)
  const { port, events, primary, exited, areGone } = await startUpgradable(t, ['--control', 'none', PLAIN], { bin })
  const loads = [new Load({ port, connections: 10 }), new Load({ port, connections: 3, keepAlive: false })]
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  for (const [i, release] of ['theirs', 'ours'].entries()) {
    await loads[0].after(50)
    install(release)
    kill(primary(), 'SIGUSR2')
    await events.until('fleet.left', { count: i + 1 })
  }
  for (const load of loads) t.same((await load.stop()).failures, [])
  for (const line of events.all('recycled')) t.match(line, { reason: 'upgrade', moved: 0, cut: 0, unacked: 0, unaccounted: 0 })
  t.ok(loads[0].sockets >= 20, 'clients reconnected, behind a response that said so or while they were idle')
  t.match(events.all('fleet.warning'), Array(2).fill({ warning: 'no-handoff', msg: /is of a release that passes connections on in another way; they are drained/ }))
  kill(primary(), 'SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone())
})

t.test('a release with other messages between primaries is not upgraded to, which changes nothing, and the command says what to do', async t => {
  const room = controlRoom(t)
  const { bin, install } = twoReleases(t, /VERSION = \d+/)
  const { port, child, events } = await startUpgradable(t, ['--name', 'shop', PLAIN], { bin, env: room.env })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(20)
  install('theirs')
  const { code, stderr } = await room.recycle(['upgrade', '--name', 'shop'])
  t.match({ code, stderr }, { code: 1, stderr: /cannot take over from this version; stop the fleet, and start it anew; this one runs the fleet as before\n$/ })
  await load.after(20)
  const { failures, sockets } = await load.stop()
  t.same({ failures, sockets }, { failures: [], sockets: 10 })
  t.equal(events.all('fleet.upgrade-failed').length, 1)
  t.equal(child.exitCode, null)
})

t.test('an app on a unix socket: its file stays, and goes with the last primary', async t => {
  const socketPath = path.join(shortFolder(t), 'app.sock')
  const { events, primary, exited } = await startUpgradable(t, ['--control', 'none', PLAIN], { env: { PORT: socketPath } })
  const load = new Load({ socketPath, connections: 5 })
  const churn = new Load({ socketPath, connections: 5, keepAlive: false })
  t.teardown(() => Promise.all([load.stop(), churn.stop()]))
  for (let i = 1; i <= 2; i++) {
    await load.after(20)
    kill(primary(), 'SIGUSR2')
    await events.until('fleet.left', { count: i })
  }
  await churn.after(20)
  t.same((await churn.stop()).failures, [])
  const { failures, sockets } = await load.stop()
  t.same({ failures, sockets }, { failures: [], sockets: 5 })
  kill(primary(), 'SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.same(fs.readdirSync(path.dirname(socketPath)), [])
})

t.test('the node that its name leads to now: a link has been switched', async t => {
  const folder = t.testdir({
    'app.js': "require('node:http').createServer((request, response) => response.end([process.version, process.env.BY].join())).listen(process.env.PORT)",
    other: `#!/bin/sh\nBY=other exec ${otherNode()} "$@"\n`,
    node: t.fixture('symlink', process.execPath)
  })
  fs.chmodSync(path.join(folder, 'other'), 0o755)
  const { port, events, primary } = await startUpgradable(t, ['--control', 'none', path.join(folder, 'app.js')], { node: path.join(folder, 'node') })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(20)
  t.equal((await get(port)).body, `${process.version},`)
  fs.unlinkSync(path.join(folder, 'node'))
  fs.symlinkSync('other', path.join(folder, 'node'))
  kill(primary(), 'SIGUSR2')
  const { node } = await events.until('fleet.upgraded')
  await events.until('fleet.left')
  t.equal((await get(port)).body, `${node},other`)
  t.comment(`${process.version} → ${node}`)
  const { failures, sockets } = await load.stop()
  t.same({ failures, sockets }, { failures: [], sockets: 10 })
})

t.test('with --fork mold the workers of the new primary are copies of a mold of its own; nothing is dropped', { skip: noFork }, async t => {
  const { port, events, primary, exited, areGone } = await startUpgradable(t, ['--control', 'none', '--fork', 'mold', PLAIN])
  const loads = [new Load({ port, connections: 10 }), new Load({ port, connections: 3, keepAlive: false })]
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  await loads[0].after(50)
  kill(primary(), 'SIGUSR2')
  await events.until('fleet.left')
  await loads[0].after(50)
  for (const load of loads) t.same((await load.stop()).failures, [])
  t.equal(loads[0].sockets, 10, 'no client reconnected')
  t.equal(events.all('mold.ready').length, 2)
  for (const line of events.all('recycled')) t.match(line, { reason: 'upgrade', cut: 0, unacked: 0 })
  t.same([...events.all('fleet.warning'), ...events.all('worker.crash')], [])
  kill(primary(), 'SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.ok(await areGone(), 'neither a mold nor a worker is left')
})

t.test('by the library: a program that supervises a fleet is run anew', async t => {
  const folder = t.testdir({
    'app.js': appOf('one'),
    'program.js': `
      const { supervise } = require(${JSON.stringify(path.join(__dirname, '..', '..'))})
      const fleet = supervise({ app: ${JSON.stringify(path.join(t.testdirName, 'app.js'))}, workers: 2, stopLinger: '100ms', log: 'json' })
      process.on('SIGUSR2', () => fleet.upgrade().then(line => process.send?.(line)))
      process.on('SIGTERM', () => fleet.stop())
      fleet.once('stopped', () => process.exit())`
  })
  const { port, events, child, primary, exited } = await startUpgradable(t, [], { program: path.join(folder, 'program.js') })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(20)
  fs.writeFileSync(path.join(folder, 'app.js'), appOf('two'))
  child.kill('SIGUSR2')
  await events.until('fleet.left')
  t.equal((await get(port)).body, 'two')
  await load.after(20)
  const { failures, sockets } = await load.stop()
  t.same({ failures, sockets }, { failures: [], sockets: 10 })
  kill(primary(), 'SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

/** @returns {string} a Node of another version, where the test matrix has installed one; else this one */
function otherNode () {
  const folder = `node-linux-${process.arch}`
  const found = ['24', '22', '26', '20'].filter(version => !process.version.startsWith(`v${version}.`))
    .map(version => path.join(CACHE, version, 'node_modules', folder, 'bin', 'node'))
    .find(file => fs.existsSync(file))
  return found ?? process.execPath
}
