'use strict'

/** An app ends its WebSockets and streams of events on SIGTERM, as it does without a supervisor; it is told in time. */

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const t = require('tap')
const WebSocket = require('ws')
const { get } = require('../support/client')
const { startFleet, sumOfEnds, FIXTURES } = require('../support/fleet')

const STREAMS = 8

/** @param {number} port @param {string} [scheme] @returns {Promise<{ closed: Promise<number> }>} `closed`: the code */
function openWebSocket (port, scheme = 'ws') {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${scheme}://127.0.0.1:${port}/`, { rejectUnauthorized: false })
    const closed = new Promise(resolve => socket.once('close', code => resolve(code)))
    socket.once('message', () => resolve({ closed }))
    socket.once('error', reject)
  })
}

/** @param {number} port @returns {Promise<{ ended: Promise<string> }>} `ended`: its last event, or how it failed */
function openEvents (port) {
  return new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', path: '/events', agent: false }, response => {
      let text = ''
      const ended = new Promise(resolve => response.on('end', () => resolve(text.split('\n')[2])).on('error', error => resolve(/** @type {any} */ (error).code)))
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
        resolve({ ended })
      })
    }).on('error', reject)
  })
}

/** @param {any} t tap's @param {Record<string, any>} [options] */
async function startWithStreams (t, options) {
  const fleet = await startFleet(t, 'ends-streams.js', { workers: 1, ...options })
  const all = Array.from({ length: STREAMS })
  const sockets = await Promise.all(all.map(() => openWebSocket(fleet.port)))
  const events = await Promise.all(all.map(() => openEvents(fleet.port)))
  return {
    ...fleet,
    codes: Promise.all(sockets.map(({ closed }) => closed)),
    ends: Promise.all(events.map(({ ended }) => ended))
  }
}

for (const way of ['closes its server', 'exits']) {
  t.test(`an app that ends its streams on SIGTERM, and ${way}, is told when nothing else is left; a request in flight is answered first`, async t => {
    const { port, supervisor, events, told, codes, ends } = await startWithStreams(t, { args: way === 'exits' ? ['--exits'] : [] })
    const agents = Array.from({ length: 8 }, () => new http.Agent({ keepAlive: true }))
    t.teardown(() => agents.forEach(agent => agent.destroy()))
    const slow = agents.map(agent => get(port, '/slow?ms=1500', { agent }))
    await events.until('worker.sample', { where: line => line.inFlight > 0 })
    await supervisor.reload()
    for (const answer of await Promise.all(slow)) t.match(answer, { status: 200 })
    t.same(await codes, Array(STREAMS).fill(1001))
    t.same(await ends, Array(STREAMS).fill('event: end'))
    for (const line of events.all('recycled')) {
      t.match(line, { cut: 0, unaccounted: 0, lost: false })
      t.equal(sumOfEnds(line), line.connections, 'the account adds up')
      t.ok(line.drainMs < 20_000, `long before the drain timeout: ${line.drainMs} ms`)
    }
    t.equal(told.all('told').length, 1, 'the worker has been told once')
    t.same(events.all('worker.retire').map(({ code, signal }) => [code, signal]), [[0, null]])
  })
}

t.test('where a connection that cannot move is idle, the app is told at the drain timeout, and ends its streams then', async t => {
  const { port, supervisor, events } = await startFleet(t, 'ends-streams.js', { workers: 1, args: ['--tls'], drainTimeout: '1s' })
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })
  t.teardown(() => agent.destroy())
  await new Promise(resolve => https.get({ port, host: '127.0.0.1', agent }, response => response.resume().on('end', resolve)))
  const { closed } = await openWebSocket(port, 'wss')
  const line = await supervisor.recycle(0)
  t.equal(await closed, 1001)
  t.match(line, { connections: 2, cut: 0, lost: false })
  t.ok(line.drainMs >= 1000)
  t.same(events.all('worker.crash'), [])
})

t.test('a stop ends the streams as well', async t => {
  const { supervisor, events, codes, ends } = await startWithStreams(t)
  await supervisor.stop()
  t.same(await codes, Array(STREAMS).fill(1001))
  t.same(await ends, Array(STREAMS).fill('event: end'))
  t.same(events.all('stopped').map(({ cut, lost }) => [cut, lost]), [[0, false]])
})

for (const schedule of ['even', 'shared']) {
  t.test(`in a reload a client whose stream is ended comes back to a worker of the new generation: no stream is ended twice (schedule ${schedule})`, async t => {
    const { port, supervisor, events } = await startFleet(t, 'ends-streams.js', { workers: 3, schedule })
    const stopped = new AbortController()
    let ends = 0
    const client = async () => {
      const { ended } = await openEvents(port)
      const again = ended.then(() => {
        ends++
        return stopped.signal.aborted ? undefined : client()
      })
      again.catch(() => {}) // the fleet has stopped
    }
    await Promise.all(Array.from({ length: 12 }, client))
    await events.until('worker.sample', { where: line => line.streams > 0 })
    await supervisor.reload()
    stopped.abort()
    t.ok(ends >= 12, `every stream has been ended: ${ends}`)
    t.ok(ends <= 14, `once, but for those that came back before a worker had heard of the rollout: ${ends}`)
  })
}

t.test('when a reload with streams is stopped, the workers of the old generation accept connections again', async t => {
  const app = path.join(t.testdir({ 'app.js': `require(${JSON.stringify(path.join(FIXTURES, 'ends-streams.js'))})` }), 'app.js')
  const { port, supervisor, events } = await startFleet(t, app, { workers: 2, schedule: 'shared' })
  await Promise.all(Array.from({ length: 16 }, () => openEvents(port))) // in both workers
  for (const slot of [0, 1]) await events.until('worker.sample', { where: line => line.streams > 0 && line.slot === slot })
  const reloaded = supervisor.reload()
  await events.until('worker.ready', { count: 3 })
  fs.writeFileSync(app, 'process.exit(1)')
  await t.rejects(reloaded, { code: 'RECYCLE_ROLLOUT_STOPPED' })
  const old = supervisor.status().workers.find(({ generation }) => generation === 0)?.pid
  let answered = 0
  for (let i = 0; i < 40 && answered === 0; i++) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(port, '/?ms=50')))
    answered = answers.filter(({ body }) => body === String(old)).length
  }
  t.ok(answered > 0, 'an old worker answers')
})
