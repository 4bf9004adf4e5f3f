'use strict'

const path = require('node:path')
const { on, once } = require('node:events')
const t = require('tap')
const { startFleet, freePort, sumOfEnds, FIXTURES } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { Load } = require('../support/load')
const { runToEnd } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')

t.test('the package loads by name in CJS and in ESM', async t => {
  const byRequire = require('recycle-supervisor')
  const byImport = await import('recycle-supervisor')
  for (const name of ['supervise', 'readJournal', 'RecycleError']) {
    t.type(byRequire[name], 'function')
    t.equal(byImport[name], byRequire[name])
  }
  for (const name of ['requestRecycle', 'onDrain', 'pin']) t.type(require('recycle-supervisor/worker')[name], 'function')
  t.throws(() => require('recycle-supervisor/lib/primary/supervisor.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
})

t.test('supervise() throws errors that have a code', async t => {
  const { supervise, RecycleError } = require('recycle-supervisor')
  /** @type {[Record<string, any>, string, RegExp][]} */
  const calls = [
    [{ workers: 0 }, 'RECYCLE_BAD_OPTION', /^workers was given 0; it takes a whole number from 1 to 1024, auto, or a range such as 2\.\.8 or 2\.\.auto$/],
    [{ maxRss: 'much' }, 'RECYCLE_BAD_OPTION', /^maxRss was given "much"/],
    [{ maxSurge: 0 }, 'RECYCLE_BAD_OPTION', /^maxSurge was given 0/],
    [{ maxRAM: 1 }, 'RECYCLE_UNKNOWN_OPTION', /^unknown option "maxRAM"; did you mean maxRss\?$/],
    [{ metric: 'pss', meter: 'pidusage' }, 'RECYCLE_METRIC_UNSUPPORTED', /^the meter pidusage cannot read metric pss /],
    [{ journal: '/nonexistent/run.ndjson' }, 'RECYCLE_JOURNAL', /^the journal \/nonexistent\/run\.ndjson /],
    [{ app: path.join(FIXTURES, 'nowhere.js') }, 'RECYCLE_NO_APP', /nowhere\.js cannot be started: there is no such file$/],
    [{ app: 5 }, 'RECYCLE_BAD_OPTION', /^app was given 5; it takes a path, the file that `node` would run$/],
    [{ app: undefined }, 'RECYCLE_BAD_OPTION', /^app was given undefined; it takes a path/],
    [{ args: 'one' }, 'RECYCLE_BAD_OPTION', /^args was given "one"; it takes an array of strings$/],
    [{ args: [1] }, 'RECYCLE_BAD_OPTION', /^args was given \[1\]; it takes an array of strings$/]
  ]
  for (const [options, code, message] of calls) {
    t.throws(() => supervise({ app: PLAIN, ...options }), { name: 'RecycleError', code, message }, code)
  }
  t.throws(() => supervise({ app: PLAIN, workers: 0 }), RecycleError)
})

t.test('a fleet in this process', async t => {
  const { port, supervisor, events } = await startFleet(t, 'speaks.js', { workers: 2, interval: '50ms', prefix: true, maxRss: '1G', jitter: 0 })

  await t.test('status() is plain data', async t => {
    await get(port)
    for (const slot of [0, 1]) await events.until('worker.sample', { where: line => line.slot === slot })
    const status = supervisor.status()
    t.same(JSON.parse(JSON.stringify(status)), status)
    t.match(status, { v: 1, pid: process.pid, app: path.join(FIXTURES, 'speaks.js'), totals: { workers: 2, ready: 2, recycles: 0 } })
    t.same(status.workers.map((/** @type {any} */ worker) => worker.slot), [0, 1])
    for (const worker of status.workers) {
      t.match(worker, { pid: Number, state: 'ready', ageMs: Number, rssBytes: Number, budgetBytes: 1024 ** 3, elu: Number, connections: Number, inFlight: Number, requests: Number, recycles: 0, lastReason: null })
    }
  })

  await t.test('messages that the app sends by process.send are emitted as `message`', async t => {
    // Messages of an earlier request, or of being ready, arrive late as well: a message is no faster than a response.
    const heard = on(supervisor, 'message')
    const pid = Number((await get(port, '/hello')).body)
    for await (const [said] of heard) {
      if (said.message.asked !== '/hello') continue
      t.same(said, { slot: supervisor.status().workers.find((/** @type {any} */ worker) => worker.pid === pid)?.slot, pid, message: { asked: '/hello' } })
      break
    }
  })

  await t.test('recycle(slot) resolves with the account', async t => {
    const [, { pid }] = supervisor.status().workers
    const recycled = await supervisor.recycle(1)
    t.match(recycled, { event: 'recycled', slot: 1, oldPid: pid, reason: 'requested', how: 'surge', cut: 0, readyMs: Number, drainMs: Number, rssBefore: Number, rssAfter: Number })
    t.equal(sumOfEnds(recycled), recycled.connections)
    t.match(supervisor.status().workers[1], { slot: 1, pid: recycled.pid, recycles: 1, lastReason: 'requested' })
    await t.rejects(supervisor.recycle(7), { code: 'RECYCLE_NO_SLOT' })
  })

  await t.test('scale() adds workers, and removes them without a failure: connections move', async t => {
    await supervisor.scale(4)
    t.match(supervisor.status().totals, { workers: 4, ready: 4 })
    await clientPerWorker(t, port, 4)
    const load = new Load({ port, connections: 20 })
    t.teardown(() => load.stop())
    await load.after(200)
    await supervisor.scale(1)
    t.match(supervisor.status().totals, { workers: 1, ready: 1 })
    await load.after(200)
    const { requests, failures, sockets } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
    t.equal(sockets, 20, 'no client ever reconnected')
    const scaled = await Promise.all([1, 2, 3].map(count => events.until('scaled', { count })))
    t.same(scaled.map(line => line.slot).sort(), [1, 2, 3])
    t.ok(scaled.reduce((sum, line) => sum + line.moved, 0) > 0)
    for (const line of scaled) t.equal(sumOfEnds(line), line.connections, 'the audit adds up')
    for (const bad of [0, 1.5, '2', 1025]) await t.rejects(supervisor.scale(bad), { code: 'RECYCLE_BAD_OPTION' })
  })

  await t.test('stop() resolves when every worker has exited, and `stopped` is emitted', async t => {
    const stopped = once(supervisor, 'stopped')
    const pids = supervisor.status().workers.map((/** @type {any} */ worker) => worker.pid)
    await supervisor.stop()
    t.same(await stopped, [null])
    for (const pid of pids) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    t.match(supervisor.status(), { workers: [], totals: { ready: 0 } })
  })
})

for (const [readyOn, event] of [['online', 'before it listens'], ['message', 'by process.send("ready")']]) {
  t.test(`readyOn ${readyOn}: ready ${event}`, async t => {
    const { supervisor, events } = await startFleet(t, 'speaks.js', { workers: 1, readyOn })
    await supervisor.recycle(0)
    const { readyMs, addresses } = events.all('worker.ready')[0]
    if (readyOn === 'message') t.ok(readyMs >= 300, `the app says so 300 ms after it listens: ${readyMs}`)
    else t.same(addresses, [])
  })
}

t.test('ready() rejects when the app cannot start', async t => {
  const { supervise } = require('recycle-supervisor')
  const dir = t.testdir({ 'app.js': 'process.exit(4)' })
  const supervisor = supervise({ app: path.join(dir, 'app.js'), workers: 3 })
  const stopped = once(supervisor, 'stopped')
  await t.rejects(supervisor.ready(), { code: 'RECYCLE_APP_DIES', message: /exited with code 4$/ })
  t.match(await stopped, [{ code: 'RECYCLE_APP_DIES' }])
})

t.test('a program that supervises ends by itself once the fleet is stopped', async t => {
  const dir = t.testdir({
    'main.mjs': `import { supervise } from ${JSON.stringify(path.join(__dirname, '..', '..', 'lib', 'index.js'))}
const supervisor = supervise({ app: ${JSON.stringify(PLAIN)}, workers: 1 })
await supervisor.ready()
await supervisor.stop()
console.log('stopped')`
  })
  const run = await runToEnd([process.execPath, path.join(dir, 'main.mjs')], { env: { PORT: String(await freePort()) } })
  t.same(run, { code: 0, signal: null, stdout: 'stopped\n', stderr: '' })
})
