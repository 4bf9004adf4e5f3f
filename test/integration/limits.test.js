'use strict'

/**
 * Limits beside memory and age: heap, file descriptors, delay of the event loop. Each replaces a worker in time;
 * nothing is dropped.
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const t = require('tap')
const { get, clientPerWorker } = require('../support/client')
const { startFleet, freePort, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { replay, decided } = require('../support/replay')

const HEAP = '--max-old-space-size=32'

t.test('a worker whose heap V8 would end is replaced in time, and no request is dropped', async t => {
  const { port, supervisor, events } = await startFleet(t, 'limits.js', { workers: 1, nodeOption: [HEAP], maxHeap: '60%', interval: '50ms' })
  const alone = await startAlone(t)
  const [load, loadAlone] = [port, alone.port].map(port => new Load({ port, connections: 6, thinkMs: 30, path: '/heap' }))
  await events.until('recycled')
  const { failures, requests } = await load.stop()
  t.same(failures, [])
  t.ok(requests > 0)
  t.same(events.all('worker.crash'), [])
  const condemned = events.all('worker.condemn')
  for (const { reason, figure, most } of condemned) t.ok(reason === 'heap' && figure > most && most <= 0.6 * 32 * 1024 ** 2, `${figure} of ${most}`)
  const limits = events.all('worker.sample').map(line => line.heapLimitBytes).filter(limit => limit !== null)
  t.ok(limits.length > 0 && limits.every(limit => limit === 32 * 1024 ** 2))
  t.strictSame(replay(events.lines), decided(events.lines), 'the journal gives every decision again')
  t.ok(supervisor.status().workers.every(worker => 'heapUsedBytes' in worker))
  t.equal((await alone.exited)[1], 'SIGABRT', 'without recycle V8 ends the same process under the same load')
  await loadAlone.stop()
})

t.test('a worker with more file descriptors than the limit is replaced', async t => {
  const { port, supervisor, events } = await startFleet(t, 'limits.js', { workers: 1, maxFds: 120, interval: '50ms' })
  const load = new Load({ port, connections: 4, path: '/fds' })
  const line = await events.until('recycled')
  const { failures } = await load.stop()
  t.same(failures, [])
  t.equal(line.reason, 'fds')
  const { figure, most } = events.all('worker.condemn')[0]
  t.ok(figure > most && most <= 120)
  t.ok(supervisor.status().workers.some(worker => worker.fds > 0))
  t.strictSame(replay(events.lines), decided(events.lines))
})

t.test('a worker that keeps more timers than the limit of handles is replaced', async t => {
  const { port, supervisor, events } = await startFleet(t, 'limits.js', { workers: 1, maxHandles: 200, interval: '50ms' })
  const load = new Load({ port, connections: 4, path: '/timers' })
  const line = await events.until('recycled')
  const { failures } = await load.stop()
  t.same(failures, [])
  t.equal(line.reason, 'handles')
  const { figure, most, msg } = events.all('worker.condemn')[0]
  t.ok(figure > most && most <= 200, msg)
  t.ok(supervisor.status().workers.some(worker => worker.handles > 0))
  t.strictSame(replay(events.lines), decided(events.lines))
})

t.test('the limit of descriptors may be a percentage of what the process may open', async t => {
  const { events } = await startFleet(t, 'limits.js', { workers: 1, maxFds: '1%', jitter: 0, interval: '50ms', maxRequests: 1e6 })
  const { fds, fdLimit } = await events.until('worker.sample', { where: line => line.fds !== null })
  t.ok(fds > 10 && fdLimit >= 1024)
  t.same(events.all('worker.spawn')[0].budget.maxFds, { share: 0.01 })
})

t.test('a worker whose event loop is late for most of the time is replaced', async t => {
  // More than the event loop of the other worker is late where this machine is busy
  const { port, events } = await startFleet(t, 'limits.js', { maxLag: '1s', jitter: 0, interval: '100ms' })
  const clients = await clientPerWorker(t, port, 2)
  const [[pid, agent], [other]] = [...clients]
  t.match(await get(port, '/block?ms=1400', { agent }), { status: 200 })
  const line = await events.until('worker.condemn')
  t.match(line, { pid, reason: 'lag', most: 1000 })
  t.ok(line.figure >= 1350 && line.figure < 5000, `${line.figure} ms`)
  await events.until('recycled')
  t.same(events.all('worker.condemn').filter(line => line.pid === other), [])
  t.strictSame(replay(events.lines), decided(events.lines))
})

/** The same program under plain Node. @param {any} t tap's */
async function startAlone (t) {
  const port = await freePort()
  const child = spawn(process.execPath, [HEAP, path.join(FIXTURES, 'limits.js')], { env: { PORT: String(port) }, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  while ((await get(port)).status !== 200) await new Promise(resolve => setTimeout(resolve, 20))
  return { port, exited: once(child, 'exit') }
}
