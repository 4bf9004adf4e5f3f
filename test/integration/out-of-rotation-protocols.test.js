'use strict'

const t = require('tap')
const http2 = require('node:http2')
const { once } = require('node:events')
const WebSocket = require('ws')
const { collectAllAlong } = require('../support/collecting')
const { startFleet } = require('../support/fleet')
const { Load } = require('../support/load')

const COLLECTIONS = 4

for (const [name, options] of /** @type {const} */ ([['over TLS', { args: ['--tls'] }], ['with --no-handoff', { handoff: false }]])) {
  t.test(`${name} connections do not move: busy ones get Connection: close, and no request fails or waits`, async t => {
    const { port, supervisor, told } = await startFleet(t, 'memory.js', { workers: 3, ...options })
    const load = new Load({ port, connections: 10, https: name === 'over TLS' ? { rejectUnauthorized: false } : undefined })
    t.same(await collectAllAlong(supervisor, [load], COLLECTIONS), [])
    const { requests, failures, sockets } = await load.stop()
    t.same(failures, [], `of ${requests}`)
    t.ok(sockets > 10)
    t.same(told.all('collection').filter(message => message.sockets > 0), [])
  })
}

t.test('HTTP/2 sessions get GOAWAY, and no stream fails', async t => {
  const { port, supervisor } = await startFleet(t, 'streams.js', { workers: 3 })
  const state = { isStopping: false, answered: 0 }
  const failures = []
  /** Opens a new session when the old one has received GOAWAY. */
  const walk = async () => {
    let session = null
    while (!state.isStopping) {
      if (session === null || session.closed || session.saysGoodbye) {
        session?.close()
        const next = session = http2.connect(`http://127.0.0.1:${port}`)
        next.on('error', () => {})
        next.on('goaway', () => { next.saysGoodbye = true })
        await once(next, 'connect')
      }
      const of = session
      const stream = of.request({ ':path': '/' })
      let status = 0
      stream.on('response', headers => { status = headers[':status'] })
      stream.resume()
      await once(stream, 'close').catch(async error => {
        await new Promise(setImmediate)
        // A request that the client did not send, because it had just read the notice, is no failure of the server.
        if (!(of.saysGoodbye && error.message.includes('REFUSED_STREAM'))) failures.push(error.message)
        status = 200
      })
      if (status !== 200) failures.push(status)
      state.answered++
    }
    session?.destroy()
  }
  const walkers = Array.from({ length: 6 }, walk)
  const after = async (/** @type {number} */ count) => {
    const until = state.answered + count
    while (state.answered < until) await new Promise(resolve => setTimeout(resolve, 5))
  }
  t.same(await collectAllAlong(supervisor, [{ after }], COLLECTIONS), [])
  state.isStopping = true
  await Promise.all(walkers)
  t.same(failures, [], `of ${state.answered}`)
})

t.test('WebSocket: the worker is not taken out of rotation, and no socket is told', async t => {
  const { port, supervisor, events } = await startFleet(t, 'apps/websocket.js', { workers: 2 })
  const load = new Load({ port, connections: 8 })
  const sockets = await Promise.all(Array.from({ length: 16 }, async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`)
    await once(socket, 'open')
    return socket
  }))
  for (let i = 0; i < 6; i++) {
    await load.after(20)
    await supervisor.gc(i % 2).catch((/** @type {any} */ error) => { if (!/upgraded or raw/.test(error.message)) throw error })
  }
  const { requests, failures, sockets: opened } = await load.stop()
  t.same(failures, [], `of ${requests}`)
  t.equal(opened, 8)
  t.ok(events.all('worker.in-rotation').some(line => /upgraded or raw/.test(line.why)))
  for (const [i, socket] of sockets.entries()) {
    t.equal(socket.readyState, WebSocket.OPEN)
    socket.send(`${i}`)
    t.equal(String((await once(socket, 'message'))[0]), `${i}`)
    socket.terminate()
  }
})
