'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const { performance } = require('node:perf_hooks')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { startFleet } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { RawClient } = require('../support/raw-client')
const { becomesTrue } = require('../support/processes')

const COVERED_MS = 300 // by then the primary has a descriptor of each connection, on a busy machine too
const skip = loadAddon().addon === null && 'the addon is not there'

/** One request of any method. @param {number} port @param {http.Agent} agent @param {string} method @param {string} path @param {string} [body] */
function ask (port, agent, method, path, body) {
  return new Promise(resolve => {
    const request = http.request({ host: '127.0.0.1', port, agent, method, path }, response => {
      let text = ''
      response.on('data', chunk => { text += chunk }).on('end', () => resolve({ status: response.statusCode, text, connection: response.headers.connection }))
      response.on('error', error => resolve({ status: response.statusCode, text, error: error.code }))
    })
    request.on('error', error => resolve({ error: error.code })).end(body)
  })
}

/** The workers' pids and a client that each has had for long enough. */
async function settled (t, options = {}) {
  const workers = options.workers ?? 2
  const fleet = await startFleet(t, 'dies.js', { workers, stopLinger: '100ms', schedule: 'shared', ...options }) // no connection moves to even them out
  const clients = await clientPerWorker(t, fleet.port, workers)
  await delay(COVERED_MS)
  const [[pid, agent]] = clients
  return { ...fleet, clients, pid, agent }
}

t.test('idle connections go on in other workers, with what was sent after the kill', { skip }, async t => {
  const { port, events, clients } = await settled(t, { workers: 3 })
  for (const [pid, agent] of clients) {
    const [[socket]] = Object.values(agent.freeSockets)
    process.kill(pid, 'SIGKILL')
    const answer = await get(port, '/pid', { agent }) // on its way before the primary knows of the death
    t.match(answer, { status: 200, reused: true })
    t.not(Number(answer.body), pid)
    t.equal(Object.values(agent.freeSockets)[0][0], socket, 'the same connection')
    t.match(await events.until('worker.crash', { where: line => line.pid === pid }), { answered: 0, cut: 0, cuts: [] })
    await delay(COVERED_MS)
  }
})

for (const method of ['GET', 'HEAD', 'OPTIONS']) {
  t.test(`a ${method} request that was not answered is handled by another worker`, { skip }, async t => {
    const { port, events, pid, agent, told } = await settled(t)
    const answer = ask(port, agent, method, '/replayed')
    await told.until('has', { where: ({ url }) => url === '/replayed' })
    process.kill(pid, 'SIGKILL')
    const { status, text } = await answer
    t.equal(status, 200)
    if (method !== 'HEAD') t.match(text, /^\d+ 1$/)
    t.not(text.split(' ')[0], String(pid))
    t.match(await events.until('worker.crash'), { pid, replayed: 1, answered: 0, cut: 0 })
  })
}

for (const [path, how] of [['/kill', 'SIGKILL'], ['/exit', 'process.exit()'], ['/abort', 'abort()']]) {
  t.test(`a request that ends its worker by ${how} ends one more, and is answered with 502`, { skip }, async t => {
    const { port, events, agent } = await settled(t, { workers: 3 })
    t.match(await ask(port, agent, 'GET', path), { status: 502, connection: 'close' })
    const [first, second] = [await events.until('worker.crash'), await events.until('worker.crash', { count: 2 })]
    t.match(first, { replayed: 1, answered: 0 })
    t.match(second, { replayed: 0, answered: 1, cuts: [{ method: 'GET', path }] })
    await delay(500)
    t.equal(events.all('worker.crash').length, 2, 'no third worker')
  })
}

t.test('a request that has moved as its worker was recycled is handled by another worker when the next one dies', { skip }, async t => {
  const { port, events, pid, agent, told, supervisor } = await settled(t, { replayAfter: 0 })
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  const { slot } = supervisor.status().workers.find(worker => worker.pid === pid)
  await supervisor.recycle(slot)
  await told.until('has', { where: ({ url }) => url === '/replayed', count: 2 })
  await delay(COVERED_MS)
  const { pid: second } = supervisor.status().workers.find(worker => worker.inFlight === 1) ?? await events.until('worker.sample', { where: ({ inFlight }) => inFlight === 1 })
  process.kill(second, 'SIGKILL')
  t.match(await events.until('worker.crash'), { pid: second, replayed: 1, answered: 0, cut: 0 })
  t.match(await answer, { status: 200, text: / 1$/ })
})

t.test('a POST request that was not answered is answered with 502, and named; with --replay off a GET is, too', { skip }, async t => {
  for (const [method, options] of [['POST', {}], ['GET', { replay: 'off' }]]) {
    const { port, events, pid, agent, told } = await settled(t, options)
    const answer = ask(port, agent, method, method === 'GET' ? '/replayed' : '/upload?token=1', method === 'GET' ? undefined : 'x'.repeat(100_000))
    await told.until(...method === 'GET' ? ['has', { where: ({ url }) => url === '/replayed' }] : ['has all'])
    await delay(60)
    process.kill(pid, 'SIGKILL')
    t.match(await answer, { status: 502, connection: 'close' }, method)
    const crash = await events.until('worker.crash')
    t.match(crash, { pid, replayed: 0, answered: 1, cut: 0, cuts: [{ method, path: method === 'GET' ? '/replayed' : '/upload' }] })
    t.ok(crash.cuts[0].ageMs >= 40 && crash.cuts[0].remotePort > 0)
  }
})

t.test('a response that has begun ends with its worker', { skip }, async t => {
  const { port, events, pid, agent } = await settled(t)
  const response = await new Promise(resolve => http.get({ host: '127.0.0.1', port, agent, path: '/begun' }, resolve))
  await once(response, 'data')
  process.kill(pid, 'SIGKILL')
  t.equal((await once(response, 'error').catch(error => [error]))[0].code, 'ECONNRESET')
  t.match(await events.until('worker.crash'), { pid, replayed: 0, answered: 0, cut: 1, cuts: [{ method: 'GET', path: '/begun' }] })
})

for (const [what, ...parts] of [
  ['', 'GET /pid HTTP/1.1\r\nHost: x\r\n\r\n'],
  [', also where the first head came in parts, of which the last is less than the end of a head', 'GET /pid HTTP/1.1\r\nHost: x\r\n', '\r\n']
]) {
  t.test(`a head of which a part was read goes on where its rest is read${what}`, { skip }, async t => {
    const { port, events, pid } = await settled(t, { workers: 1 })
    const client = await RawClient.connect(port)
    for (const part of parts) {
      client.send(part)
      await delay(COVERED_MS)
    }
    await client.received(1)
    client.send('GET /pid HTTP/1.1\r\nHo')
    await delay(100)
    process.kill(pid, 'SIGKILL')
    t.match(await events.until('worker.crash'), { moved: 2, answered: 0, cut: 0 })
    client.send('st: x\r\n\r\n')
    await client.received(2)
    t.match(client.responses[1], { status: 200 })
    t.not(Number(String(client.responses[1].body)), pid)
  })
}

t.test('pipelined requests: the first that was not answered is answered with 502, and the connection ends', { skip }, async t => {
  const { port, pid, told } = await settled(t, { workers: 1 })
  const client = await RawClient.connect(port)
  client.get('/pid')
  await client.received(1)
  await delay(COVERED_MS)
  client.get('/pid').get('/replayed').get('/pid')
  await client.received(2)
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  process.kill(pid, 'SIGKILL')
  await client.ended()
  t.same(client.responses.map(({ status }) => status), [200, 200, 502])
})

t.test('a fleet of one: connections and a request wait for the next worker', { skip }, async t => {
  const { port, pid, agent, told } = await settled(t, { workers: 1 })
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  process.kill(pid, 'SIGKILL')
  t.match(await answer, { status: 200, text: / 1$/ })
})

t.test('--no-failover: the connections die with their worker, and the journal says nothing of them', { skip }, async t => {
  const { port, events, pid, agent, supervisor, told } = await settled(t, { failover: false })
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  process.kill(pid, 'SIGKILL')
  t.match(await answer, { error: 'ECONNRESET' })
  t.equal((await events.until('worker.crash')).moved, undefined)
  t.equal(supervisor.status().failover, null)
})

t.test('memory that the app has spoilt costs connections, and not the primary', { skip }, async t => {
  const { port, events, pid, agent, supervisor } = await settled(t)
  t.match(await get(port, '/spoil', { agent }), { body: 'ok' })
  process.kill(pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { pid, replayed: 0 })
  await supervisor.ready()
  t.match(await get(port, '/pid'), { status: 200 })
  t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'primary-failed'), [])
})

t.test('the client hears of the end of its connection as before, within milliseconds', { skip }, async t => {
  const { port } = await settled(t)
  for (const [path, error] of [['/close', null], ['/until-close', null], ['/destroy', null], ['/reset', 'ECONNRESET'], ['/close-all', null]]) {
    const client = await RawClient.connect(port)
    client.get('/pid')
    await client.received(1)
    await delay(COVERED_MS)
    const began = performance.now()
    client.get(path)
    t.ok(await becomesTrue(() => client.isClosed, 1000), `${path}: it has ended after ${Math.round(performance.now() - began)} ms`)
    t.equal(client.error, error, path)
  }
})

t.test('a connection whose client closes its half, leaves or resets it leaves no descriptor in the primary', { skip }, async t => {
  const { port } = await settled(t)
  const count = () => fs.readdirSync('/proc/self/fd').length
  const before = count()
  for (let i = 0; i < 20; i++) {
    const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(port)))
    for (const client of clients) client.get('/pid')
    await Promise.all(clients.map(client => client.received(1)))
    await delay(60)
    clients.forEach((client, i) => {
      if (i % 3 === 0) client.socket.end()
      else if (i % 3 === 1) client.socket.destroy()
      else client.socket.resetAndDestroy()
    })
  }
  t.ok(await becomesTrue(() => count() <= before + 5), `${before} descriptors before, ${count()} after 1,000 connections`)
})
