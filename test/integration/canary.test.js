'use strict'

/** New code is tried in one worker first, under load: it goes on, or back, and no request is lost. */

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const t = require('tap')
const { judge } = require('../../lib/features/canary/verdict')
const { Observer } = require('../../lib/features/canary/worker')
const { formatStatus } = require('../../lib/operate/control-table')
const { get } = require('../support/client')
const { controlRoom } = require('../support/control')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')
const { skip } = require('../support/mold')
const { received, workerParts } = require('../support/worker-parts')

const OPTIONS = { workers: 2, interval: '500ms', stopLinger: '0' }

const CODE = {
  good: "response.end('good')",
  better: "response.end('better')",
  cut: "if (Math.random() < 0.4) { response.writeHead(200, { 'content-length': 99 }).write('cut'); setImmediate(() => response.destroy()) } else response.end('cut')",
  slow: "setTimeout(() => response.end('slow'), 50)"
}
/** @param {keyof typeof CODE} name */
const source = name => `require('node:http').createServer((request, response) => { ${CODE[name]} }).listen(process.env.PORT)`

/**
 * Some 350 requests a second in all: on a busy machine, too, each code has more than three times as many as a verdict
 * needs.
 */
const LOAD = { connections: 80, thinkMs: 450 }
/** Where nothing is judged. */
const LITTLE = { connections: 20, thinkMs: 300 }

/**
 * A fleet of an app whose code is in the file, under load.
 *
 * @param {any} t @param {Record<string, any>} [options] @param {typeof LOAD} [how]
 */
async function start (t, options = {}, how = LITTLE) {
  const app = path.join(fs.realpathSync(t.testdir({ 'app.js': source('good') })), 'app.js')
  const fleet = await startFleet(t, app, { ...OPTIONS, ...options })
  return {
    ...fleet, load: loadOf(t, fleet.port, how), write: (/** @type {string} */ text) => fs.writeFileSync(app, text)
  }
}

/** @param {any} t tap's @param {number} port @param {typeof LOAD} [how] */
function loadOf (t, port, how = LOAD) {
  const load = new Load({ port, ...how })
  t.teardown(() => load.stop())
  return load
}

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
  process.kill(pid, 'SIGKILL')
  const [{ app: meanwhile }] = [await events.until('worker.spawn', { count: 4 })]
  await events.until('worker.ready', { count: 4 })
  await supervisor.reload({ abort: true })
  await first
  t.equal(meanwhile, file(1))
  t.match(events.all('fleet.rejected'), [{ isReplaced: false }])
  await supervisor.recycle(1)
  t.match(
    supervisor.status(), { app: file(1), workers: [{ app: file(1), generation: 0 }, { app: file(1), generation: 0 }] }
  )

  await supervisor.reload()
  t.match(events.all('fleet.reloaded'), [{ app: file(2) }])
  t.same(await supervisor.rollback(), { app: file(1), named: file(2) })
  t.match(supervisor.status().workers, [{ app: file(1) }, { app: file(1) }])
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: the fleet was rolled back from ${file(2)} already; recycle reload runs what the link leads to, ${file(2)}` })
  await supervisor.reload()
  t.match(supervisor.status().workers, [{ app: file(2) }, { app: file(2) }], 'a reload asks for it')
  fs.rmSync(path.dirname(file(1)), { recursive: true })
  await t.rejects(supervisor.rollback(), { code: 'RECYCLE_NO_RELEASE', message: `there is no release to go back to: ${file(1)}, which the fleet has run before, is there no more` })
})

t.test('--fork mold: the code before is forked still, though the file has another', { skip }, async t => {
  const { supervisor, events, port, write, load } = await start(t, { fork: 'mold' })
  write(`${source('better')}\nsetInterval(() => { if (process.env.RECYCLE_SLOT !== 'mold') process.exit(3) }, 50)`)
  await t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  t.match(events.all('fleet.rejected'), [{ isReplaced: false }], 'that this code could not be forked says nothing of the code before')
  write(source('better'))
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  await events.until('fleet.trial', { count: 2 })
  await events.until('worker.ready', { where: ({ slot, t }) => slot === 2 && t > events.all('fleet.trial')[1].t })
  await supervisor.recycle(0)
  await supervisor.reload({ abort: true })
  await first
  t.match(events.all('fleet.rejected'), [{}, { isReplaced: false }])
  await supervisor.recycle(1)
  t.match(supervisor.status().workers, [{ generation: 0 }, { generation: 0 }])
  const { failures } = await load.stop()
  t.same(failures, [])
  for (let i = 0; i < 20; i++) t.match(await get(port), { body: 'good' })
})

t.test('--sticky: sessions stay where they are, and those that began in the new code go along when it leaves', async t => {
  const { supervisor, events, port } = await startFleet(t, 'counting-sessions.js', { ...OPTIONS, sticky: 'cookie:sid' })
  const agents = Array.from({ length: 12 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
  t.teardown(() => { for (const agent of agents) agent.destroy() })
  const ask = async (/** @type {http.Agent} */ agent, /** @type {string} */ path, cookie = '') => {
    const { status, body, error } = await get(port, path, { agent, headers: { cookie } })
    return { status, error, ...JSON.parse(body || '{}') }
  }
  const login = (/** @type {http.Agent[]} */ agents) => Promise.all(agents.map(agent => ask(agent, '/login')))
  /** @param {{ sid: string, pid: number }[]} sessions @param {number} count */
  const round = async (sessions, count) => {
    const answers = await Promise.all(sessions.map(({ sid }, i) => ask(agents[i], '/', `sid=${sid}`)))
    t.match(answers, sessions.map(({ sid }) => ({ status: 200, sid, count })))
    return answers
  }
  const before = await login(agents)
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  const { pid: fresh } = await events.until('worker.ready', { count: 3 })
  t.same((await round(before, 1)).map(({ pid }) => pid), before.map(({ pid }) => pid), 'each in its worker')
  let began = await login(agents)
  for (let i = 0; i < 50 && !began.some(({ pid }) => pid === fresh); i++) {
    began = await login(Array.from(agents, () => new http.Agent()))
  }
  t.ok(began.some(({ pid }) => pid === fresh), 'some begin in the new code')
  await supervisor.reload({ abort: true })
  await first
  await round(began, 1)
  t.same((await round(before, 2)).map(({ pid }) => pid), before.map(({ pid }) => pid))
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

t.test('a standby has the code before, and serves in its place; none boots with code on trial that has replaced it', async t => {
  const { supervisor, events, write, load } = await start(t, { standby: 1 })
  await events.until('worker.standby')
  const { pid: standby } = supervisor.status().workers.find(({ state }) => state === 'standby') ?? {}
  write(source('better'))
  const first = t.rejects(supervisor.reload({ canary: 1, bake: '1h' }), { code: 'RECYCLE_REJECTED' })
  await events.until('worker.ready', { where: ({ slot }) => slot === 2 })
  t.match(await supervisor.recycle(0), { pid: standby, how: 'standby' })
  t.match(await supervisor.recycle(1), { how: 'surge' })
  t.same(supervisor.status().workers.map(({ slot, generation }) => [slot, generation]).sort(), [[0, 0], [1, 1], [2, 1]], 'what is spawned runs the new code, and counts as such')
  t.same(events.all('worker.spawn').filter(({ slot }) => slot === null).length, 1, 'no other standby')
  await supervisor.reload({ abort: true })
  await first
  await events.until('worker.standby', { count: 2 })
  await supervisor.reload()
  t.same((await load.stop()).failures, [])
})

/** Answers, or does not, as the path says. @type {import('node:http').RequestListener} */
function answer (request, response) {
  switch (request.url) {
    case '/destroyed': return void request.destroy()
    case '/cut':
      response.writeHead(200, { 'content-length': 1000 }).write('half')
      return void setImmediate(() => response.destroy())
    case '/events': return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    case '/hangs': return
    default: response.end('answered')
  }
}

t.test('what a worker counts of real requests', async t => {
  const parts = await workerParts(t, answer)
  const { channel, tracker, receive } = parts
  const observer = new Observer(/** @type {any} */ ({ channel, tracker, onCollected () {}, liveBytes: () => 0 }))
  const { now } = performance
  let aheadMs = 0
  performance.now = () => now.call(performance) + aheadMs
  t.teardown(() => { performance.now = now })

  const ask = async (/** @type {string} */ path) => {
    const { client, connection } = await parts.connect()
    const begun = once(tracker, 'request')
    client.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`)
    await begun
    return { client, connection }
  }
  /** @param {string} path @param {(asked: Awaited<ReturnType<typeof ask>>) => unknown} [then] */
  const ended = async (path, then = ({ client }) => client.resume()) => {
    const gone = once(tracker, 'gone')
    await then(await ask(path))
    await gone
  }
  const begin = (/** @type {any} */ thresholds = { medianMs: 2000, tailMs: 5000 }) => receive.observe({ thresholds })
  /** As a heartbeat tells it, a second after the latest. */
  const counts = () => {
    parts.sent.length = 0
    aheadMs += 1000
    observer.beat()
    return parts.all('observed')[0].counts
  }

  await t.test('a response that is not finished: the app ends it, before or after its head, or a client that has waited long; not one that gives up soon', async t => {
    begin()
    await ended('/destroyed')
    await ended('/cut')
    await ended('/hangs', ({ client }) => client.destroy())
    await ended('/hangs', ({ client }) => client.end())
    await ended('/hangs', ({ client }) => client.resetAndDestroy())
    await ended('/hangs', ({ client }) => {
      aheadMs += 6000
      client.destroy()
    })
    const { client } = await ask('/')
    await received(client, 'answered')
    t.match(counts(), { requests: 4, of: { unfinished: 3, errors: 0, slowTail: 0 } })
    receive.unobserve()
  })

  await t.test('a request that waits still is slow by its age, once that is above the threshold, also one of the warm-up; a stream of events is not', async t => {
    begin(null)
    await ask('/hangs')
    begin()
    await ask('/hangs')
    await received((await ask('/events')).client, 'data: 1')
    t.match(counts(), { requests: 0 })
    aheadMs += 6000
    for (let i = 0; i < 2; i++) t.match(counts(), { requests: 2, connections: 2, of: { slowMedian: 2, slowTail: 2, unfinished: 0 } }, 'once each')
    await ended('/events', async ({ client }) => {
      await received(client, 'data: 1')
      client.destroy()
    })
    t.match(counts(), { requests: 2, of: { unfinished: 0 } })
    receive.unobserve()
  })

  await t.test('not what has waited since before, nor what this worker cuts as it leaves', async t => {
    begin()
    await ended('/hangs', ({ connection }) => connection.close('cut'))
    t.match(counts(), { requests: 0, of: { unfinished: 0, slowTail: 0 } })
  })
})
