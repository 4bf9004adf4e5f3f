'use strict'

/** `--health`: each worker is probed by itself; one that fails does not become ready, or is replaced. */

const fs = require('node:fs')
const path = require('node:path')
const http = require('node:http')
const t = require('tap')
const { get, clientPerWorker } = require('../support/client')
const { supervise } = require('../..')
const { startFleet, Events, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { replay, decided } = require('../support/replay')

const HEALTH = { health: '/healthz', healthPeriod: '100ms', healthTimeout: '10s', interval: '50ms' }

/** What the worker of this client has seen of its probes. @param {number} port @param {http.Agent} [agent] */
const seen = async (port, agent) => JSON.parse((await get(port, '/seen', { agent })).body)

/** Of this process, which is the primary. @returns {number[]} */
function listeningPorts () {
  const inodes = new Set(fs.readdirSync('/proc/self/fd').map(fd => /socket:\[(\d+)\]/.exec(linkOf(fd))?.[1]))
  const rows = ['tcp', 'tcp6'].flatMap(table => fs.readFileSync(`/proc/self/net/${table}`, 'utf8').trim().split('\n').slice(1).map(row => row.trim().split(/\s+/)))
  return rows.filter(row => row[3] === '0A' && inodes.has(row[9])).map(row => parseInt(row[1].split(':')[1], 16))
}

/** @param {string} fd */
function linkOf (fd) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // it has been closed
  }
}

t.test('a worker that fails its probes is replaced, and nothing is dropped; the others stay', async t => {
  const { port, events } = await startFleet(t, 'limits.js', { ...HEALTH, workers: 2 })
  const load = new Load({ port, connections: 6 })
  const [[sick, agent]] = await clientPerWorker(t, port, 2)
  t.match(await get(port, '/health?status=500', { agent }), { status: 200 })
  t.match(await events.until('worker.condemn'), { pid: sick, reason: 'unhealthy', figure: 3, most: 2 })
  t.match(events.all('worker.health')[0], { pid: sick, failures: 1, why: 'GET /healthz: status 500' })
  t.match(await events.until('recycled'), { oldPid: sick, reason: 'unhealthy', cut: 0 })
  t.same((await load.stop()).failures, [])
  t.equal(events.all('worker.condemn').length, 1)
  t.strictSame(replay(events.lines), decided(events.lines), 'the journal gives every decision again')
})

t.test('a worker that does not answer its probes in time is replaced', async t => {
  const { port, events } = await startFleet(t, 'limits.js', { ...HEALTH, healthTimeout: '600ms', healthFailureThreshold: 2 })
  const [[silent, agent]] = await clientPerWorker(t, port, 2)
  t.match(await get(port, '/health?status=0', { agent }), { status: 200 })
  t.match(await events.until('recycled', { where: line => line.oldPid === silent }), { reason: 'unhealthy', cut: 0 })
  t.match(events.all('worker.health').filter(line => line.pid === silent).at(-1), { failures: 2, why: 'GET /healthz: no response within 600 ms' })
})

t.test('a probe is no client\'s: it counts in no figure of the worker, and is not moved', async t => {
  const { port, supervisor, events } = await startFleet(t, 'limits.js', { ...HEALTH, workers: 2 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  while ((await seen(port, agent)).probes < 5) await new Promise(resolve => setTimeout(resolve, 50))
  const probe = await seen(port, agent)
  t.match(probe, { agent: 'recycle-health', address: '127.0.0.1', family: 'IPv4', from: Number, to: { address: '127.0.0.1', family: 'IPv4', port } })
  t.ok(probe.from > 49_151)
  t.same(listeningPorts(), [port], 'no listener of the primary\'s own, which others can reach')
  await events.until('worker.sample', { where: line => line.requests > 0 })
  const samples = events.all('worker.sample')
  t.ok(samples.every(({ connections, inFlight }) => connections <= 1 && inFlight <= 1), 'one connection: the test\'s')
  const idle = [0, 1].map(slot => samples.filter(line => line.slot === slot).at(-1))
    .filter(line => line?.connections === 0)
  t.ok(idle.length >= 1 && idle.every(line => line?.requests === 0), 'a worker without clients has had no request')
  for (const slot of [0, 1]) {
    t.match(await supervisor.recycle(slot), { cut: 0, closedIdle: 0, closedByClient: 0, unaccounted: 0, lost: false })
  }
  const [first, second] = events.all('recycled')
  t.equal(first.connections + second.connections, 1 + (first.moved && second.moved ? 1 : 0), 'the accounts have the test\'s connection alone')
  await seen(port, agent)
})

t.test('a reload of code that fails its probes stops, and the old workers serve', async t => {
  const file = path.join(t.testdir(), 'health')
  fs.writeFileSync(file, '200')
  process.env.HEALTH_FILE = file
  t.teardown(() => { delete process.env.HEALTH_FILE })
  const { port, supervisor, events } = await startFleet(t, 'limits.js', { ...HEALTH, healthPeriod: '1h', readyTimeout: '4s', maxSurge: 2 })
  const pids = supervisor.status().workers.map(({ pid }) => pid)
  const load = new Load({ port, connections: 4 })
  fs.writeFileSync(file, '503')
  await t.rejects(supervisor.reload(), { code: 'RECYCLE_ROLLOUT_STOPPED' })
  const [{ pid, why }] = events.all('worker.health')
  t.notOk(pids.includes(pid))
  t.equal(why, 'GET /healthz: status 503')
  t.ok(events.all('worker.not-ready').some(line => line.why === `it was not ready within 4000 ms; it fails its health check: ${why}`))
  t.same(supervisor.status().workers.filter(({ state }) => state === 'ready').map(({ pid }) => pid), pids)
  t.same((await load.stop()).failures, [])
  fs.writeFileSync(file, '204')
  await supervisor.reload()
  t.same(supervisor.status().workers.filter(({ pid }) => pids.includes(pid)), [])
})

for (const [what, env, options, status] of /** @type {const} */ ([
  ['an HTTPS server', { TLS: '1' }, { workers: 1 }, { ready: 1 }],
  ['a standby', {}, { workers: 1, standby: 1 }, { ready: 1 }],
  ['a server at its maxConnections', { MOST: '1' }, { workers: 1 }, { ready: 1 }]
])) {
  t.test(`${what} is probed`, async t => {
    Object.assign(process.env, env)
    t.teardown(() => { for (const name of Object.keys(env)) delete process.env[name] })
    const { port, supervisor, events } = await startFleet(t, 'limits.js', { ...HEALTH, ...options })
    t.match(supervisor.status().totals, status)
    if ('standby' in options) {
      const { pid } = await events.until('worker.standby')
      t.match(await supervisor.recycle(0), { pid, how: 'standby' })
    }
    if ('MOST' in env) { // a full server is left alone
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      t.teardown(() => agent.destroy())
      const { probes } = await seen(port, agent)
      const since = Date.now()
      await events.until('worker.sample', { where: line => line.t > since + 500 })
      t.ok((await seen(port, agent)).probes <= probes + 1)
    }
    t.same(events.all('worker.health'), [])
  })
}

t.test('a probe takes no place of a client\'s', async t => {
  process.env.MOST = '1'
  t.teardown(() => { delete process.env.MOST })
  const { port } = await startFleet(t, 'limits.js', { ...HEALTH, workers: 1 })
  t.match(await get(port, '/health?status=0'), { status: 200 })
  const { probes } = await seen(port)
  while ((await seen(port)).probes === probes); // until one is not answered
  for (let i = 0; i < 3; i++) t.match(await get(port, '/seen'), { status: 200 })
})

t.test('an app that never passes does not become ready, and the journal says why', async t => {
  process.env.PORT = '0'
  await Promise.all(/** @type {const} */ ([['limits.js', '/nowhere', 'GET /nowhere: status 404'], ['connects.js', '/', 'GET /: no HTTP server listens']]).map(async ([app, health, why]) => {
    const supervisor = supervise({ app: path.join(FIXTURES, app), ...HEALTH, health, readyTimeout: '4s', workers: 1 })
    t.teardown(() => supervisor.stop({ now: true }))
    const events = new Events()
    supervisor.on('event', line => events.push(line))
    t.match(await events.until('worker.health'), { failures: 1, why })
    await events.until('worker.not-ready', { where: line => line.why === `it was not ready within 4000 ms; it fails its health check: ${why}` })
    t.same(events.all('worker.ready'), [])
  }))
})
