'use strict'

const t = require('tap')
const path = require('node:path')
const { promisify } = require('node:util')
const execFile = promisify(require('node:child_process').execFile)
const { FIXTURES } = require('../support/fleet')
const { startTellingFleet, beginDrain, checkAccount } = require('../support/draining')
const { RawClient } = require('../support/raw-client')

t.test('within a fleet', async t => {
  const fleet = await startTellingFleet(t, 'worker-api.js', { drainTimeout: '7s' })
  const { port, told, events } = fleet

  t.test('onDrain and recycle:drain each tell the app once why it drains and how long it may take', async t => {
    const { pid, recycled } = await beginDrain(fleet)
    await recycled
    for (const what of ['onDrain', 'event']) {
      t.same(told.all(what).map(({ what, ...message }) => message), [{ event: what, pid, about: { reason: 'requested', deadlineMs: 7000, handoff: true } }])
    }
  })

  t.test('requestRecycle replaces the worker, with its reason in the journal, and drops nothing', async t => {
    const client = await RawClient.connect(port)
    const before = await client.fetch('/recycle')
    const pid = Number(before.headers['x-pid'])
    const line = await events.until('recycled', { where: line => line.oldPid === pid })
    checkAccount(t, line)
    t.equal(line.moved, 1)
    t.match(await events.until('worker.request'), { pid, reason: 'my cache is full' })
    const after = await client.fetch('/')
    t.equal(Number(after.headers['x-pid']), line.pid)
    await client.close()
  })

  t.test('a pinned connection is closed after its next response instead of moved', async t => {
    const pinned = await RawClient.connect(port)
    const free = await RawClient.connect(port)
    await pinned.fetch('/pin')
    await free.fetch('/')
    const { pid, recycled } = await beginDrain(fleet)
    const samples = events.all('worker.sample').length
    await events.until('worker.sample', { count: samples + 10 }) // time for many checks for idle connections
    t.notOk(pinned.isEnded)
    const response = await pinned.fetch('/')
    t.equal(Number(response.headers['x-pid']), pid)
    t.equal(response.headers.connection, 'close')
    await pinned.ended()
    t.equal(pinned.error, null)
    const line = await recycled
    checkAccount(t, line)
    t.equal(line.moved, 1)
    t.equal(line.closedAfterResponse, 1)
    t.equal(Number((await free.fetch('/')).headers['x-pid']), line.pid)
    await free.close()
  })
})

t.test('outside a fleet every function does nothing', async t => {
  const app = path.join(FIXTURES, 'worker-api.js')
  const { stdout, stderr } = await execFile(process.execPath, [app, '--alone'], { env: { ...process.env, PORT: '0' }, timeout: 20_000 })
  t.same(stdout.trim().split('\n').map(line => JSON.parse(line)), [{ what: 'alone', status: 200 }])
  t.equal(stderr, '')
})
