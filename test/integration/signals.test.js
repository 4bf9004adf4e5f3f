'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const t = require('tap')
const { startCli, FIXTURES } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { Load } = require('../support/load')
const { becomesTrue } = require('../support/processes')

const APP = path.join(FIXTURES, 'misbehaves.js')

t.test('a signal to a worker alone has no effect (Puma: test_stuck_external_term_spawn)', async t => {
  const { port, events } = await startCli(t, ['-w', '2', APP])
  await events.until('worker.ready', { count: 2 })
  const clients = await clientPerWorker(t, port, 2)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
    await Promise.all([...clients].map(async ([pid, agent]) => {
      const slow = get(port, '/slow?ms=300', { agent })
      process.kill(pid, signal)
      t.match(await slow, { status: 200 }, `${signal}: the request in flight is answered`)
      t.match(await get(port, '/pid', { agent }), { status: 200, body: String(pid), reused: true }, `${signal}: on the same connection, by the same worker`)
    }))
  }
  t.same(events.all('worker.crash'), [])
  t.same(events.all('worker.drain'), [])
})

t.test('a signal that is a verb to the primary, sent to every process of the unit, ends and stops no worker', async t => {
  const { port, child, events, said } = await startCli(t, ['-w', '2', path.join(FIXTURES, 'puts-back.js')])
  await events.until('worker.ready', { count: 2 })
  const clients = await clientPerWorker(t, port, 2, 'x-pid')
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU']) {
    for (const pid of clients.keys()) process.kill(pid, signal)
    for (const [pid, agent] of clients) t.match(await get(port, '/', { agent }), { status: 200, headers: { 'x-pid': String(pid) }, reused: true }, signal)
  }
  child.kill('SIGUSR1')
  t.match(await get(port), { status: 200 })
  t.same(said, [], 'no inspector has been opened')
  t.same(events.all('worker.crash'), [])
})

t.test('SIGHUP is a rolling reload', async t => {
  const version = (/** @type {number} */ n) => `require('node:http').createServer((request, response) => response.end('version ${n}')).listen(process.env.PORT)`
  const app = path.join(t.testdir({ 'app.js': version(1) }), 'app.js')
  const { port, child, events } = await startCli(t, ['-w', '3', '-i', '50ms', app])
  await events.until('worker.ready', { count: 3 })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())

  await t.test('every worker is replaced by a worker with the new code', async t => {
    t.equal((await get(port)).body, 'version 1')
    await load.after(100)
    fs.writeFileSync(app, version(2))
    const before = events.all('worker.ready').map(line => line.pid)
    child.kill('SIGHUP')
    await events.until('recycled', { count: 3 })
    const recycled = events.all('recycled')
    t.same(recycled.map(line => line.oldPid).sort(), before.sort())
    t.same(recycled.map(line => line.reason), ['reload', 'reload', 'reload'])
    for (let i = 0; i < 20; i++) t.equal((await get(port)).body, 'version 2')
    await load.after(100)
  })

  await t.test('overlapping reloads coalesce, and every worker is newer than the last call', async t => {
    const before = events.all('recycled').length
    for (let i = 1; i <= 5; i++) {
      child.kill('SIGHUP')
      await events.until('fleet.reload', { count: 1 + i })
    }
    const { generation } = events.all('fleet.reload').at(-1)
    const fresh = () => events.all('worker.spawn').filter(line => line.generation >= generation).map(line => line.pid)
    t.ok(await becomesTrue(() => events.all('recycled').filter(line => fresh().includes(line.pid)).length === 3))
    const recycles = events.all('recycled').length - before
    t.ok(recycles >= 3 && recycles <= 6, `3 workers, at most one recycle each for the first and one for the last call: ${recycles}`)
  })

  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 10, 'no client ever reconnected')
})

t.test('SIGUSR2 from nodemon, which starts the command anew itself, is a stop and no upgrade', async t => {
  const { events, exited } = await startCli(t, ['-w', '1', APP], { under: () => [process.execPath, path.join(FIXTURES, 'nodemon.js')] })
  await events.until('worker.ready')
  const { pid } = await events.until('fleet.start')
  process.kill(pid, 'SIGUSR2')
  t.same(await exited, { code: 0, signal: null })
  t.same(events.all('fleet.start').map(line => line.pid), [pid])
  t.equal(events.all('fleet.stop').length, 1)
})

t.test('SIGTTIN adds a worker, SIGTTOU removes one, and one always stays', async t => {
  const { port, child, events } = await startCli(t, ['-w', '1', APP])
  await events.until('worker.ready', { count: 1 })
  const load = new Load({ port, connections: 10 })
  t.teardown(() => load.stop())
  await load.after(50)
  child.kill('SIGTTIN')
  t.match(await events.until('worker.ready', { count: 2 }), { slot: 1 })
  child.kill('SIGTTIN')
  t.match(await events.until('worker.ready', { count: 3 }), { slot: 2 })
  await load.after(50)
  child.kill('SIGTTOU')
  t.match(await events.until('scaled', { count: 1 }), { slot: 2, cut: 0, unacked: 0 })
  child.kill('SIGTTOU')
  t.match(await events.until('scaled', { count: 2 }), { slot: 1, cut: 0, unacked: 0 })
  child.kill('SIGTTOU')
  t.match(await events.until('fleet.scale', { count: 5 }), { from: 1, to: 1 })
  await load.after(50)
  const { requests, failures, sockets } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)
  t.equal(sockets, 10, 'no client ever reconnected')
  t.equal(events.all('scaled').length, 2)
})

t.test('Ctrl-C to the whole process group, and given on by npm: requests in flight are answered', async t => {
  const { port, child, events, out, exited } = await startCli(t, ['-w', '2', '--stop-linger', '100ms', APP])
  await events.until('worker.ready', { count: 2 })
  const agent = new http.Agent({ keepAlive: true })
  const slow = [get(port, '/slow?ms=1500', { agent }), get(port, '/slow?ms=1500')]
  t.ok(await becomesTrue(() => out.length === 2), 'both are in flight')
  process.kill(-child.pid, 'SIGINT')
  await events.until('fleet.stopping')
  child.kill('SIGINT') // as npm's shell gives it on
  for (const answer of await Promise.all(slow)) t.match(answer, { status: 200, body: 'ok' })
  t.same(await exited, { code: 0, signal: null })
  t.same(events.all('stopped').map(line => line.cut), [0, 0])
})
