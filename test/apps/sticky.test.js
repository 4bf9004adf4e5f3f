'use strict'

/** Apps that need every request of a session at one worker, with `--sticky`. */

const path = require('node:path')
const t = require('tap')
const { io } = require('socket.io-client')
const { extent } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { RawClient } = require('../support/raw-client')
const { checkRecycles } = require('./under-load')

const CLIENTS = extent({ short: 12, long: 200 })
const THINK_MS = extent({ short: 80, long: 20 }) // between an answer and the next message, or request
const WORKERS = extent({ short: 2, long: 3 })
const RECYCLES = extent({ short: 2, long: 20 })
t.setTimeout(60_000 + RECYCLES * 20_000)

t.test(`Socket.IO: ${CLIENTS} clients by long polling, then WebSocket, over ${RECYCLES} recycles: no error, no lost message`, async t => {
  const { port, supervisor, events } = await startFleet(t, path.join(__dirname, '../../examples/socketio.js'), {
    workers: WORKERS, sticky: 'query:sid', drainTimeout: '10s'
  })
  const stopped = new AbortController()
  /** @type {Record<string, number>} */
  const seen = {}
  const note = (/** @type {string} */ what) => { seen[what] = (seen[what] ?? 0) + 1 }
  const clients = Array.from({ length: CLIENTS }, async (_, n) => {
    const options = { forceNew: true, reconnectionDelay: 10, reconnectionDelayMax: 50, retries: 20, ackTimeout: 1000 }
    const socket = io(`http://127.0.0.1:${port}`, n % 3 === 0 ? { ...options, transports: ['polling'] } : options)
    socket.on('connect_error', error => note(`connect_error ${error.message}`))
    socket.on('disconnect', reason => { if (!stopped.signal.aborted) note(reason) })
    socket.on('connect', () => socket.io.engine.once('upgrade', () => note('upgraded')))
    let count = 0
    for (; !stopped.signal.aborted; count++) {
      const echo = await socket.emitWithAck('echo', `${n}:${count}`)
      if (echo !== `${n}:${count}`) note('wrong echo')
      await new Promise(resolve => setTimeout(resolve, THINK_MS))
    }
    socket.close()
    return count
  })
  for (let i = 0; i < RECYCLES; i++) await supervisor.recycle(i % WORKERS)
  stopped.abort()
  const counts = await Promise.all(clients)
  t.ok(counts.every(count => count > 0), 'every client makes progress')
  t.comment(`${counts.reduce((a, b) => a + b)} messages; ${JSON.stringify(seen)}; ${JSON.stringify(supervisor.status().totals)}`)
  const { upgraded, 'transport close': closed, ...others } = seen
  t.ok(upgraded > 0, 'clients upgrade')
  t.ok(closed > 0, 'clients are told to reconnect')
  t.same(others, {}, 'and nothing else')
  checkRecycles(t, events)
})

t.test('express-session with its MemoryStore: sessions go along when their worker is replaced', async t => {
  const { port, supervisor, events } = await startFleet(t, 'apps/express-session.js', { workers: WORKERS, sticky: 'cookie:connect.sid' })
  const stopped = new AbortController()
  const users = Array.from({ length: 12 }, async () => {
    let cookie = ''
    let count = 0
    const wrong = []
    let client = await RawClient.connect(port)
    while (!stopped.signal.aborted) {
      const response = await client.fetch('/', ...cookie ? [`Cookie: ${cookie}`] : [])
      cookie ||= response.headers['set-cookie'].split(';')[0]
      const said = JSON.parse(String(response.body))
      if (said.count !== ++count) wrong.push(said)
      client.responses.length = 0
      await new Promise(resolve => setTimeout(resolve, THINK_MS))
      if (count % 5) continue
      await client.close()
      client = await RawClient.connect(port) // most often to another worker
    }
    await client.close()
    return { count, wrong }
  })
  for (let i = 0; i < RECYCLES; i++) await supervisor.recycle(i % WORKERS)
  stopped.abort()
  const results = await Promise.all(users)
  t.same(results.flatMap(({ wrong }) => wrong), [], `each of ${results.reduce((sum, { count }) => sum + count, 0)} requests found its session`)
  checkRecycles(t, events)
})

t.test('an HTTPS server is refused, in a sentence', async t => {
  const { supervise } = require('../..')
  const supervisor = supervise({ app: path.join(__dirname, '../fixtures/apps/https.js'), workers: 1, sticky: 'cookie:sid', log: 'silent' })
  t.teardown(() => supervisor.stop({ now: true }))
  await t.rejects(supervisor.ready(), { code: 'RECYCLE_STICKY_TLS', message: /^--sticky does not work with the HTTPS server on .*; terminate TLS in front of recycle$/ })
})
