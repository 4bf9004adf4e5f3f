'use strict'

/** An exception that the app does not catch costs the request that threw it, and no other. */

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { loadAddon } = require('../../lib/native/addon')
const { clientPerWorker, get } = require('../support/client')
const { startFleet, FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')

const KINDS = ['/sync', '/timer', '/immediate', '/tick', '/rejection', '/async', '/file', '/emitter', '/proxy', '/value', '/headers', '/twice']
const TLS = { key: fs.readFileSync(path.join(FIXTURES, 'localhost.key'), 'utf8'), cert: fs.readFileSync(path.join(FIXTURES, 'localhost.crt'), 'utf8') }
// From Node.js 24 on a listener of the request's body has no store: the exception is survived, and its request waits
// for the drain.
const BODY = Number(process.versions.node.split('.')[0]) < 24 ? ['/body'] : []

for (const [how, options] of /** @type {const} */ ([['spawned', {}], ['forked', { workers: 1, fork: 'mold' }], ['with a standby', { workers: 1, standby: 1 }]])) {
  t.test(`of requests under load each that throws gets 500, every other one is answered, and the worker is replaced: ${how}`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'uncaught.js', { workers: 2, drainTimeout: '20s', ...options })
    const loads = [true, false].map(keepAlive => new Load({ port, connections: 5, keepAlive, path: ['/ok', '/ok?ms=200'] }))
    const kinds = [...KINDS, ...BODY]
    for (const kind of kinds) {
      const { status, body, headers } = await get(port, kind)
      t.same([status, body, headers.connection], [500, 'Internal Server Error\n', 'close'], kind)
    }
    const { pid } = await events.until('worker.condemn', { where: ({ reason }) => reason === 'exception' })
    t.match(await events.until('recycled', { where: ({ oldPid }) => oldPid === pid }), { reason: 'exception', cut: 0, closedIdle: 0, lost: false })
    for (const load of loads) t.same((await load.stop()).failures, [])
    const told = events.all('worker.exception')
    t.same(told.filter(({ isAnswered }) => isAnswered).map(({ request }) => request).sort(), kinds.map(kind => `GET ${kind}`).sort())
    t.same(events.all('worker.crash'), [])
    t.equal(supervisor.status().exceptions.count, told.length)
    t.match(told.find(({ request }) => request === 'GET /timer'), { name: 'Error', message: 'timer', stack: /uncaught\.js/, seen: 1 })
  })
}

t.test('an exception of a worker that has drained ends it, as by Node.js: it is not killed at --kill-timeout', async t => {
  for (const late of ['', '1']) {
    process.env.LATE = late
    const { supervisor, port } = await startFleet(t, 'throws-at-end.js', { workers: 1, killTimeout: '20s' })
    delete process.env.LATE
    t.match(await get(port, '/'), { status: 200 })
    t.match(await supervisor.recycle(0), { reason: 'requested', cut: 0, ended: 'retired' }, `late: ${late}`)
  }
})

t.test('a request that was answered in part is left to its code; the app sees no listener of ours', async t => {
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 1 })
  t.match(await get(port, '/in-part'), { status: 200, body: 'a part, and the rest' })
  t.match(await events.until('worker.exception'), { request: 'GET /in-part', isAnswered: false })
  t.equal((await get(port, '/ok')).headers['x-listeners'], '0')
})

t.test('what the app has put in the place of http\'s own functions is not called', async t => {
  process.env.PATCHES = '1'
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 1 })
  delete process.env.PATCHES
  t.match(await get(port, '/ok'), { status: 500, body: 'Internal Server Error\n' }, 'it calls them, and they throw')
  t.match(await events.until('worker.exception'), { message: 'end', request: 'GET /ok', isAnswered: true })
})

t.test('the only worker stays in service until its replacement is ready', async t => {
  const { port, supervisor, events } = await startFleet(t, 'uncaught.js', { workers: 1 })
  const load = new Load({ port, connections: 5, path: '/ok' })
  for (let i = 0; i < 3; i++) t.equal((await get(port, '/timer')).status, 500)
  await events.until('recycled')
  t.same((await load.stop()).failures, [])
  t.match(supervisor.status().exceptions, { count: 3, kinds: [{ name: 'Error', message: 'timer', request: 'GET /timer', count: 3 }] })
})

t.test('with --on-exception exit it is as in Node.js', async t => {
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 1, failover: false, onException: 'exit' }, { mayFail: true })
  t.match(await get(port, '/timer'), { error: 'ECONNRESET' })
  t.match(await events.until('worker.crash'), { code: 1 })
  t.same(events.all('worker.exception'), [])
})

for (const [how, what] of [['exit', '/timer'], ['later', '/timer'], ['signal', '/timer'], ['rejection', '/rejection']]) {
  t.test(`a listener of the app that ends the process (${how}) costs the request that threw, which gets 500, and no other: process.exit() waits, and idle connections move`, async t => {
    process.env.LISTENS = how
    const { port, supervisor, events } = await startFleet(t, 'uncaught.js', { workers: 2, failover: false })
    delete process.env.LISTENS
    const idle = await clientPerWorker(t, port, 2, 'x-pid')
    const others = Array.from({ length: 8 }, () => get(port, '/ok?ms=1500', { method: 'POST' }))
    await after(200)
    t.match(await get(port, what), { status: 500 })
    for (const answer of await Promise.all(others)) t.equal(answer.status, 200)
    await events.until('recycled')
    for (const agent of idle.values()) t.match(await get(port, '/ok', { agent }), { status: 200, reused: true })
    const told = events.all('worker.exception')
    t.equal(told.length, 1)
    t.match(told[0], { request: `GET ${what}`, isAnswered: true, listener: how, isEnding: true })
    t.same(events.all('worker.crash'), [])
    await supervisor.stop()
  })
}

t.test('bytes that are no request, for which the app throws, are given to no other worker', async t => {
  process.env.REFUSES = '1'
  t.teardown(() => delete process.env.REFUSES) // replacements have it, too
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 2 })
  for (const bytes of ['GARBAGE\r\n', 'GET / HTTP/1.1\nHost: here\n\n']) {
    const before = events.all('worker.exception').length
    const client = net.connect(port).resume()
    client.write(bytes)
    const closed = once(client, 'close')
    await Promise.race([closed, events.until('worker.exception', { count: before + 2 })])
    t.equal(events.all('worker.exception').length, before + 1, JSON.stringify(bytes))
    client.destroy()
  }
})

t.test('the listener of an app kills its worker: the request that threw gets 500 and ends no other worker, and others go on', { skip: loadAddon().addon === null && 'the addon is not there' }, async t => {
  process.env.LISTENS = 'kill'
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 2, schedule: 'shared' })
  delete process.env.LISTENS
  const clients = await clientPerWorker(t, port, 2, 'x-pid')
  await after(300) // until the primary has a descriptor of each connection
  const [[pid, agent]] = clients
  const other = new http.Agent({ keepAlive: true })
  t.teardown(() => other.destroy())
  const slow = await Promise.all(Array.from({ length: 6 }, async () => { // one of them in this worker at least
    const answer = get(port, '/ok?ms=400', { agent: other })
    await after(20)
    return { answer }
  }))
  await after(200)
  t.match(await get(port, '/timer', { agent }), { status: 500, headers: { connection: 'close' } })
  t.match(await events.until('worker.crash'), { pid, signal: 'SIGKILL', answered: 1, cuts: [{ path: '/timer' }] })
  for (const { answer } of slow) t.match(await answer, { status: 200 })
  await after(300)
  t.equal(events.all('worker.crash').length, 1)
})

t.test('a handler that throws as it is called gets 500 on a connection that has just moved here, and on one of TLS', async t => {
  const { port, supervisor } = await startFleet(t, 'uncaught.js', { workers: 1 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  for (const kind of ['/sync', '/tick', '/async']) {
    const { body: pid } = await get(port, '/ok', { agent })
    await supervisor.recycle(0)
    const { status, body } = await get(port, kind, { agent })
    t.same([status, body], [500, 'Internal Server Error\n'], kind)
    t.not((await get(port, '/ok', { agent })).body, pid)
  }
  await supervisor.stop({ now: true }) // the last worker that threw is replaced: it would take the next fleet's port

  const secure = await startFleet(t, path.join(t.testdir({ 'app.js': `require('node:https').createServer(${JSON.stringify(TLS)}, () => { throw new Error('sync') }).listen(process.env.PORT)` }), 'app.js'), { workers: 1 })
  t.equal(await new Promise((resolve, reject) => https.get({ port: secure.port, rejectUnauthorized: false, agent: false }, response => resolve(response.resume().statusCode)).on('error', reject)), 500)
})

t.test('a request that throws for none is in two workers, and gets 500 in the second', async t => {
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 3, drainTimeout: '500ms' })
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.match(await get(port, '/pool', { agent }), { status: 500, body: 'Internal Server Error\n' })
  const told = events.all('worker.exception')
  t.match(told, [{ message: 'pool', request: null }, { message: 'pool', request: null }])
  t.not(told[0].pid, told[1].pid)
  t.equal((await get(port, '/ok', { agent })).status, 200)
})

t.test('what throws for no request, or for an earlier one, ends no request that starts meanwhile', async t => {
  const { port, events } = await startFleet(t, 'uncaught.js', { workers: 1 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  t.teardown(() => agent.destroy())
  await Promise.all(Array.from({ length: 8 }, () => get(port, '/ok?ms=50', { agent })))
  t.equal((await get(port, '/elsewhere')).status, 200)
  await after(100)
  for (const { status } of await Promise.all(Array.from({ length: 8 }, () => get(port, '/ok', { agent })))) t.equal(status, 200)
  t.match(await events.until('worker.exception'), { message: 'elsewhere', request: null, isAnswered: false })

  const client = net.connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  client.write('GET /tick HTTP/1.1\r\nhost: a\r\n\r\nGET /ok?ms=300 HTTP/1.1\r\nhost: a\r\n\r\n')
  t.match(String((await once(client, 'data'))[0]), /^HTTP\/1.1 500 /)
  t.match(await events.until('worker.exception', { where: ({ message }) => message === 'tick' }), { request: 'GET /tick', isAnswered: true })
})
