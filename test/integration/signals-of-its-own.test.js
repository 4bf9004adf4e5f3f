'use strict'

/**
 * A signal that an app gives itself means that it wants to leave: it is replaced, and hears the signal when it has
 * drained.
 */

const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { startFleet, freePort, FIXTURES } = require('../support/fleet')
const { checkAccount } = require('../support/draining')
const { supervise } = require('../..')

t.test('a worker that gives itself a signal is replaced; its requests are answered, and then it hears the signal, once', async t => {
  const { port, events, told } = await startFleet(t, 'leaves-itself.js', { workers: 1 })
  for (const by of ['', 'emit', 'number', 'SIGINT']) {
    const { body } = await get(port, '/')
    const pid = Number(body)
    const slow = get(port, '/slow')
    t.match(await get(port, `/leave?${by && `by=${by}`}`), { status: 200 })
    const line = await events.until('recycled', { where: line => line.oldPid === pid })
    t.match(line, { reason: 'requested' })
    checkAccount(t, line)
    t.match(await slow, { status: 200 })
    const signal = by === 'SIGINT' ? by : 'SIGTERM'
    t.match(await told.until('heard', { where: line => line.pid === pid }), { signal, inFlight: 0 })
    t.match(events.all('worker.request').filter(line => line.pid === pid), [{ reason: `the app has given itself ${signal}` }])
    t.match(await events.until('worker.retire', { where: line => line.pid === pid }), { code: 0 })
    t.equal(told.all('heard').filter(line => line.pid === pid).length, 1)
  }
  t.same(events.all('worker.crash'), [])
})

t.test('a worker that ends its channel to the primary is replaced first, and has not crashed', async t => {
  const { port, events, told } = await startFleet(t, 'leaves-itself.js', { workers: 1 })
  for (const [by, call] of [['disconnect', 'process.disconnect()'], ['worker', 'cluster.worker.disconnect()']]) {
    const pid = Number((await get(port, '/')).body)
    const slow = get(port, '/slow')
    t.match(await get(port, `/leave?by=${by}`), { status: 200 })
    const line = await events.until('recycled', { where: line => line.oldPid === pid })
    t.match(line, { reason: 'requested' })
    checkAccount(t, line)
    t.match(await slow, { status: 200, body: String(pid) })
    t.match(events.all('worker.request').filter(line => line.pid === pid), [{ reason: `the app has called ${call}` }])
    t.match(await told.until('heard', { where: line => line.pid === pid }), { signal: 'SIGTERM', inFlight: 0 })
    t.match(await events.until('worker.retire', { where: line => line.pid === pid }), { code: 0 })
  }
  t.same(events.all('worker.crash'), [])
})

t.test('before it serves it hears the signal at once, as without recycle', async t => {
  Object.assign(process.env, { AT_BOOT: '1', PORT: String(await freePort()) })
  t.teardown(() => { delete process.env.AT_BOOT })
  const supervisor = supervise({ app: path.join(FIXTURES, 'leaves-itself.js'), workers: 1, readyTimeout: '20s' })
  t.teardown(() => supervisor.stop({ now: true }))
  await t.rejects(supervisor.ready(), { message: /exited with code 0/ })
})

t.test('a signal from elsewhere is not one of its own', async t => {
  const { port, events, told } = await startFleet(t, 'leaves-itself.js', { workers: 1 })
  const pid = Number((await get(port, '/')).body)
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) process.kill(pid, signal)
  for (let i = 0; i < 20; i++) t.equal((await get(port, '/')).body, String(pid))
  t.same([...events.all('worker.request'), ...told.all('heard')], [])
})
