'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { startFleet } = require('../support/fleet')
const { get, clientPerWorker } = require('../support/client')
const { RawClient } = require('../support/raw-client')
const { becomesTrue } = require('../support/processes')

const COVERED_MS = 300 // by then the primary has a descriptor of each connection
const skip = loadAddon().addon === null && 'the addon is not there'

/**
 * One request of any method.
 *
 * @param {number} port @param {http.Agent} agent @param {string} method @param {string} path @param {string} [body]
 */
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

/** The primary has descriptors of so many connections, which are all that are open. */
async function covered (supervisor, count) {
  await delay(COVERED_MS)
  const isSo = await becomesTrue(() => supervisor.status().failover.connections === count)
  if (!isSo) throw new Error(`${supervisor.status().failover.connections} of ${count} connections are covered`)
}

/** The workers' pids and a client that each has had for long enough. */
async function settled (t, options = {}) {
  const workers = options.workers ?? 2
  // No connection moves to even them out
  const fleet = await startFleet(t, 'dies.js', { workers, stopLinger: '100ms', schedule: 'shared', ...options })
  const clients = await clientPerWorker(t, fleet.port, workers)
  if (options.failover !== false) await covered(fleet.supervisor, workers)
  const [[pid, agent]] = clients
  return { ...fleet, clients, pid, agent }
}

/** Further clients that are in this worker. */
async function clientsOf (t, port, pid, count) {
  const agents = []
  t.teardown(() => agents.forEach(agent => agent.destroy()))
  for (const deadline = Date.now() + 20_000; agents.length < count;) {
    if (Date.now() > deadline) throw new Error(`${agents.length} of ${count} connections are in ${pid}`)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    if (Number((await get(port, '/pid', { agent })).body) === pid) agents.push(agent)
    else agent.destroy()
  }
  return agents
}

t.test('idle connections go on in other workers, with what was sent after the kill', { skip }, async t => {
  const { port, events, clients, supervisor } = await settled(t, { workers: 3 })
  for (const [pid, agent] of clients) {
    const [[socket]] = Object.values(agent.freeSockets)
    process.kill(pid, 'SIGKILL')
    const answer = await get(port, '/pid', { agent }) // on its way before the primary knows of the death
    t.match(answer, { status: 200, reused: true })
    t.not(Number(answer.body), pid)
    t.equal(Object.values(agent.freeSockets)[0][0], socket, 'the same connection')
    t.match(await events.until('worker.crash', { where: line => line.pid === pid }), { answered: 0, cut: 0, cuts: [] })
    await covered(supervisor, 3)
  }
})

t.test('at a death GET, HEAD and OPTIONS requests that were not answered are handled by another worker, a POST is answered with 502, a response that has begun ends; the cuts are named', { skip }, async t => {
  const { port, events, pid, agent, told, supervisor } = await settled(t)
  const agents = [agent, ...await clientsOf(t, port, pid, 4)]
  await covered(supervisor, 6)
  const answers = ['GET', 'HEAD', 'OPTIONS'].map((method, i) => ask(port, agents[i], method, '/replayed'))
  const posted = ask(port, agents[3], 'POST', '/upload?token=1', 'x'.repeat(100_000))
  const begun = await new Promise(resolve => http.get({ host: '127.0.0.1', port, agent: agents[4], path: '/begun' }, resolve).on('error', () => {}))
  await Promise.all([once(begun, 'data'), told.until('has', { where: ({ url }) => url === '/replayed', count: 3 }), told.until('has all')])
  await delay(60)
  const broken = once(begun, 'error').catch(error => [error])
  process.kill(pid, 'SIGKILL')
  const [[error], { status, connection }, ...replayed] = await Promise.all([broken, posted, ...answers])
  t.same(replayed.map(({ status }) => status), [200, 200, 200])
  for (const { text } of [replayed[0], replayed[2]]) t.match(text, /^\d+ 1$/)
  for (const { text } of replayed) t.not(text.split(' ')[0], String(pid))
  t.match({ status, connection }, { status: 502, connection: 'close' })
  t.equal(error.code, 'ECONNRESET')
  const crash = await events.until('worker.crash')
  t.match(crash, { pid, replayed: 3, answered: 1, cut: 1 })
  t.same(crash.cuts.map(({ method, path }) => `${method} ${path}`).sort(), ['GET /begun', 'POST /upload'])
  t.ok(crash.cuts.every(({ ageMs, remotePort }) => ageMs >= 40 && remotePort > 0))
})

t.test('a request that ends its worker by SIGKILL, process.exit() or abort() ends one more, and is answered with 502', { skip }, async t => {
  const { port, events, supervisor } = await startFleet(t, 'dies.js', { workers: 3, stopLinger: '100ms', schedule: 'shared' })
  for (const [i, path] of ['/kill', '/exit', '/abort'].entries()) {
    await supervisor.ready()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    await get(port, '/pid', { agent })
    await delay(COVERED_MS)
    t.match(await ask(port, agent, 'GET', path), { status: 502, connection: 'close' }, path)
    const [first, second] = [await events.until('worker.crash', { count: 2 * i + 1 }), await events.until('worker.crash', { count: 2 * i + 2 })]
    t.match(first, { replayed: 1, answered: 0 }, path)
    t.match(second, { replayed: 0, answered: 1, cuts: [{ method: 'GET', path }] })
    await delay(500)
    t.equal(events.all('worker.crash').length, 2 * i + 2, 'no third worker')
  }
})

t.test('a request that has moved as its worker was recycled is handled by another worker when the next one dies', { skip }, async t => {
  const answers = process.env.ANSWERS = path.join(t.testdir({}), 'answers')
  const { port, events, pid, agent, told, supervisor } = await settled(t, { replayAfter: 0 })
  const answer = ask(port, agent, 'GET', '/held')
  await told.until('has', { where: ({ url }) => url === '/held' })
  const { slot } = supervisor.status().workers.find(worker => worker.pid === pid)
  await supervisor.recycle(slot)
  const { pid: second } = await told.until('has', { where: ({ url }) => url === '/held', count: 2 })
  await covered(supervisor, 2)
  process.kill(second, 'SIGKILL')
  t.match(await events.until('worker.crash'), { pid: second, replayed: 1, answered: 0, cut: 0 })
  await told.until('has', { where: ({ url }) => url === '/held', count: 3 })
  fs.writeFileSync(answers, '')
  t.match(await answer, { status: 200, text: / 1$/ })
})

t.test('connections that have moved twice, and were used between or not, go on when their worker dies', { skip }, async t => {
  const { port, events, pid, agent, supervisor } = await settled(t, { workers: 1 })
  const agents = [agent, ...await clientsOf(t, port, pid, 9)]
  for (let move = 0; move < 2; move++) {
    await covered(supervisor, 10)
    await supervisor.recycle(0)
    for (const agent of agents.slice(0, 5)) t.match(await get(port, '/pid', { agent }), { status: 200, reused: true })
  }
  await covered(supervisor, 10)
  process.kill(supervisor.status().workers[0].pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { moved: 10, replayed: 0, answered: 0, cut: 0 })
  for (const agent of agents) t.match(await get(port, '/pid', { agent }), { status: 200, reused: true })
})

t.test('a worker that dies as a stop begins has failover while others serve', { skip }, async t => {
  const { port, events, clients, told, supervisor } = await settled(t)
  const [[pid, agent], [, other]] = clients
  const idle = await clientsOf(t, port, pid, 3)
  await covered(supervisor, 5)
  const asked = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  const blocked = ask(port, other, 'GET', '/block') // it serves until it has heard of the stop
  await told.until('has', { where: ({ url }) => url === '/block' })
  process.kill(pid, 'SIGKILL')
  supervisor.stop()
  const answers = await Promise.all([asked, blocked, ...idle.map(agent => ask(port, agent, 'GET', '/pid'))])
  t.same(answers.map(({ status }) => status), Array(5).fill(200))
  t.match(await events.until('worker.crash'), { pid, moved: 3, replayed: 1, answered: 0, cut: 0 })
})

t.test('with --replay off a GET request that was not answered is answered with 502, and named', { skip }, async t => {
  const { port, events, pid, agent, told } = await settled(t, { workers: 1, replay: 'off' })
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  await delay(60)
  process.kill(pid, 'SIGKILL')
  t.match(await answer, { status: 502, connection: 'close' })
  const crash = await events.until('worker.crash')
  t.match(crash, { pid, replayed: 0, answered: 1, cut: 0, cuts: [{ method: 'GET', path: '/replayed' }] })
  t.ok(crash.cuts[0].ageMs >= 40 && crash.cuts[0].remotePort > 0)
})

t.test('a head of which a part was read goes on where its rest is read, also where the first head came in parts, of which the last is less than the end of a head, or came at once', { skip }, async t => {
  const { port, events, pid } = await settled(t, { workers: 1 })
  const clients = await Promise.all([0, 1].map(() => RawClient.connect(port)))
  const young = await RawClient.connect(port)
  young.send('GET /pid HTTP/1.1\r\nHo') // before it is noted
  clients[0].send('GET /pid HTTP/1.1\r\nHost: x\r\n\r\n')
  for (const part of ['GET /pid HTTP/1.1\r\nHost: x\r\n', '\r\n']) {
    clients[1].send(part)
    await delay(COVERED_MS)
  }
  for (const client of clients) {
    await client.received(1)
    client.send('GET /pid HTTP/1.1\r\nHo')
  }
  await delay(100)
  process.kill(pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { moved: 4, answered: 0, cut: 0 })
  for (const client of [...clients, young]) {
    client.send('st: x\r\n\r\n')
    const answers = await client.received(client === young ? 1 : 2)
    t.match(answers.at(-1), { status: 200 })
    t.not(Number(String(answers.at(-1).body)), pid)
  }
})

t.test('a fleet of one: connections and a request wait for the next worker; of pipelined requests the first that was not answered gets 502, and the connection ends', { skip }, async t => {
  const { port, pid, agent, told } = await settled(t, { workers: 1 })
  const client = await RawClient.connect(port)
  client.get('/pid')
  await client.received(1)
  await delay(COVERED_MS)
  client.get('/pid').get('/replayed').get('/pid')
  await client.received(2)
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed', count: 2 })
  process.kill(pid, 'SIGKILL')
  await client.ended()
  t.same(client.responses.map(({ status }) => status), [200, 200, 502])
  t.match(await answer, { status: 200, text: / 1$/ })
})

t.test('a request on a connection that is noted while it is in flight is as old as it is', { skip }, async t => {
  const { port, events, pid, told, supervisor } = await settled(t, { workers: 1 })
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const answer = ask(port, agent, 'POST', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  const hadAt = performance.now()
  await covered(supervisor, 2)
  const atLeastMs = Math.floor(performance.now() - hadAt)
  process.kill(pid, 'SIGKILL')
  t.match(await answer, { status: 502 })
  const { cuts: [{ ageMs }] } = await events.until('worker.crash')
  t.ok(ageMs >= atLeastMs, `${ageMs} of ${atLeastMs} ms`)
})

t.test('requests that were in flight beside one that ends its worker are answered: it is tried alone', { skip }, async t => {
  const { port, events, pid, agent, told, supervisor } = await settled(t, { workers: 3 })
  const agents = await clientsOf(t, port, pid, 12)
  await covered(supervisor, 15)
  const innocent = agents.map(agent => ask(port, agent, 'GET', '/replayed'))
  await told.until('has', { where: ({ url }) => url === '/replayed', count: 12 })
  const poison = ask(port, agent, 'GET', '/kill')
  t.same((await Promise.all(innocent)).map(({ status }) => status), Array(12).fill(200))
  t.match(await poison, { status: 502 })
  t.match(await events.until('worker.crash', { count: 2 }), { answered: 1, cuts: [{ path: '/kill', deaths: 1 }] })
})

t.test('bytes that are no head, whose handling ends a worker, end one more and are answered with 502; a POST whose lines end with bare LF, which a worker had been given, is not handled again', { skip }, async t => {
  const { port, events, supervisor, told } = await settled(t, { workers: 3 })
  let deaths = 0
  for (const parts of [['GARBAGE\r\n'], ['\x16\x03GARBAGE'], ['GET / HTTP/1.1\r\nHost: x\r\n', '\x00GARBAGE: x\r\n\r\n']]) {
    const client = await RawClient.connect(port)
    await delay(COVERED_MS)
    for (const part of parts) {
      client.send(part)
      await delay(50)
    }
    await client.received(1)
    t.equal(client.responses[0].status, 502, JSON.stringify(parts))
    t.match(await events.until('worker.crash', { count: deaths + 1 }), { code: 4, replayed: 0, answered: 0 })
    t.match(await events.until('worker.crash', { count: deaths += 2 }), { code: 4, answered: 1, cuts: [{ deaths: 1 }] })
    await delay(300)
    t.equal(events.all('worker.crash').length, deaths, 'no third worker')
    await supervisor.ready()
  }
  const client = await RawClient.connect(port)
  await delay(COVERED_MS)
  client.send('POST /bare HTTP/1.1\nHost: x\nContent-Length: 2\n\nab')
  const { pid } = await told.until('has', { where: ({ url }) => url === '/bare' })
  process.kill(pid, 'SIGKILL')
  await client.received(1)
  t.equal(client.responses[0].status, 502)
  t.equal(told.all('has').filter(({ url }) => url === '/bare').length, 1)
})

t.test('after a request whose body the app did not read the connection is idle, and its next GET is replayed; so is a GET with an empty line behind it, and a first one in two parts', { skip }, async t => {
  const { port, events, pid } = await settled(t, { workers: 1 })
  const body = 'x'.repeat(30_000)
  const posts = {
    'in one': ['POST /pid HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'],
    'in chunks': ['POST /pid HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', '0\r\n\r\n'],
    'body behind': [`POST /pid HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`, body],
    'a GET with a body': ['GET /pid HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe', 'llo'],
    'a GET behind it': [`POST /pid HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}GET /pid HTTP/1.1\r\nHost: x\r\n\r\n`]
  }
  const clients = []
  for (const [what, parts] of Object.entries(posts)) {
    for (const isIdle of [true, false]) {
      const client = await RawClient.connect(port)
      await delay(COVERED_MS)
      for (const part of parts) {
        client.send(part)
        await delay(30)
      }
      const count = what === 'a GET behind it' ? 2 : 1
      await client.received(count)
      clients.push({ what, client, count, isIdle, send: isIdle ? '' : 'GET /replayed HTTP/1.1\r\nHost: x\r\n\r\n' })
    }
  }
  const late = await RawClient.connect(port)
  clients.push({ what: 'a line behind', client: late, count: 0, send: 'GET /replayed HTTP/1.1\r\nHost: x\r\n\r\n\r\n' })
  await delay(COVERED_MS)
  const young = await RawClient.connect(port)
  young.send('GET /replayed HTTP/1.1\r\nHo')
  clients.push({ what: 'in two parts', client: young, count: 0, send: 'st: x\r\n\r\n' })
  await delay(COVERED_MS)
  for (const { client, send } of clients) client.send(send)
  await delay(200)
  process.kill(pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { pid, replayed: 7, answered: 0, cut: 0 })
  for (const { what, client, count, isIdle } of clients) {
    if (isIdle) client.get('/pid')
    await client.received(count + 1)
    t.match(client.responses[count], { status: 200 }, what)
    t.not(Number(String(client.responses[count].body).split(' ')[0]), pid)
  }
})

t.test('a connection that the app has pinned ends with its worker, however old it was; a response without a length that a death cuts is reset; so does one that has sent ends of lines alone, with its second', { skip }, async t => {
  const { port, pid, events, supervisor } = await settled(t, { workers: 1 })
  const [pinned, cut] = await Promise.all([0, 1].map(() => RawClient.connect(port)))
  await delay(COVERED_MS)
  pinned.get('/pin')
  await pinned.received(1)
  cut.get('/begun-until-close')
  await becomesTrue(() => cut.socket.bytesRead > 0, 5000)
  pinned.get('/replayed')
  await delay(100)
  process.kill(pid, 'SIGKILL')
  await Promise.all([pinned.ended(), cut.ended()])
  await becomesTrue(() => cut.isClosed, 1000)
  t.same([pinned.responses.length, cut.error], [1, 'ECONNRESET'])

  await events.until('worker.ready', { count: 2 })
  const [blank, answered] = await Promise.all([0, 1].map(() => RawClient.connect(port)))
  for (const deaths of [1, 2]) {
    await covered(supervisor, 3) // with the first client's
    for (const client of [blank, answered]) client.send('\r\n')
    await delay(50)
    process.kill(supervisor.status().workers[0].pid, 'SIGKILL')
    await events.until('worker.ready', { count: 2 + deaths })
    answered.get('/pid')
    await answered.received(deaths)
  }
  t.same(events.all('worker.crash').map(({ moved, ended }) => [moved, ended]).slice(1), [[3, 0], [2, 1]])
  await blank.ended()
  t.equal(blank.responses.length, 0)
})

t.test('--no-failover: the connections die with their worker, and the journal says nothing of them', { skip }, async t => {
  const { port, events, pid, agent, supervisor, told } = await settled(t, { workers: 1, failover: false })
  const answer = ask(port, agent, 'GET', '/replayed')
  await told.until('has', { where: ({ url }) => url === '/replayed' })
  process.kill(pid, 'SIGKILL')
  t.match(await answer, { error: 'ECONNRESET' })
  t.equal((await events.until('worker.crash')).moved, undefined)
  t.equal(supervisor.status().failover, null)
})

t.test('memory that the app has spoilt costs connections, and not the primary', { skip }, async t => {
  const { port, events, pid, agent, supervisor } = await settled(t, { workers: 1 })
  t.match(await get(port, '/spoil', { agent }), { body: 'ok' })
  process.kill(pid, 'SIGKILL')
  t.match(await events.until('worker.crash'), { pid, replayed: 0 })
  await supervisor.ready()
  t.match(await get(port, '/pid'), { status: 200 })
  t.same(events.all('fleet.warning').filter(({ warning }) => warning === 'primary-failed'), [])
})

t.test('the client hears of the end of its connection as before, within milliseconds', { skip }, async t => {
  const { port } = await settled(t, { workers: 1 })
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
  const { port } = await settled(t, { workers: 1 })
  const count = () => fs.readdirSync('/proc/self/fd').length
  const before = count()
  for (let i = 0; i < 6; i++) {
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
  t.ok(await becomesTrue(() => count() <= before + 5), `${before} descriptors before, ${count()} after 300 connections`)
})
