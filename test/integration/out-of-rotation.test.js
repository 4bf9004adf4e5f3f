'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { once } = require('node:events')
const { startFleet } = require('../support/fleet')
const { clientOf, hold, pidOf, workerOf } = require('../support/memory')
const { RawClient, head } = require('../support/raw-client')

/** @param {any} t tap's */
function folderFor (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-aside-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

t.test('a fleet of three', async t => {
  const { port, supervisor, events, told } = await startFleet(t, 'memory.js', { workers: 3 })
  /** The states of the workers at each event. @type {string[][]} */
  const states = []
  supervisor.on('event', () => states.push(supervisor.status().workers.map((/** @type {any} */ { state }) => state)))

  t.test('workers collect one at a time; each has no connection while it collects, and every client keeps its own', async t => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => RawClient.connect(port)))
    for (const client of clients) await client.fetch('/')
    const lines = await Promise.all([0, 1, 2].map(slot => supervisor.gc(slot)))
    for (const [slot, line] of lines.entries()) {
      t.match(line, { event: 'collected', slot, pid: workerOf(supervisor, slot).pid, reason: 'requested', isEnough: null })
      for (const field of ['rssBefore', 'rssAfter', 'heapUsedBefore', 'heapUsedAfter', 'externalBefore', 'externalAfter', 'bytes']) t.ok(line[field] > 1024, field)
    }
    t.equal(events.all('worker.out-of-rotation').length, 3)
    t.equal(events.all('worker.in-rotation').filter(line => line.why === null).length, 3)
    t.ok(states.every(all => all.filter(state => state === 'out-of-rotation').length <= 1))
    t.ok(states.some(all => all.includes('out-of-rotation')))
    await told.until('collection', { count: 3 }) // a PerformanceObserver is called in a later turn of the loop
    t.same(told.all('collection').filter(message => message.sockets > 0), [])
    for (const client of clients) {
      const { status, headers } = await client.fetch('/')
      t.equal(status, 200)
      t.equal(headers['x-exposed'], 'undefined', 'the app does not see the gc function of recycle')
      await client.close()
    }
    t.ok(supervisor.status().workers.every((/** @type {any} */ { state }) => state === 'ready'))
    t.equal(supervisor.status().totals.recycles, 0)
  })

  t.test('a worker that is back in rotation serves again', async t => {
    const { pid } = workerOf(supervisor, 1)
    const client = await clientOf(t, port, pid)
    await supervisor.gc(1)
    t.not(pidOf(await client.fetch('/')), pid)
    await clientOf(t, port, pid)
  })

  t.test('a request in flight is waited for, and then its connection moves', async t => {
    const { pid } = workerOf(supervisor, 0)
    const client = await clientOf(t, port, pid)
    await hold(client, told, '?ms=500')
    const line = await supervisor.gc(0)
    t.equal(pidOf((await client.received(2))[1]), pid)
    t.ok(line.moved > 0)
    t.not(pidOf(await client.fetch('/')), pid)
  })

  t.test('a heap snapshot is written, readable by this user alone', async t => {
    const file = path.join(folderFor(t), 'a.heapsnapshot')
    const line = await supervisor.heapdump(2, { file })
    t.match(line, { event: 'heapdump', slot: 2, file, bytes: fs.statSync(file).size })
    t.equal(fs.statSync(file).mode & 0o777, 0o600)
    t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).snapshot.node_count > 1000)
    t.equal(workerOf(supervisor, 2).state, 'ready')

    await t.rejects(supervisor.heapdump(2, { file }), { code: 'RECYCLE_UNWRITABLE', message: /such a file already/ })
    await t.rejects(supervisor.heapdump(2, { file: path.join(file, 'b') }), { code: 'RECYCLE_UNWRITABLE' })
    await t.rejects(supervisor.heapdump(7), { code: 'RECYCLE_NO_SLOT' })
  })

  t.test('after a heap snapshot the worker may be replaced', async t => {
    const file = path.join(folderFor(t), 'b.heapsnapshot')
    const { pid } = workerOf(supervisor, 2)
    const { recycled } = await supervisor.heapdump(2, { file, then: 'recycle' })
    t.match(recycled, { event: 'recycled', oldPid: pid, reason: 'requested', cut: 0 })
    t.not(workerOf(supervisor, 2).pid, pid)
  })

  t.test('a CPU profile is taken while the worker serves', async t => {
    const file = path.join(folderFor(t), 'a.cpuprofile')
    const client = await clientOf(t, port, workerOf(supervisor, 0).pid)
    const before = events.all('worker.out-of-rotation').length
    const profile = supervisor.cpuprofile(0, { durationMs: 500, file })
    await t.rejects(supervisor.cpuprofile(0, { durationMs: 500, file: `${file}2` }), { code: 'RECYCLE_NOT_DONE', message: /another profile/ })
    t.equal(fs.existsSync(`${file}2`), false)
    t.equal((await client.fetch('/')).status, 200)
    t.match(await profile, { event: 'cpuprofile', slot: 0, file, bytes: fs.statSync(file).size })
    t.equal(fs.statSync(file).mode & 0o777, 0o600)
    t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).nodes.length > 0)
    t.equal(events.all('worker.out-of-rotation').length, before)
    await t.rejects(supervisor.cpuprofile(0, { durationMs: 0 }), { code: 'RECYCLE_BAD_OPTION' })
  })

  t.test('a drain ends a CPU profile early', async t => {
    const file = path.join(folderFor(t), 'b.cpuprofile')
    const profile = supervisor.cpuprofile(0, { durationMs: 600_000, file })
    await supervisor.recycle(0)
    t.ok((await profile).tookMs < 600_000)
    t.ok(JSON.parse(fs.readFileSync(file, 'utf8')).nodes.length > 0)
  })

  t.test('a worker with a raw connection refuses at once, and no client is told', async t => {
    const { pid } = workerOf(supervisor, 0)
    const quiet = await clientOf(t, port, pid)
    const raw = await clientOf(t, port, pid)
    raw.send(head('GET', '/', 'Connection: Upgrade', 'Upgrade: echo'))
    await raw.received(2)
    await t.rejects(supervisor.gc(0), { code: 'RECYCLE_NOT_DONE', message: /1 of its connections are upgraded or raw/ })
    t.match(events.all('worker.in-rotation').at(-1), { moved: 0, why: /upgraded/ })
    t.equal(pidOf(await quiet.fetch('/')), pid, 'no connection has moved')
    raw.send('hello')
    while (!String(raw.echo ?? '').includes('hello')) raw.echo = (raw.echo ?? '') + String((await once(raw.socket, 'data'))[0])
    t.notOk(raw.isEnded)
  })

  t.test('a worker that dies out of rotation is replaced, and another can leave rotation', async t => {
    const { pid } = workerOf(supervisor, 1)
    const client = await clientOf(t, port, pid)
    await hold(client, told)
    const refused = t.rejects(supervisor.gc(1), { code: 'RECYCLE_NOT_DONE', message: /was killed by SIGKILL/ })
    await events.until('worker.out-of-rotation', { where: line => line.pid === pid, count: events.all('worker.out-of-rotation').filter(line => line.pid === pid).length })
    process.kill(pid, 'SIGKILL')
    await refused
    t.match(await events.until('worker.crash'), { pid, signal: 'SIGKILL' })
    await client.close() // its request has gone on in another worker, which it would keep from collecting
    t.match(await supervisor.gc(2), { event: 'collected' })
    await supervisor.ready()
  })
})
