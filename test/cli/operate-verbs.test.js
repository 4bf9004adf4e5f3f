'use strict'

/** The verbs on a fleet under load: their effect, output and exit code. */

const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { WebSocket } = require('ws')
const { FIXTURES } = require('../support/fleet')
const { controlRoom, rawClient } = require('../support/control')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')
const { RawClient, head } = require('../support/raw-client')

const PLAIN = path.join(FIXTURES, 'plain.js')
const WORKER_FIELDS = ['slot', 'pid', 'state', 'generation', 'ageMs', 'rssBytes', 'pssBytes', 'ussBytes', 'budgetBytes', 'cpuPercent', 'elu', 'connections', 'inFlight', 'requests', 'recycles', 'lastReason']

t.test('a fleet under load', async t => {
  const room = controlRoom(t)
  const { port, child, events, exited } = await room.start(2, ['--name', 'api', '--max-rss', '400MiB', PLAIN])
  const load = new Load({ port, connections: 4 })
  t.teardown(() => load.stop())
  await load.after(20)
  const status = async () => JSON.parse((await room.call(['status', '--json'])).stdout)

  await t.test('status --json is one object, that of supervisor.status()', async t => {
    await events.until('worker.ready', { count: 2 })
    const { code, stdout, stderr } = await room.recycle(['status', '--json'])
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^\{[^\n]*\}\n$/)
    const said = JSON.parse(stdout)
    t.same(Object.keys(said), ['v', 'name', 'pid', 'app', 'listening', 'workers', 'totals', 'budgets', 'crashing', 'uneven', 'reloadStopped', 'memory', 'freshOverBudget', 'notReaped', 'journal', 'adopted', 'orphans', 'heapdumps', 'blockedLoops', 'memoryByRoute', 'leakStudies', 'exceptions', 'failover', 'keepAliveTimeout', 'stopDelay', 'autoscale', 'canary'])
    t.match(said, { v: 1, name: 'api', pid: child.pid, app: PLAIN, totals: { workers: 2, ready: 2, recycles: 0 } })
    t.same(said.workers.map((/** @type {any} */ { slot }) => slot), [0, 1])
    for (const worker of said.workers) {
      t.same(WORKER_FIELDS.filter(field => !Object.hasOwn(worker, field)), [])
      t.match(worker, { pid: Number, state: 'ready', rssBytes: Number, pssBytes: Number, ussBytes: Number, budgetBytes: Number, recycles: 0, lastReason: null })
      t.ok(worker.ussBytes <= worker.pssBytes && worker.pssBytes < worker.rssBytes)
    }
    t.ok(said.workers.reduce((/** @type {number} */ sum, /** @type {any} */ { requests }) => sum + requests, 0) > 0)
  })

  await t.test('status without --json is a table', async t => {
    const { code, stdout } = await room.recycle(['status'])
    t.equal(code, 0)
    const lines = stdout.split('\n')
    t.match(lines[0], new RegExp(`^api  pid ${child.pid}  http://localhost:\\d+  ${PLAIN}$`))
    t.match(lines[1], /^2 of 2 workers ready, [\d.]+ MiB RSS, 0 recycles$/)
    t.match(lines[3], /^slot +pid +state +age +memory +MiB +PSS +USS +CPU +ELU +conns +flight +requests +recycles$/)
    for (const slot of [0, 1]) t.match(lines[4 + slot], new RegExp(`^ +${slot} +\\d+ +ready +\\S+ +█+░+ +\\d+ of \\d+ `))
    t.notMatch(stdout, /\x1b/) // eslint-disable-line no-control-regex
  })

  await t.test('recycle <slot>, <pid>, all', async t => {
    const [before] = (await status()).workers
    t.match(await room.recycle(['recycle', '0']), { code: 0, stdout: /^api: 1 worker replaced, 0 cut, \d+ moved\n$/, stderr: /^\d\d:\d\d:\d\d recycled slot 0, \d+ → \d+ \(requested\): 0 cut, [^\n]*\n$/ })
    const [{ pid, recycles, lastReason }, { pid: pidOf1 }] = (await status()).workers
    t.not(pid, before.pid)
    t.match({ recycles, lastReason }, { recycles: 1, lastReason: 'requested' })
    t.match(await room.call(['recycle', String(pidOf1)]), { code: 0, stdout: /^api: 1 worker replaced/ })
    t.equal((await status()).workers[1].recycles, 1)
    t.match(await room.call(['recycle', 'all']), { code: 0, stdout: /^api: 2 workers replaced, 0 cut, \d+ moved\n$/, stderr: /^(\S+ recycled slot \d[^\n]*\n){2}$/ })
    t.equal((await status()).totals.recycles, 4)
    t.match(await room.recycle(['recycle', '99']), { code: 2, stdout: '', stderr: /^recycle: the worker was given "99"; it takes all, a slot \(0, 1\) or a pid \(\d+, \d+\)\n$/ })
  })

  await t.test('reload', async t => {
    const pids = (await status()).workers.map((/** @type {any} */ { pid }) => pid)
    t.match(await room.call(['reload']), { code: 0, stdout: /^api is reloaded: 2 workers replaced, 0 cut, \d+ moved\n$/, stderr: /^(\S+ recycled slot \d[^\n]*\(reload\)[^\n]*\n){2}$/ })
    const { workers } = await status()
    t.same(workers.filter((/** @type {any} */ { pid }) => pids.includes(pid)), [])
  })

  await t.test('scale to a number, up and down by one', async t => {
    t.match(await room.call(['scale', '3']), { code: 0, stdout: 'api has 3 workers, 2 before\n' })
    t.match(await room.call(['scale', '-1']), { code: 0, stdout: /^api has 2 workers, 3 before, 0 cut, \d+ moved\n$/ })
    t.match(await room.call(['scale', '+1']), { code: 0, stdout: 'api has 3 workers, 2 before\n' })
    t.match(await room.call(['scale', '-1']), { code: 0, stdout: /^api has 2 workers, 3 before, 0 cut, \d+ moved\n$/ })
    t.match((await status()).totals, { workers: 2, ready: 2 })
    t.match(await room.call(['scale', '-2']), { code: 2, stdout: '', stderr: 'recycle: workers was given "-2"; it takes a number that leaves at least 1 of the 2\n' })
    t.match(await room.call(['scale', 'many']), { code: 2, stderr: 'recycle: workers was given "many"; it takes a whole number from 1 to 1024, one with its sign, such as "+1", or auto\n' })
  })

  await t.test('--no-wait exits as soon as the fleet has begun; a request that is refused at once still fails', async t => {
    const recycled = events.all('recycled').length
    t.match(await room.recycle(['recycle', '1', '--no-wait']), { code: 0, stdout: 'api: recycle has begun\n', stderr: '' })
    t.match(await events.until('recycled', { count: recycled + 1 }), { slot: 1, reason: 'requested' })
    t.match(await room.call(['recycle', '99', '--no-wait']), { code: 2, stdout: '', stderr: /^recycle: the worker was given "99"/ })
  })

  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 4, 'no client ever reconnected')

  await t.test('stop waits for the end, reports it, and removes the socket', async t => {
    t.match(await room.recycle(['stop']), { code: 0, stdout: 'api has stopped, 0 cut, 0 moved\n', stderr: /^(\S+ stopped slot \d: [^\n]*\n){2}$/ })
    t.match(await exited, { code: 0, signal: null })
    t.same(fs.readdirSync(room.folder), [])
  })
})

t.test('a verb that fails says why, and exits 1', async t => {
  const room = controlRoom(t)
  const startMode = path.join(t.testdir({ startMode: 'well' }), 'startMode')
  const { events } = await room.start(2, ['--name', 'api', path.join(FIXTURES, 'start-modes.js')], { START_MODE: startMode })
  fs.writeFileSync(startMode, 'dies')
  t.match(await room.recycle(['reload']), { code: 1, stdout: '', stderr: /^recycle: the reload was stopped after 3 replacements in a row [^\n]*\n$/ })
  t.match(await room.call(['recycle', '1']), { code: 1, stdout: '', stderr: 'recycle: the replacement of slot 1 did not become ready: it exited with code 7; it is tried again\n' })
  const { code, stdout, stderr } = await room.call(['recycle', 'all'])
  t.equal(code, 1)
  t.equal(stdout, 'api: 0 workers replaced, 0 cut, 0 moved\n')
  t.match(stderr.split('\n').filter(Boolean).sort(), [0, 1].map(slot => `recycle: slot ${slot}: the replacement of slot ${slot} did not become ready: it exited with code 7; it is tried again`))
  t.match(await room.call(['reload']), { code: 1, stdout: '', stderr: /^recycle: the reload was stopped after 3 replacements in a row / }, 'also if each worker was condemned before')
  t.same(events.all('worker.drain'), [], 'the old workers are in service')
})

t.test('stop during a stop joins it; --now cuts what is in flight', async t => {
  const room = controlRoom(t)
  const { port, events, exited } = await room.start(1, ['--name', 'api', PLAIN])
  const load = new Load({ port, connections: 1, path: '/slow?ms=60000' })
  await becomesBusy(room)
  t.match(await room.call(['stop', '--no-wait']), { code: 0, stdout: 'api: stop has begun\n' })
  t.ok(await becomesTrue(() => room.clients() === 0))
  const joined = room.recycle(['stop'])
  t.ok(await becomesTrue(() => room.clients() === 1), 'it may take longer to start than those that follow')
  await events.until('worker.drain')
  t.match(await room.call(['stop', '--no-wait']), { code: 0 })
  t.notOk(events.all('stopped').some(line => line.cut > 0), 'joining a stop cuts no request')
  t.match(await room.call(['stop', '--now']), { code: 0, stdout: /^api has stopped, 1 cut, 0 moved\n$/ })
  t.match(await joined, { code: 1, stdout: /^api has stopped, 1 cut, 0 moved\n$/ })
  t.match(await exited, { code: 0 })
  await load.stop()
})

t.test('a WebSocket that the app does not end is waited for, closed at the drain timeout, counted apart, and no failure; one that recycle closes with 1012 is, too', async t => {
  const room = controlRoom(t)
  const app = path.join(t.testdir({
    'app.js': `
      const { WebSocketServer } = require(${JSON.stringify(require.resolve('ws'))})
      const [told, untold] = [1, 2].map(() => new WebSocketServer({ noServer: true }))
      require(${JSON.stringify(path.resolve('lib/worker'))}).webSockets(told)
      require('node:http').createServer().listen(process.env.PORT).on('upgrade', (request, socket, head) => {
        const sockets = request.url === '/told' ? told : untold
        sockets.handleUpgrade(request, socket, head, ws => sockets.emit('connection', ws, request))
      })`
  }), 'app.js')
  const { port } = await room.start(1, ['--name', 'api', '--drain-timeout', '1300ms', '--max-rss', '512MiB', app])
  t.match((await room.call(['status'])).stdout, /^budgets: --max-rss, 512 MiB, less up to 10% \(--jitter\)/m)

  const first = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(first, 'open')
  t.match(await room.call(['reload']), { code: 0, stdout: 'api is reloaded: 1 worker replaced, 0 cut, 0 moved, 1 stream closed at the deadline\n' })

  const second = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(second, 'open')
  const fleet = await rawClient(t, path.join(room.folder, 'api.sock'))
  fleet.socket.write('{"v":1,"id":1,"verb":"recycle","target":"all"}\n')
  const { progress: { of, waits: [wait] } } = await fleet.until(message => message.progress?.waits)
  t.match({ of, wait }, { of: 1, wait: { slot: Number, pid: Number, connections: 1, streams: 1, inFlight: 0 } })
  t.ok(wait.drainLeftMs > 0 && wait.drainLeftMs < 1300, `${wait.drainLeftMs} ms`)
  t.match(await fleet.until(message => message.result), { result: { done: { length: 1 }, failed: [] } })

  const third = new WebSocket(`ws://127.0.0.1:${port}/told`)
  await once(third, 'open')
  t.match(await room.call(['stop']), { code: 0, stdout: 'api has stopped, 0 cut, 0 moved, 1 WebSocket closed for a service restart\n' })
})

t.test('a verb that cut something, or had to kill a worker, says so, and exits 1', async t => {
  const room = controlRoom(t)
  const { port, events, exited } = await room.start(1, ['--name', 'api', '--kill-timeout', '300ms', '--drain-timeout', '300ms', '--no-handoff', path.join(FIXTURES, 'sigterm.js'), 'swallows'])
  const { pid } = JSON.parse((await room.call(['status', '--json'])).stdout).workers[0]
  t.match(await room.recycle(['recycle', '0']), { code: 1, stdout: 'api: 1 worker replaced, 0 cut, 0 moved, 1 worker had to be killed\n', stderr: /the worker was killed at --kill-timeout/ })
  t.match(events.all('worker.retire'), [{ pid, signal: 'SIGKILL', killedFor: 'kill-timeout', msg: `killed slot 0 (${pid}): its app had not ended within --kill-timeout of SIGTERM`, level: 40 }])
  const client = await RawClient.connect(port)
  client.send(head('GET', '/held'))
  t.match(await room.call(['reload']), { code: 1, stdout: /^api is reloaded: 1 worker replaced, 1 cut, 0 moved, 1 worker had to be killed\n$/ })
  t.match(await room.call(['stop']), { code: 1, stdout: 'api has stopped, 0 cut, 0 moved, 1 worker had to be killed\n' })
  t.match(await exited, { code: 0 })
  await client.close()
})

t.test('a fleet that dies during a verb: one sentence, exit 1', async t => {
  const room = controlRoom(t)
  const { port, child } = await room.start(1, ['--name', 'api', PLAIN])
  const load = new Load({ port, connections: 1, path: '/slow?ms=60000' })
  await becomesBusy(room)
  const asked = room.recycle(['recycle', '0'])
  for (let isDraining = false; !isDraining;) {
    const { workers } = JSON.parse((await room.call(['status', '--json'])).stdout)
    isDraining = workers.some((/** @type {any} */ { state }) => state === 'draining')
  }
  child.kill('SIGKILL')
  t.match(await asked, { code: 1, stdout: '', stderr: 'recycle: the fleet api ended before it answered\n' })
  load.isStopping = true
})

/** Resolves when the fleet has a request in flight. @param {ReturnType<typeof controlRoom>} room */
async function becomesBusy (room) {
  for (;;) {
    const { workers } = JSON.parse((await room.call(['status', '--json'])).stdout)
    if (workers.some((/** @type {any} */ { inFlight }) => inFlight > 0)) return
  }
}

t.test('a stop that --stop-delay holds up says so', async t => {
  const room = controlRoom(t)
  await room.start(1, ['--name', 'api', '--stop-delay', '3s', PLAIN])
  const { code, stderr } = await room.call(['stop'])
  t.equal(code, 0, stderr)
  t.match(stderr, /^the fleet still accepts \(--stop-delay\), [123]s left\n\S+ stopped slot 0: 0 cut, 0 moved\n$/)
})
