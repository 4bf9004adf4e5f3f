'use strict'

const { createHook } = require('node:async_hooks')
const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { startCli, startFleet, sumOfEnds, FIXTURES } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { extent } = require('../support/campaign')
const { Load } = require('../support/load')
const { becomesTrue, livingOfGroup } = require('../support/processes')

const APP = path.join(FIXTURES, 'misbehaves.js')

// A long linger is for a busy machine, where this process may pause and would send its requests too late.
// In the suite SIGINT stops a fleet in the middle of a recycle, below.
for (const signal of /** @type {const} */ ([...extent({ short: ['SIGTERM'], long: ['SIGTERM', 'SIGINT'] })])) {
  t.test(`${signal} under load, keep-alive and a connection per request: only connections after the stop are refused (Puma: test_shutdown_requests, test_drain_on_shutdown, term_closes_listeners)`, async t => {
    const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '5s', APP])
    await events.until('worker.ready', { count: 2 })
    const loads = [true, false].map(keepAlive => new Load({ port, connections: 8, keepAlive }))
    t.teardown(() => Promise.all(loads.map(load => load.stop())))
    await Promise.all(loads.map(load => load.after(60)))
    child.kill(signal)
    t.same(await exited, { code: 0, signal: null })
    for (const load of loads) {
      const { failures } = await load.stop()
      t.same(failures.filter(failure => failure.error !== 'ECONNREFUSED'), [])
    }
    for (const stopped of events.all('stopped')) {
      t.equal(stopped.cut, 0)
      t.equal(sumOfEnds(stopped), stopped.connections, 'the audit adds up')
    }
    t.equal(events.all('stopped').length, 2)
    t.equal(events.all('worker.retire').length, 2)
    t.equal(events.lines.at(-1)?.event, 'fleet.stop')
    t.same(livingOfGroup(child.pid), [])
  })
}

t.test('idle connections are held for --stop-linger, and served, then closed (nginx: http_keepalive_shutdown.t); one whose response began before the stop has the whole of it after its end', async t => {
  const { port, child, events, out, exited } = await startCli(t, ['-w', '1', '--stop-linger', '2s', APP])
  await events.until('worker.ready')
  const [asking, silent, dripping] = [0, 1, 2].map(() => new http.Agent({ keepAlive: true }))
  for (const agent of [asking, silent]) t.match(await get(port, '/', { agent }), { status: 200 })
  const [socket] = Object.values(silent.freeSockets)[0] ?? []
  const closed = once(/** @type {any} */ (socket), 'close')
  const dripped = get(port, '/drip?ms=1500', { agent: dripping })
  t.ok(await becomesTrue(() => out.length === 1), 'its head is sent, without Connection: close')

  child.kill('SIGTERM')
  const { time } = await events.until('worker.drain')
  while ((await get(port)).status === 200); // until a new connection is refused
  // The listening socket closes first, then the workers are told: a few responses may still precede that.
  let answer
  for (let i = 0; i < 20 && answer?.headers.connection !== 'close'; i++) answer = await get(port, '/', { agent: asking })
  t.match(answer, { status: 200, reused: true, headers: { connection: 'close' } })
  t.match(await dripped, { status: 200, body: 'ok', headers: { connection: 'keep-alive' } })
  await closed
  t.ok(Date.now() - time >= 2000, 'the connection was held open')
  await setTimeout(time + 2300 - Date.now())
  t.match(await get(port, '/', { agent: dripping }), { status: 200, reused: true, headers: { connection: 'close' } })
  t.same(await exited, { code: 0, signal: null })
  t.match(events.all('stopped')[0], { closedIdle: 1, closedAfterResponse: 2, cut: 0 })
})

t.test('a second SIGTERM stops now: requests in flight are cut, and named (Puma: test_force_shutdown); a worker that is stuck is ended by the kill timeout', async t => {
  const { port, child, events, out, exited } = await startCli(t, ['-w', '2', '--kill-timeout', '500ms', APP])
  await events.until('worker.ready', { count: 2 })
  const [[, agent], [stuck, spinning]] = await clientPerWorker(t, port, 2)
  const slow = get(port, '/slow?ms=60000&secret=1', { agent })
  t.ok(await becomesTrue(() => out.length === 1), 'the request is in flight')
  const spun = get(port, '/spin', { agent: spinning })
  child.kill('SIGTERM')
  await events.until('fleet.stopping')
  await events.until('worker.drain', { count: 2 })
  await setTimeout(1000) // sooner it would be the same signal
  child.kill('SIGTERM')
  t.match(await slow, { status: null, error: 'ECONNRESET' })
  t.ok([null, 502].includes((await spun).status), 'cut, or answered by the primary')
  t.same(await exited, { code: 0, signal: null })
  t.match(events.all('stopped').find(line => line.oldPid !== stuck), { cut: 1, lost: false, cuts: [{ method: 'GET', path: '/slow', ageMs: Number, remotePort: Number }] })
  t.match(events.all('worker.retire').find(line => line.pid === stuck), { signal: 'SIGKILL' })
})

t.test('stop by SIGTERM, SIGINT or SIGQUIT in the middle of a recycle under keep-alive load: only connections after the stop are refused', async t => {
  // worker.condemn and recycled are next to worker.spawn and worker.retire. At worker.retire the other worker is still
  // to be recycled.
  for (const [i, moment] of ['worker.spawn', 'worker.ready', 'worker.drain', 'worker.retire', ...extent({ short: [], long: ['worker.condemn', 'recycled'] })].entries()) {
    const workers = extent({ short: moment === 'worker.retire' ? 2 : 1, long: 2 })
    const { port, child, events, exited } = await startCli(t, ['-w', String(workers), '-i', '50ms', '--stop-linger', '5s', APP])
    await events.until('worker.ready', { count: workers })
    const load = new Load({ port, connections: 8 })
    t.teardown(() => load.stop())
    await load.after(40)
    const soFar = events.all(moment).length
    child.kill('SIGHUP')
    await events.until(moment, { count: soFar + 1 })
    child.kill(/** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGQUIT'])[i % 3])
    t.same(await exited, { code: 0, signal: null }, `at ${moment}: exit 0`)
    const { failures } = await load.stop()
    t.same(failures.filter(failure => failure.error !== 'ECONNREFUSED'), [], `at ${moment}: no request fails`)
    t.same(livingOfGroup(child.pid), [], `at ${moment}: no process is left`)
  }
})

t.test('stop before any worker is ready ends the run', async t => {
  const { child, events, exited } = await startCli(t, ['-w', '2', APP])
  await events.until('worker.spawn', { count: 2 })
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.same(livingOfGroup(child.pid), [])
})

t.test('commands to a stopping fleet are rejected', async t => {
  const { supervisor } = await startFleet(t, 'plain.js', { workers: 1 })
  const stopped = supervisor.stop()
  for (const verb of [() =>
    supervisor.reload(), () => supervisor.recycle(0), () => supervisor.scale(3), () => supervisor.ready()]) {
    await t.rejects(verb(), { code: 'RECYCLE_STOPPED' })
  }
  await stopped
})

t.test('a process that starts and stops one fleet after another keeps no timer of them', async t => {
  /** @type {Set<number>} */
  const timers = new Set()
  const hook = createHook({
    init: (id, type) => { if (type === 'Timeout') timers.add(id) },
    destroy: id => timers.delete(id)
  }).enable()
  t.teardown(() => hook.disable())
  /** @type {number[]} */
  const counts = []
  for (let i = 0; i < 4; i++) {
    const { supervisor } = await startFleet(t, 'plain.js', { workers: 1 })
    await supervisor.stop()
    await setTimeout(20) // `destroy` is told later
    counts.push(timers.size)
  }
  t.ok(await becomesTrue(() => timers.size <= counts[0] + 1), `${counts.join(', ')}; ${timers.size} in the end`) // its own, and some last for seconds
})
