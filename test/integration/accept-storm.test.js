'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { extent } = require('../support/campaign')
const { FIXTURES, startFleet } = require('../support/fleet')
const { startLimited } = require('../support/limited')
const { becomesTrue } = require('../support/processes')
const { Load } = require('../support/load')
const { Storm } = require('../support/storm')
const { get } = require('../support/client')

const app = path.join(FIXTURES, 'keeps.js')
const SHARING = extent({ short: 5, long: 8 })
const KILLS = extent({ short: 3, long: 100 })
// In the suite as many requests in flight by fewer a second
const [CLIENTS, THINK_MS, PATH] = extent({ short: [12, 150, '/slower'], long: [20, 10, '/slow'] })

/** @param {number[]} counts @param {number} total */
function areEven (counts, total) {
  return counts.reduce((sum, count) => sum + count, 0) === total && Math.max(...counts) <= 1.25 * total / counts.length
}

/** The primary, too, may have no descriptor left for some connections. @param {{ warning: string }} line */
const isOfWorkers = ({ warning }) => warning !== 'failover-descriptors'

t.test(`${SHARING} workers share new connections evenly`, async t => {
  const fleet = await startLimited(t, { app, descriptors: 4096, workers: SHARING })
  for (const [what, connections, overMs] of /** @type {const} */ ([
    ['at once', extent({ short: 1000, long: 20_000 }), 0],
    ['that arrive one after another', extent({ short: 200, long: 500 }), extent({ short: 3000, long: 10_000 })]
  ])) {
    await t.test(`${connections} connections ${what}: each is answered and stays, and the workers have equal shares`, async t => {
      const storm = new Storm(t, { port: fleet.port, connections, overMs, processes: extent({ short: 2, long: 4 }) })
      const counts = await storm.until(({ answered, failures }) => answered + failures.length >= connections)
      t.same(counts, { connected: connections, answered: connections, failures: [] })
      t.ok(await becomesTrue(() => areEven(fleet.connections(), connections)), `the fullest is at most 1.25 times the mean: ${fleet.connections()}`)
      t.same(storm.counts().failures, [], 'no connection was closed by the rebalancing')
      storm.end()
      t.ok(await becomesTrue(() => fleet.connections().every(count => count === 0)), 'all connections are closed')
    })
  }
  t.same(fleet.events.all('fleet.warning').filter(isOfWorkers), [])
})

t.test('more clients than descriptors: a warning in time, the other connections wait in the queue, none is reset', async t => {
  const { port, events } = await startLimited(t, { app, descriptors: 256, workers: 2 })
  const connections = 400
  const storm = new Storm(t, { port, connections, processes: 2, overMs: 5000 })
  const warning = await events.until('fleet.warning', { where: isOfWorkers })
  t.match(warning, { warning: 'descriptors', workers: 2 })
  t.ok(warning.connections < warning.capacity, `said at ${warning.connections} of ${warning.capacity}`)
  t.ok(warning.capacity < 400)

  const { connected, answered, failures } = await storm.until(({ connected }) => connected === connections)
  t.equal(connected, connections)
  t.ok(answered < connections, `${answered} of ${connections} find room`)
  t.same(failures, [])
  for (const deadline = Date.now() + 30_000; storm.counts().answered < connections && Date.now() < deadline;) {
    const before = storm.counts().answered
    storm.dismissAnswered()
    await storm.until(({ answered }) => answered > before || answered === connections, 5000)
  }
  t.same(storm.counts(), { connected: connections, answered: connections, failures: [] })
  t.same(events.all('worker.crash'), [])
  t.equal(events.all('fleet.warning').filter(isOfWorkers).length, 1)
})

/** The worker that accepted each connection, from the notes of the workers. @param {string} file */
function acceptances (file) {
  return fs.readFileSync(file, 'utf8').split('\n').slice(0, -1).map(line => line.split(' ').map(Number)).map(([at, port, pid]) => ({ at, port, pid }))
}

/**
 * Only connections accepted by a killed worker failed. A worker killed between accept() and its note costs one
 * connection without a note.
 *
 * @param {any} t tap's
 * @param {any[]} failures of a Load
 * @param {string} noted
 * @param {Set<number>} killed
 */
function checkFailures (t, failures, noted, killed) {
  const all = acceptances(noted)
  // Client ports are reused later.
  const isOf = (/** @type {any} */ { localPort, t: at, afterMs }, /** @type {any} */ accepted) =>
    accepted.port === localPort && accepted.at >= at - afterMs && accepted.at <= at
  const holders = (/** @type {any} */ failure) => all.filter(accepted => isOf(failure, accepted)).map(({ pid }) => pid)
  const others = failures.filter(failure =>
    holders(failure).length > 0 && !holders(failure).some(pid => killed.has(pid)))
  t.same(others, [], 'no connection of a live worker failed')
  const unnoted = failures.filter(failure => holders(failure).length === 0)
  t.ok(unnoted.length <= killed.size, `${unnoted.length} of ${failures.length} failed before they were noted, at ${killed.size} kills`)
  t.same([...new Set(failures.map(({ error }) => error))].filter(error => error !== 'ECONNRESET'), [], 'no client hangs, none is refused')
}

/**
 * The oldest worker, once it is too old for an early death, which would delay its replacement.
 *
 * @param {any} supervisor
 */
async function mature (supervisor) {
  const oldest = () =>
    supervisor.status().workers.sort((/** @type {any} */ a, /** @type {any} */ b) => b.ageMs - a.ageMs)[0]
  await becomesTrue(() => oldest().ageMs > 1500)
  return oldest()
}

t.test('SIGKILL of a worker, again and again, under a connection per request: its own requests fail, and no others', async t => {
  const noted = path.join(t.testdir(), 'accepted')
  process.env.ACCEPTED = noted
  const { port, supervisor, events } = await startFleet(t, 'keeps.js', { workers: 3 })
  const load = new Load({ port, connections: CLIENTS, keepAlive: false, thinkMs: THINK_MS, path: PATH })
  const killed = new Set()
  for (let i = 0; i < KILLS; i++) {
    await load.after(50)
    await supervisor.ready()
    const { pid } = await mature(supervisor)
    process.kill(pid, 'SIGKILL')
    killed.add(pid)
    await events.until('worker.crash', { count: i + 1 })
  }
  await load.after(50)
  const { requests, failures } = await load.stop()
  t.ok(requests > 50 * KILLS)
  checkFailures(t, failures, noted, killed)
})

t.test('SIGKILL of the only worker: connections made while no worker is alive are served by the next worker', async t => {
  const noted = path.join(t.testdir(), 'accepted')
  Object.assign(process.env, { ACCEPTED: noted, LATE_MS: '500' })
  const { port, supervisor, events } = await startFleet(t, 'keeps.js', { workers: 1 })
  const load = new Load({ port, connections: CLIENTS / 2, keepAlive: false, thinkMs: THINK_MS, path: PATH })
  const killed = new Set()
  for (let i = 0; i < 2; i++) {
    await load.after(50)
    const [{ pid }] = supervisor.status().workers
    process.kill(pid, 'SIGKILL')
    killed.add(pid)
    const crash = await events.until('worker.crash', { count: i + 1 })
    const asked = Date.now()
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(port)))
    const ready = await events.until('worker.ready', { count: i + 2 })
    t.ok(crash.t <= asked && asked < ready.t, 'the requests were sent while no worker was alive')
    t.same(answers.filter(({ status }) => status !== 200), [])
  }
  const { failures } = await load.stop()
  checkFailures(t, failures, noted, killed)
})
