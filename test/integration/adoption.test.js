'use strict'

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { attempt } = require('../../lib/core/attempt')
const { socketName } = require('../../lib/core/orphan')
const { pathsOfUnixSockets } = require('../../lib/native/proc')
const { startCli, FIXTURES } = require('../support/fleet')
const { clientPerWorker, get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { Load } = require('../support/load')
const { becomesTrue, livingOfGroup } = require('../support/processes')

const APP = path.join(FIXTURES, 'plain.js')
const WORKERS = 2

const OTHER_USER = { uid: 65_534, gid: 65_534, cwd: '/', env: {} }

/** Why there is no second user here; false: there is one. */
function whyAlone () {
  if (process.getuid?.() !== 0) return 'it takes root to be two users'
  return spawnSync(process.execPath, ['-e', '0'], OTHER_USER).status !== 0 && 'another user may not run this Node'
}

/**
 * A process of another user's, at one end of a socket of an orphan's.
 *
 * @param {any} t @param {'connect' | 'listen'} how @param {(pid: number) => string} nameOf
 */
async function stranger (t, how, nameOf) {
  const child = spawn(process.execPath, ['-e', `
    const net = require('node:net')
    const say = socket => {
      let bytes = 0
      socket.on('data', chunk => { bytes += chunk.length }).on('error', () => {}).on('close', () => process.send({ bytes }))
    }
    process.once('message', name => {
      if (process.argv[1] === 'connect') say(net.connect(name).on('connect', () => process.send('there')))
      else net.createServer(say).listen(name, () => process.send('there'))
    })`, how], { ...OTHER_USER, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  child.send(nameOf(Number(child.pid)))
  await once(child, 'message')
  return { pid: child.pid, end: once(child, 'message').then(([message]) => message) }
}

/** Primaries of one fleet, one after the other. @param {any} t @param {string[]} [options] @param {string[]} [app] */
function lineage (t, options = [], app = [APP]) {
  const journal = path.join(t.testdir({}), 'journal.ndjson')
  const room = controlRoom(t)
  const args = ['-w', String(WORKERS), '-i', '50ms', '--stop-linger', '100ms', '--journal', journal, ...options, ...app]
  const lines = () => fs.readFileSync(journal, 'utf8').split('\n').slice(0, -1).filter(Boolean).map(line => JSON.parse(line))
  const start = (env = {}) => startCli(t, args, { env: { ...room.env, ...env } })
  return { start, lines, room }
}

t.test('SIGKILL of the primary under load, twice: the workers serve on, and the next primary adopts and replaces them; no request fails, and no client reconnects', async t => {
  const { start, lines, room } = lineage(t)
  let fleet = await start()
  const { port } = fleet
  await fleet.events.until('fleet.ready')
  const keepAlive = new Load({ port, connections: 20, thinkMs: 80 })
  const oneRequestEach = new Load({ port, connections: 2, keepAlive: false, thinkMs: 40 })
  t.teardown(() => Promise.all([keepAlive, oneRequestEach].map(load => load.stop())))
  await keepAlive.after(100)
  for (let deaths = 1; deaths <= 2; deaths++) {
    const before = fleet.child.pid
    const workers = fleet.events.all('worker.ready').slice(-WORKERS).map(({ pid }) => pid)
    fleet.child.kill('SIGKILL')
    t.ok(await becomesTrue(() => lines().filter(({ event, oldPid }) => event === 'worker.orphaned' && oldPid === before).length === WORKERS), 'each worker says that it serves on')
    await Promise.all([keepAlive.after(50), oneRequestEach.after(5)])
    t.match(await room.call(['status']), { code: 2, stderr: /; \d+ workers whose supervisor has died serve on \(pid / })
    fleet = await start({ PORT: String(port) })
    const adopted = await fleet.events.until('fleet.adopted')
    t.match(adopted, { pid: fleet.child.pid, oldPid: before })
    t.same(adopted.workers.toSorted(), workers.toSorted())
    t.ok(adopted.gapMs > 0)
    await fleet.events.until('recycled', { count: WORKERS, where: ({ reason }) => reason === 'adopted' })
    for (const line of fleet.events.all('recycled')) t.match(line, { cut: 0, unacked: 0, closedIdle: 0, lost: false })
  }
  t.same(await keepAlive.stop(), { ...keepAlive.counts(), failures: [], sockets: 20 })
  t.same((await oneRequestEach.stop()).failures, [])
  const { stdout } = await room.recycle(['status', '--json'])
  t.match(JSON.parse(stdout), { adopted: { workers: WORKERS } })
  fleet.child.kill('SIGTERM')
  t.same(await fleet.exited, { code: 0, signal: null })
  t.same(lines().filter(({ event }) => ['worker.crash', 'worker.unadopted', 'journal.gap'].includes(event)), [])
})

t.test('another user is told nothing by an orphan, and the next primary takes none of that user for one', { skip: whyAlone() }, async t => {
  const { start, lines } = lineage(t)
  const before = await start()
  await before.events.until('fleet.ready')
  const [{ pid }] = before.events.all('worker.ready')
  before.child.kill('SIGKILL')
  t.ok(await becomesTrue(() => lines().filter(({ event }) => event === 'worker.orphaned').length === WORKERS))
  const nameOf = new RegExp(`^@(recycle-orphan-.+-)${pid}@*$`)
  const family = String(pathsOfUnixSockets().flatMap(path => nameOf.exec(path ?? '')?.[1] ?? [])[0])
  const asking = await stranger(t, 'connect', () => socketName(family, pid))
  t.same(await asking.end, { bytes: 0 })
  const feigned = await stranger(t, 'listen', pid => socketName(family, pid))
  const after = await start({ PORT: String(before.port) })
  t.match(await after.events.until('fleet.adopted'), { workers: { length: WORKERS } })
  t.same(await feigned.end, { bytes: 0 })
  const isOrphan = (/** @type {Record<string, any>} */ line) => line.warning === 'orphan'
  t.match(await after.events.until('fleet.warning', { where: isOrphan }), { orphan: feigned.pid, why: "it is another user's" })
  t.equal(after.events.lines.filter(isOrphan).length, 1)
})

t.test('the next primary of a single worker that does not answer, as its event loop is blocked, waits for it, since that has the port', async t => {
  const { start, lines } = lineage(t, ['-w', '1'])
  const before = await start()
  const { pid } = await before.events.until('worker.ready')
  before.child.kill('SIGKILL')
  t.ok(await becomesTrue(() => lines().some(({ event }) => event === 'worker.orphaned')))
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {} // it has ended
  })
  const after = start({ PORT: String(before.port) })
  t.ok(await becomesTrue(() => lines().some(({ warning, orphan }) => warning === 'orphan' && orphan === pid)), 'it is said')
  process.kill(pid, 'SIGCONT')
  const { events, child, exited } = await after
  t.match(await events.until('fleet.adopted'), { workers: [pid] })
  t.match(await events.until('recycled'), { reason: 'adopted', oldPid: pid, cut: 0 })
  t.match(await get(before.port), { status: 200 })
  t.same(lines().filter(({ event, warning }) => event === 'worker.crash' || warning === 'orphan').length, 1)
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('a worker that does not answer holds the adoption of the others up no longer than a moment; it is adopted when it answers', async t => {
  const { start, lines, room } = lineage(t)
  const before = await start()
  await before.events.until('fleet.ready')
  const [blocked, other] = before.events.all('worker.ready').map(({ pid }) => pid)
  before.child.kill('SIGKILL')
  t.ok(await becomesTrue(() => lines().filter(({ event }) => event === 'worker.orphaned').length === WORKERS))
  process.kill(blocked, 'SIGSTOP')
  t.teardown(() => attempt(() => process.kill(blocked, 'SIGKILL'), false))
  const { events } = await start({ PORT: String(before.port) })
  t.match(await events.until('fleet.adopted'), { workers: [other] })
  t.same(lines().filter(({ warning }) => warning === 'orphan'), [], 'the other has 2 s to answer')
  t.match(await events.until('recycled'), { reason: 'adopted', oldPid: other, cut: 0 })
  t.match(await room.recycle(['reload']), { code: 0 }, 'the fleet has all its workers')
  const status = async () => (await room.call(['status'])).stdout
  const said = `worker ${blocked}, whose supervisor has died, is not adopted: it has not answered within 2000 ms, and is asked again\n`
  t.ok(await becomesTrue(async () => (await status()).includes(said)))
  process.kill(blocked, 'SIGCONT')
  t.match(await events.until('fleet.adopted', { count: 2 }), { workers: [blocked] })
  t.match(await events.until('worker.retire', { where: ({ pid }) => pid === blocked }), { inFlight: 0 })
  t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { totals: { workers: WORKERS }, adopted: { workers: WORKERS }, orphans: [] })
})

t.test('a worker that drains as its primary is killed keeps its connections; the next one has them go on elsewhere, also if that worker dies first', async t => {
  const { start, lines, room } = lineage(t, [], [path.join(FIXTURES, 'polls.js')])
  let fleet = await start()
  const { port } = fleet
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  /** @type {number[]} */
  const gone = []
  const next = async () => {
    fleet.child.kill('SIGKILL')
    t.ok(await becomesTrue(() => lines().filter(({ event, oldPid }) => event === 'worker.orphaned' && oldPid === fleet.child.pid).length >= WORKERS))
    return start({ PORT: String(port) })
  }
  const drained = async () => {
    await fleet.events.until('fleet.ready')
    const asked = get(port, '/poll', { agent })
    t.ok(await becomesTrue(() => lines().some(({ event, inFlight, pid }) => event === 'worker.sample' && inFlight === 1 && !gone.includes(pid))))
    room.recycle(['reload']) // its primary is killed
    const drain = await fleet.events.until('worker.drain', { where: ({ inFlight }) => inFlight === 1 })
    gone.push(drain.pid)
    return { asked, ...drain }
  }
  const first = await drained()
  const second = await next()
  process.kill(first.pid, 'SIGUSR2')
  t.match(await first.asked, { status: 200, headers: { connection: 'keep-alive' } }, 'it is still answered')
  t.match(await get(port, '/', { agent }), { status: 200, reused: true })
  t.match(await second.events.until('recycled', { where: ({ oldPid }) => oldPid === first.pid }), { slot: first.slot, reason: 'adopted', cut: 0, closedIdle: 0, lost: false })
  t.match(await get(port, '/', { agent }), { status: 200, reused: true })

  await second.events.until('recycled', { count: WORKERS + 1, where: ({ reason }) => reason === 'adopted' })
  fleet = second
  const third = await drained()
  fleet = await next()
  await fleet.events.until('worker.drain', { where: ({ pid }) => pid === third.pid })
  const status = async () => JSON.parse((await room.call(['status', '--json'])).stdout)
  t.ok(await becomesTrue(async () => (await status()).failover.connections > 0))
  process.kill(third.pid, 'SIGKILL')
  t.match(await fleet.events.until('worker.crash'), { pid: third.pid, replayed: 1, cut: 0 })
  const answered = third.asked.then(() => true)
  t.ok(await becomesTrue(async () => { // the other worker may not have it yet, and may be leaving, too
    for (const { pid, state } of (await status()).workers) {
      if (['ready', 'draining'].includes(state)) attempt(() => process.kill(pid, 'SIGUSR2'), false)
    }
    return Promise.race([answered, false])
  }))
  const { body, ...answer } = await third.asked
  t.match(answer, { status: 200, reused: true })
  t.match(JSON.parse(body), { replayed: 1 })
  fleet.child.kill('SIGTERM')
  t.same(await fleet.exited, { code: 0, signal: null })
})

t.test('a primary that is killed within a hand-off, to a sibling or to the next primary\'s workers: each connection is the sender\'s or the receiver\'s', async t => {
  /** @param {'reload' | 'upgrade'} verb @param {number} messages of the hand-off */
  const diesAfter = async (verb, messages) => {
    const { start, room, lines } = lineage(t)
    const preload = path.join(FIXTURES, 'dies-while-moving.js')
    const { port, child, events } = await start({ DIES_AFTER: String(messages), NODE_OPTIONS: `--require ${preload}` })
    await events.until('fleet.ready')
    const load = new Load({ port, connections: 20, thinkMs: 80 })
    t.teardown(() => load.stop())
    await load.after(100)
    room.recycle([verb]) // its primary is killed
    t.same(await once(child, 'exit'), [null, 'SIGKILL'])
    await load.after(100)
    const next = verb === 'reload' ? await start({ PORT: String(port) }) : null
    t.match(await next?.events.until('fleet.adopted'), next ? { oldPid: child.pid } : undefined)
    await load.after(200)
    const counted = await load.stop()
    t.same({ ...counted, requests: 0 }, { requests: 0, failures: [], anew: [], sockets: 20 }, `${verb}, after ${messages}`)
    const { pid } = next?.child ?? lines().find(({ event, predecessor }) => event === 'fleet.start' && predecessor === child.pid) ?? {}
    process.kill(pid, 'SIGTERM')
    t.ok(await becomesTrue(() => !fs.existsSync(`/proc/${pid}/stat`)), 'it ends')
  }
  // The receiver is asked, the sender is told, the receiver is told; another primary is asked, the sender is told
  await Promise.all([1, 2, 3].map(messages => diesAfter('reload', messages)))
  await Promise.all([1, 2].map(messages => diesAfter('upgrade', messages)))
})

t.test('a worker that takes no more connections as its primary is killed takes the next one when it has room', async t => {
  const { start } = lineage(t, ['-w', '1'], [path.join(FIXTURES, 'limits.js')])
  const { port, child, events } = await start({ MOST: '1' })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  await events.until('fleet.ready')
  t.match(await get(port, '/', { agent }), { status: 200 })
  await get(port, '/slow?ms=300', { agent }) // its server is full for long enough
  child.kill('SIGKILL')
  await events.until('worker.orphaned')
  const next = get(port)
  t.match(await get(port, '/', { agent }), { status: 200, reused: true })
  agent.destroy()
  t.match(await next, { status: 200 })
})

t.test('a worker that is out of rotation as its primary is killed serves again, as it may be the last', async t => {
  const { start, lines } = lineage(t, ['--orphan-timeout', '5s'], [path.join(FIXTURES, 'pauses.js')])
  const { port, child, events } = await start()
  await events.until('fleet.ready')
  const [[pid, agent], [other]] = await clientPerWorker(t, port, WORKERS)
  await get(port, '/refill', { agent })
  await events.until('worker.paused')
  t.ok(await becomesTrue(async () => (await get(port, '/pid', { agent })).body === String(other)), 'it is out')
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => lines().filter(({ event }) => event === 'worker.orphaned').length === WORKERS))
  process.kill(other, 'SIGKILL')
  t.match(await get(port, '/pid'), { status: 200, body: String(pid) })
})

t.test('as many workers as the primary before was told to have, each in its slot, also where the load would have fewer', async t => {
  for (const workers of ['2', '1..4']) {
    const { start, room } = lineage(t, ['-w', workers])
    const { port, child, events } = await start()
    await events.until('fleet.ready')
    t.match(await room.recycle(['scale', '3']), { code: 0 })
    child.kill('SIGKILL')
    await becomesTrue(async () => (await room.call(['status'])).code === 2)
    const next = await start({ PORT: String(port) })
    t.match(await next.events.until('fleet.scale'), { to: 3, reason: 'adopted', slots: [0, 1, 2] })
    await next.events.until('recycled', { count: 3, where: ({ reason }) => reason === 'adopted' })
    t.same(next.events.all('recycled').map(({ slot }) => slot).sort(), [0, 1, 2])
    t.same(next.events.all('scaled'), [])
    t.match(JSON.parse((await room.call(['status', '--json'])).stdout), { totals: { workers: 3 }, autoscale: workers === '2' ? null : { isPinned: true } })
  }
})

/** A fleet of two releases, and a link to the first, by which it is started. @param {any} t */
async function startReleases (t) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'releases-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const current = path.join(folder, 'current')
  const file = (/** @type {number} */ of) => path.join(folder, 'releases', String(of), 'app.js')
  for (const release of [1, 2]) fs.cpSync(APP, file(release))
  const lead = (/** @type {number} */ to) => {
    fs.rmSync(current, { force: true })
    fs.symlinkSync(`releases/${to}`, current)
  }
  lead(1)
  const { start, room, lines } = lineage(t, [], [path.join(current, 'app.js')])
  let fleet = await start()
  const { port } = fleet
  await fleet.events.until('fleet.ready')
  const next = async () => {
    fleet.child.kill('SIGKILL')
    fleet = await start({ PORT: String(port) })
    await fleet.events.until('recycled', { count: WORKERS, where: ({ reason }) => reason === 'adopted' })
    return fleet
  }
  return { room, lines, file, lead, next, events: fleet.events }
}

t.test('the release before is known to the next primary, after a kill and an upgrade', async t => {
  const { room, file, lead, next } = await startReleases(t)
  lead(2)
  t.match(await room.recycle(['reload']), { code: 0 })
  await next()
  const status = async () => JSON.parse((await room.call(['status', '--json'])).stdout)
  t.match(await status(), { app: file(2) })
  t.match(await room.recycle(['rollback']), { code: 0 })
  t.match(await status(), { app: file(1) })
  await next()
  t.match(await status(), { app: file(1), workers: Array(WORKERS).fill({ app: file(1) }) }, 'though the link leads to the other')
  t.match(await room.recycle(['rollback']), { code: 1 })
  await next()
  t.match(await status(), { app: file(1) })
  t.match(JSON.parse((await room.call(['ls', '--json'])).stdout), [{ app: file(1) }])
  t.match(await room.recycle(['upgrade']), { code: 0 })
  t.match(await status(), { app: file(2) }, 'by its link')
  t.match(await room.recycle(['rollback']), { code: 0 })
  t.match(await status(), { app: file(1) })
  t.match(await room.recycle(['stop']), { code: 0 })
})

t.test('the primary is killed within a rollback, or after a reload that has failed: the next one runs neither code, though the link leads to it', async t => {
  const { room, file, lead, next, events } = await startReleases(t)
  const apps = async () => JSON.parse((await room.call(['status', '--json'])).stdout)
  const ofFirst = { app: file(1), workers: Array(WORKERS).fill({ app: file(1) }) }
  lead(2)
  t.match(await room.recycle(['reload']), { code: 0 })
  const rollback = room.call(['rollback'])
  await events.until('worker.spawn', { count: 2 * WORKERS + 1 })
  await next()
  t.match(await apps(), ofFirst, 'the rollback goes on')
  t.match(await rollback, { code: 1 })
  t.match(await room.recycle(['rollback']), { code: 1 })
  fs.mkdirSync(path.dirname(file(3)))
  fs.writeFileSync(file(3), 'throw new Error("broken")')
  lead(3)
  t.match(await room.recycle(['reload']), { code: 1 })
  await next()
  t.match(await apps(), ofFirst, 'the reload had failed')
})

t.test('of two fleets of one name in two control folders each has its own workers; the same app is the same fleet in any folder', async t => {
  const start = (/** @type {string} */ app) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ra-'))
    t.teardown(() => fs.rmSync(folder, { recursive: true }))
    return startCli(t, ['-w', '1', '--name', 'twin', path.join(FIXTURES, app)], { env: { RECYCLE_CONTROL: '', RECYCLE_CONTROL_DIR: '', XDG_RUNTIME_DIR: folder } })
  }
  const { child, events } = await start('plain.js')
  const { pid } = await events.until('worker.ready')
  child.kill('SIGKILL')
  await events.until('worker.orphaned')
  const other = await start('late.js')
  await other.events.until('fleet.ready')
  t.same(other.events.all('fleet.adopted'), [])
  const same = await start('plain.js')
  t.match(await same.events.until('fleet.adopted'), { workers: [pid] })
})

t.test('what an adopted worker has started ends with it', async t => {
  const folder = t.testdir({})
  const { start, lines } = lineage(t, ['--kill-timeout', '300ms'], [path.join(FIXTURES, 'starts-children.js'), folder])
  const { port, child, events } = await start()
  await events.until('fleet.ready')
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => lines().filter(({ event }) => event === 'worker.orphaned').length === WORKERS))
  const next = await start({ PORT: String(port) })
  await next.events.until('worker.children', { count: WORKERS, where: ({ ended }) => ended === 3 })
  const daemons = fs.readFileSync(path.join(folder, 'daemons'), 'utf8').trim().split('\n').map(Number)
  for (const pid of daemons) attempt(() => process.kill(pid, 'SIGKILL'), false) // of the replacements, too
})

t.test('workers that no primary adopts in time, or that get SIGTERM, finish what is in flight and leave', async t => {
  for (const why of ['timeout', 'SIGTERM']) {
    const { start, lines } = lineage(t, ['--orphan-timeout', why === 'timeout' ? '300ms' : '60s'])
    const { port, child, events } = await start()
    await events.until('fleet.ready')
    const slow = get(port, '/slow?ms=1500')
    t.equal((await get(port)).status, 200)
    child.kill('SIGKILL')
    t.ok(await becomesTrue(() => lines().filter(({ event }) => event === 'worker.orphaned').length === WORKERS))
    if (why === 'SIGTERM') for (const pid of livingOfGroup(child.pid)) process.kill(pid, 'SIGTERM')
    t.match(await slow, { status: 200, body: 'ok' })
    t.ok(await becomesTrue(() => livingOfGroup(child.pid).length === 0), 'no process is left')
    t.same(lines().filter(({ event }) => event === 'worker.unadopted').map(line => line.why), [why, why])
    t.equal((await get(port)).error, 'ECONNREFUSED')
  }
})

t.test('with --revive one worker starts the next primary, with the same command', async t => {
  const { start, lines, room } = lineage(t, ['--revive'])
  const { port, child, events } = await start()
  await events.until('fleet.ready')
  const load = new Load({ port, connections: 4, thinkMs: 80 })
  t.teardown(() => load.stop())
  await load.after(8)
  const all = (/** @type {string} */ event) => lines().filter(line => line.event === event)
  child.kill('SIGKILL')
  t.ok(await becomesTrue(() => all('recycled').length === WORKERS, 30_000))
  const [, next, ...more] = all('fleet.start')
  t.teardown(() => { if (livingOfGroup(next.pid).length > 0) process.kill(-next.pid, 'SIGKILL') })
  t.same(more, [], 'there is one')
  t.same(all('worker.revived').map(({ started }) => started), [next.pid])
  t.match(all('fleet.adopted'), [{ pid: next.pid, oldPid: child.pid }])
  t.same(next.args, all('fleet.start')[0].args)
  t.same(await load.stop(), { ...load.counts(), failures: [], sockets: 4 })
  t.match(await room.recycle(['stop']), { code: 0 })
  t.ok(await becomesTrue(() => livingOfGroup(next.pid).length === 0), 'no process is left')
  t.same(all('worker.unrevived'), [])
})
