'use strict'

const path = require('node:path')
const t = require('tap')
const { startCli, startFleet, FIXTURES } = require('../support/fleet')
const { get, clientPerWorker, keepAsking } = require('../support/client')
const { becomesTrue } = require('../support/processes')
const { RawClient } = require('../support/raw-client')
const { backoffMs } = require('../../lib/core/backoff')
const { loadAddon } = require('../../lib/native/addon')

// Until the primary has a descriptor of each connection, on a busy machine too
const covered = () => new Promise(resolve => setTimeout(resolve, 300))

/** @type {[string, string | null, { code: number | null, signal: NodeJS.Signals | null }][]} */
const ENDS = [
  ['process.exit() in a request', '/exit', { code: 3, signal: null }],
  ['an exception in a request', '/throw', { code: 1, signal: null }],
  ['SIGKILL', null, { code: null, signal: 'SIGKILL' }],
  ['SIGSEGV', null, { code: null, signal: 'SIGSEGV' }]
]

t.test('process.exit(), an exception, SIGKILL and SIGSEGV cost one worker each, which is replaced; the other workers are not affected', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 2, onException: 'exit', replay: 'off' })
  for (const [i, [what, task, left]] of ENDS.entries()) {
    const clients = await clientPerWorker(t, port, 2)
    const [pid, agent] = [...clients].at(-1) ?? []
    clients.delete(pid)
    await covered()
    const stops = [...clients.values()].map(other => keepAsking(port, '/pid', other))
    if (task) t.match(await get(port, task, { agent }), loadAddon().addon ? { status: 502 } : { error: 'ECONNRESET' }, what)
    else process.kill(pid, /** @type {NodeJS.Signals} */ (left.signal))

    const crash = await events.until('worker.crash', { count: i + 1 })
    t.match(crash, { pid, ...left }, what)
    const ready = await events.until('worker.ready', { count: 3 + i })
    t.equal(ready.slot, crash.slot, what)
    await supervisor.ready()
    t.match(supervisor.status().totals, { workers: 2, ready: 2, recycles: 0 }, what)
    t.match(await get(port, '/'), { status: 200 }, what)
    for (const stop of stops) {
      const { requests, failures } = await stop()
      t.ok(requests > 0, what)
      t.same(failures, [], what)
    }
    for (const client of clients.values()) client.destroy()
    t.equal(events.all('worker.crash').length, i + 1, what)
  }
})

t.test('a worker that dies soon after it has become ready, again and again, does not end the run while another worker serves', async t => {
  const { port, child, events, exited } = await startCli(t, ['-w', '2', '--stop-linger', '100ms', path.join(FIXTURES, 'doomed.js')], { env: { DOOMED: '0' } })
  await events.until('worker.ready', { where: line => line.slot === 1 })
  const crashes = []
  for (let count = 1; count <= 5; count++) {
    crashes.push(await events.until('worker.crash', { count }))
    const answer = await get(port)
    // This request may have been in flight in the doomed worker
    if (answer.error) t.match(answer.error, 'ECONNRESET', 'of the doomed worker')
  }
  t.same(crashes.map(line => line.slot), [0, 0, 0, 0, 0])
  t.same(events.all('fleet.failed'), [])
  t.match(await get(port), { status: 200, body: '1' })
  const spawns = events.all('worker.spawn').filter(line => line.slot === 0)
  let failures = 0
  for (let i = 1; i < spawns.length; i++) {
    failures = crashes[i - 1].connections > 0 ? 0 : failures + 1 // one that has had a client is replaced at once
    t.ok(spawns[i].time - crashes[i - 1].time >= backoffMs(failures), `wait ${i} is at least ${backoffMs(failures)} ms`)
  }
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
})

t.test('when every worker dies soon after it has become ready, again and again, the run ends with exit code 1', async t => {
  const { events, exited } = await startCli(t, ['-w', '2', path.join(FIXTURES, 'doomed.js')], { env: { DOOMED: 'all' } })
  t.same(await exited, { code: 1, signal: null })
  t.ok(events.all('worker.ready').length >= 2)
  t.match(events.all('fleet.failed').map(({ error }) => error), [/^no worker .*exited with code 9$/])
  t.equal(events.all('fleet.failed').length, 1)
})

t.test('a replacement that crashes while its predecessor drains is replaced at once, and not when the drain ends', async t => {
  const { port, supervisor, events } = await startFleet(t, 'misbehaves.js', { workers: 1, interval: '50ms' })
  const slow = (await RawClient.connect(port)).get('/slow?ms=60000')
  t.ok(await becomesTrue(() => supervisor.status().workers[0].inFlight === 1))
  const recycled = supervisor.recycle(0)
  const { pid: oldPid } = await events.until('worker.drain')
  const { pid } = await events.until('worker.ready', { count: 2 })
  process.kill(pid, 'SIGKILL')
  t.match(await get(port, '/pid'), { status: 200 })
  t.same(events.all('recycled'), [], 'the old worker still drains')
  await slow.close()
  t.match(await recycled, { oldPid, cut: 0, lost: false })
  t.match(supervisor.status().totals, { workers: 1, ready: 1 })
  t.equal(events.all('worker.spawn').length, 3)
})
