'use strict'

const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const t = require('tap')
const { startFleet, sumOfEnds } = require('../support/fleet')
const { get, keepAsking } = require('../support/client')
const { Load } = require('../support/load')
const { trackFleetSize } = require('../support/fleet-size')
const { backoffMs } = require('../../lib/core/backoff')

/** A fleet with ready standbys. @param {any} t @param {string} fixture @param {Record<string, any>} [options] */
async function startWithStandby (t, fixture, options = {}) {
  const standby = options.standby ?? 1
  const fleet = await startFleet(t, fixture, { standby, ...options })
  await fleet.events.until('worker.standby', { count: standby })
  return fleet
}

/** @param {any} t @param {number} port @param {{ connections?: number }} [how] both kinds of clients */
function startLoads (t, port, { connections = 10 } = {}) {
  const loads = [true, false].map(keepAlive => new Load({ port, connections, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  return loads
}

/** No request failed, and no keep-alive client reconnected. @param {any} t @param {Load[]} loads */
async function noneFailed (t, loads) {
  for (const load of loads) {
    const { requests, failures } = await load.stop()
    t.same(failures, [], `of ${requests} requests`)
  }
  t.equal(loads[0].sockets, loads[0].clients.length, 'no client ever reconnected')
}

/**
 * Every recycle took a standby, cut nothing, and its account adds up.
 *
 * @param {any} t @param {Record<string, any>[]} recycles
 */
function allByStandby (t, recycles) {
  for (const recycled of recycles) {
    t.match(recycled, { how: 'standby', cut: 0, lost: false })
    t.equal(sumOfEnds(recycled), recycled.connections, 'the audit adds up')
  }
}

t.test('a standby waits out of rotation, is called into a slot, and answers its first request there', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'reports-slot.js', { workers: 1 })
  const waiting = events.all('worker.standby')[0]
  t.match(events.all('worker.spawn').find(line => line.pid === waiting.pid), { slot: null })
  t.match(waiting, { slot: null, readyMs: Number, addresses: Array })
  const [worker, standby] = supervisor.status().workers
  t.match(worker, { slot: 0, state: 'ready' })
  t.match(standby, { slot: null, pid: waiting.pid, state: 'standby', recycles: 0, connections: 0, requests: 0 })
  t.match(supervisor.status().totals, { workers: 1, ready: 1 })
  for (let i = 0; i < 20; i++) t.match(JSON.parse((await get(port)).body), { pid: worker.pid, atBoot: '0', slot: '0', served: [{ slot: 0 }], heard: [] })

  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  t.match(JSON.parse((await get(port, '/', { agent })).body), { pid: worker.pid })
  t.match(await supervisor.recycle(0), { slot: 0, pid: standby.pid, oldPid: worker.pid, how: 'standby', moved: 1 })
  const answer = await get(port, '/', { agent })
  t.ok(answer.reused, 'on the connection that its predecessor had')
  t.same(JSON.parse(answer.body), {
    pid: standby.pid, atBoot: 'standby', slot: '0', served: [{ slot: 0, connections: 0, env: '0' }], heard: [0], requests: 1
  })
  const ready = events.all('worker.ready').find(line => line.pid === standby.pid)
  t.ok(ready && ready.readyMs < waiting.readyMs, 'the standby was called, no worker was booted')
  const next = await events.until('worker.standby', { count: 2 })
  const at = (/** @type {string} */ event, /** @type {number} */ pid) =>
    events.lines.findIndex(line => line.event === event && line.pid === pid)
  t.ok(at('worker.retire', worker.pid) < at('worker.spawn', next.pid), 'the next standby boots when the old worker has exited')

  process.kill(next.pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { slot: null, pid: next.pid, signal: 'SIGKILL' })
  t.not((await events.until('worker.standby', { count: 3 })).pid, next.pid, 'a standby that dies is replaced')
})

t.test('recycles by budget under load use standbys and drop nothing', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'plain.js', { workers: 2, maxRequests: 300, interval: '50ms' })
  const seen = trackFleetSize(supervisor)
  const loads = startLoads(t, port)
  await events.until('recycled', { count: 4 })
  await noneFailed(t, loads)
  allByStandby(t, events.all('recycled'))
  t.equal(seen.fewestReady, 2, 'every slot was served at all times')
  t.equal(seen.mostAlive, 3, 'at most one process more than workers')
})

t.test('a reload under load: older standbys are replaced before they are used', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'plain.js', { workers: 3, standby: 2 })
  const seen = trackFleetSize(supervisor)
  const loads = startLoads(t, port)
  for (let i = 0; i < 2; i++) {
    await loads[1].after(50)
    const before = supervisor.status().workers.map(worker => worker.pid)
    await supervisor.reload()
    const after = supervisor.status().workers.filter(worker => worker.state !== 'draining')
    t.same(after.filter(worker => before.includes(worker.pid)), [])
    const { generation } = events.all('fleet.reload').at(-1) ?? {}
    t.ok(after.every(worker => worker.generation === generation))
  }
  // A standby that has just booted with old code retires without a verdict.
  const condemned = events.all('worker.condemn').filter(line => line.slot === null)
  t.ok(condemned.every(({ reason }) => reason === 'reload'))
  const hasServed = (/** @type {number} */ pid) => events.all('worker.ready').some(line => line.pid === pid)
  t.notOk(condemned.some(({ pid }) => hasServed(pid)), 'no condemned standby has served')
  const overtaken = events.all('worker.standby').filter(({ pid }) => !hasServed(pid) && events.all('worker.retire').some(line => line.pid === pid))
  t.ok(overtaken.length >= 2, `${overtaken.length} were replaced without having served, the first two among them`)
  await noneFailed(t, loads)
  allByStandby(t, events.all('recycled'))
  t.equal(seen.fewestReady, 3, 'every slot was served at all times')
  t.ok(seen.mostAlive <= 5, `at most two processes more than workers: ${seen.mostAlive}`)
})

t.test('SIGKILL of the only worker: the standby takes the slot, and connections in the queue are served', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'reports-slot.js', { workers: 1 })
  await events.until('worker.sample', { where: line => line.slot === 0 && line.requests === 0 && line.t - events.all('worker.standby')[0].t > 1000 })
  for (let i = 0; i < 2; i++) {
    const [worker, standby] = supervisor.status().workers
    process.kill(worker.pid, 'SIGSTOP')
    const asked = Array.from({ length: 5 }, () => get(port)) // the requests wait in the queue
    process.kill(worker.pid, 'SIGKILL')
    for (const { status, body } of await Promise.all(asked)) {
      t.equal(status, 200)
      t.match(JSON.parse(body), { pid: standby.pid, slot: '0' })
    }
    t.match(await events.until('worker.crash', { count: i + 1 }), { slot: 0, pid: worker.pid, signal: 'SIGKILL' })
    t.match(await events.until('worker.ready', { where: line => line.pid === standby.pid }), { slot: 0 })
    const { t: since } = await events.until('worker.standby', { count: i + 2 })
    // Old enough that its death is not an early one
    await events.until('worker.sample', { where: line => line.slot === 0 && line.t - since > 1000 })
  }
  t.same(supervisor.status().workers.map(({ slot, state }) => [slot, state]), [[0, 'ready'], [null, 'standby']])
})

t.test('two workers condemned at once are replaced at once by two standbys', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'plain.js', { workers: 3, standby: 2 })
  const seen = trackFleetSize(supervisor)
  const loads = startLoads(t, port)
  await loads[1].after(50)
  const standbys = events.all('worker.standby').map(line => line.pid)
  const recycles = await Promise.all([supervisor.recycle(0), supervisor.recycle(2)])
  t.same(recycles.map(line => line.pid).sort(), standbys.sort())
  allByStandby(t, recycles)
  t.ok(seen.mostAlive <= 5, `${seen.mostAlive} alive`)
  await noneFailed(t, loads)
})

t.test('scaling up uses a standby; scaling down keeps it; one that does not answer the call is discarded, and a worker is spawned instead', async t => {
  const { port, supervisor, events } = await startWithStandby(t, 'plain.js', { workers: 1 })
  const loads = startLoads(t, port)
  const { pid } = events.all('worker.standby')[0]
  await supervisor.scale(2)
  t.match(supervisor.status().workers.find(worker => worker.slot === 1), { pid, state: 'ready' })
  const next = await events.until('worker.standby', { count: 2 })
  await loads[1].after(50)
  await supervisor.scale(1)
  t.match(supervisor.status().workers.find(worker => worker.slot === null), { pid: next.pid, state: 'standby' })

  process.kill(next.pid, 'SIGSTOP')
  t.match(await supervisor.recycle(0), { how: 'surge', cut: 0 })
  t.match(await events.until('worker.retire', { where: line => line.pid === next.pid }), { signal: 'SIGKILL' })
  await noneFailed(t, loads)
})

t.test('standbys that die at once are spawned with growing delays, and the fleet recycles without them', async t => {
  process.env.AS_STANDBY = 'dies'
  t.teardown(() => { delete process.env.AS_STANDBY })
  const { port, supervisor, events } = await startFleet(t, 'reports-slot.js', { workers: 2, standby: 1 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const stop = keepAsking(port, '/', agent)
  const crashes = []
  for (let count = 1; count <= 3; count++) crashes.push(await events.until('worker.crash', { count }))
  for (const crash of crashes) t.match(crash, { slot: null, code: 7 })
  await events.until('worker.not-ready', { count: 3 })
  for (const line of events.all('worker.not-ready')) t.match(line, { slot: null, why: 'it exited with code 7' })
  const spawns = events.all('worker.spawn').filter(line => line.slot === null)
  for (let i = 1; i < 3; i++) t.ok(spawns[i].t - crashes[i - 1].t >= backoffMs(i), `wait ${i} is at least ${backoffMs(i)} ms`)
  t.match(await supervisor.recycle(0), { slot: 0, how: 'surge', cut: 0 })

  delete process.env.AS_STANDBY
  await events.until('worker.standby')
  t.match(await supervisor.recycle(1), { slot: 1, how: 'standby', cut: 0 })
  t.same((await stop()).failures, [])
})

for (const [startMode, reason] of /** @type {const} */ ([['grows', 'hard-rss'], ['leaves', 'requested']])) {
  t.test(`a standby that ${startMode === 'grows' ? 'is over its budget' : 'asks to be recycled'} while it waits is replaced before it is used, with growing delays`, async t => {
    process.env.AS_STANDBY = startMode
    t.teardown(() => { delete process.env.AS_STANDBY })
    const { supervisor, events } = await startFleet(t, 'reports-slot.js', { workers: 1, standby: 1, interval: '50ms', maxRss: '90MiB', hardRss: '90MiB' })
    await events.until('worker.retire', { count: 3, where: line => line.slot === null })
    const condemned = events.all('worker.condemn').slice(0, 3)
    for (const line of condemned) t.match(line, { slot: null, reason })
    const spawns = events.all('worker.spawn').filter(line => line.slot === null)
    for (let i = 1; i < 3; i++) t.ok(spawns[i].t - condemned[i - 1].t >= backoffMs(i), `wait ${i} is at least ${backoffMs(i)} ms`)
    t.same(events.all('worker.ready').filter(line => line.slot !== 0 || condemned.some(({ pid }) => pid === line.pid)), [], 'none of them has served')
    t.match(supervisor.status().workers[0], { slot: 0, state: 'ready' })
  })
}

t.test('a standby that does not listen on every address of its predecessor is not used', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-standby-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  process.env.SECOND = path.join(folder, 'second.sock')
  const { port, supervisor, events } = await startWithStandby(t, 'reports-slot.js', { workers: 1 })
  const seen = trackFleetSize(supervisor)
  const [{ pid }] = events.all('worker.standby')
  t.match(await get(port, '/second'), { status: 200 })
  const recycling = supervisor.recycle(0)
  recycling.catch(() => {}) // the app's replacement never listens there
  t.match(await events.until('worker.retire'), { slot: null, pid })
  t.match(await events.until('worker.spawn', { count: 2, where: line => line.slot === 0 }), { slot: 0 })
  t.equal(seen.mostAlive, 2, 'it has made room for one that waits to listen there')
})

t.test('nor is a standby that does not listen on an address its predecessor has just requested', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-standby-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  process.env.SECOND = path.join(folder, 'second.sock')
  const { port, supervisor, events } = await startWithStandby(t, 'reports-slot.js', { workers: 1 })
  const [{ pid }] = events.all('worker.standby')
  const { incumbent } = supervisor.parts.fleet.slots.get(0)
  // Stopped before it has the answer: as far as the primary knows, it does not listen there yet.
  incumbent.prependOnceListener('address', () => process.kill(incumbent.pid, 'SIGSTOP'))
  t.teardown(() => incumbent.process.kill('SIGCONT'))
  const asked = once(incumbent, 'address')
  get(port, '/second').catch(() => {})
  await asked
  t.equal(incumbent.addresses.size, 1)
  supervisor.recycle(0).catch(() => {}) // the app's replacement never listens there
  t.match(await events.until('worker.retire'), { slot: null, pid })
})
