'use strict'

/** Clients of Socket.IO, by its own client library, while their workers are replaced. */

const { once } = require('node:events')
const { io } = require('socket.io-client')
const t = require('tap')
const { startFleet } = require('../support/fleet')

/** @param {any} t tap's @param {number} port @param {any} how */
async function open (t, port, how) {
  const socket = io(`http://127.0.0.1:${port}`, { auth: { name: 'me' }, forceNew: true, ...how })
  /** @type {string[]} */
  const heard = []
  socket.on('connect', () => heard.push(`connect ${socket.recovered}`)).on('disconnect', reason => heard.push(`disconnect ${reason}`))
  socket.on('question', acknowledge => setTimeout(acknowledge, 50, 'an answer'))
  t.teardown(() => {
    socket.io.reconnection(false) // a second namespace would have it come back
    socket.io.engine.close()
  })
  await untilSo(socket)
  return { socket, heard }
}

/** @param {any} socket */
async function untilSo (socket) {
  if (!socket.connected) await new Promise(resolve => socket.once('connect', resolve))
}

t.test('with a WebSocket they go: ids, rooms, data, two namespaces, and acknowledgements under way; no disconnect', async t => {
  const { port, supervisor, events } = await startFleet(t, 'socket-io.js', { workers: 2 })
  const { socket, heard } = await open(t, port, { transports: ['websocket'] })
  const chat = socket.io.socket('/chat')
  chat.on('disconnect', reason => heard.push(`disconnect of /chat ${reason}`))
  await untilSo(chat)
  const { id } = socket
  const first = await socket.emitWithAck('echo', 'one')
  await socket.emitWithAck('join', 'a room')
  let { pid } = first
  for (let i = 0; i < 2; i++) {
    const slow = socket.emitWithAck('slow', 'late')
    const told = once(socket, 'told')
    socket.emit('ask')
    await supervisor.reload()
    t.match(await slow, { pid, text: 'late' })
    t.match((await told)[0], { pid, text: 'an answer' })
    const next = await socket.emitWithAck('echo', 'next')
    t.match(next, { id, count: 4 + 3 * i, isRecovered: true, rooms: [id, 'a room'], auth: 'me', text: 'next' })
    t.not(next.pid, pid)
    pid = next.pid
    const said = once(socket, 'said')
    socket.emit('room', 'a room', 'hello')
    t.same((await said)[0], 'hello')
    const bytes = await chat.emitWithAck('bytes', Buffer.alloc(100_000, i))
    t.ok(Buffer.isBuffer(bytes) && bytes.equals(Buffer.alloc(100_000, i)))
  }
  t.same(heard.filter(what => what.startsWith('disconnect')), [])
  t.equal(socket.id, id)
  for (const line of events.all('recycled')) t.match(line, { cut: 0 })
})

t.test('many of them, all the time: nothing is lost, doubled or out of order', async t => {
  const { port, supervisor } = await startFleet(t, 'socket-io.js', { workers: 2 })
  const clients = await Promise.all(Array.from({ length: 10 }, () => open(t, port, { transports: ['websocket'] })))
  const run = { isOver: false }
  const runs = clients.map(async ({ socket }) => {
    let count = 0
    while (!run.isOver) {
      const [one, two] = await Promise.all([socket.emitWithAck('echo', 'a'), socket.emitWithAck('echo', 'b')])
      if (one.count !== ++count || two.count !== ++count) t.same([one.count, two.count], [count - 1, count])
      await new Promise(resolve => setTimeout(resolve, Math.random() * 150))
    }
    return count
  })
  for (let i = 0; i < 2; i++) await supervisor.reload()
  run.isOver = true
  const counts = await Promise.all(runs)
  t.ok(counts.every(count => count > 5), `${counts.reduce((sum, count) => sum + count, 0)} messages`)
  t.same(clients.flatMap(({ heard }) => heard.filter(what => what.startsWith('disconnect'))), [])
})

t.test('with --sticky: one that has upgraded from polling goes; one that polls comes back by itself', async t => {
  const { port, supervisor, events } = await startFleet(t, 'socket-io.js', { workers: 2, sticky: 'query:sid' })
  const upgraded = await open(t, port, {})
  if (upgraded.socket.io.engine.transport.name !== 'websocket') await new Promise(resolve => upgraded.socket.io.engine.once('upgrade', resolve))
  const polling = await open(t, port, { transports: ['polling'], reconnectionDelay: 50 })
  await upgraded.socket.emitWithAck('echo', 'one')
  await polling.socket.emitWithAck('echo', 'one')
  const back = new Promise(resolve => polling.socket.once('disconnect', () => polling.socket.once('connect', resolve)))
  await Promise.all([supervisor.reload(), back])
  t.match(await upgraded.socket.emitWithAck('echo', 'two'), { count: 2, id: upgraded.socket.id, isRecovered: true })
  t.same(upgraded.heard.filter(what => what.startsWith('disconnect')), [])
  t.match(await polling.socket.emitWithAck('echo', 'two'), { text: 'two' })
  await supervisor.reload()
  t.match(await upgraded.socket.emitWithAck('echo', 'three'), { count: 3, id: upgraded.socket.id, isRecovered: true })
  const recycled = events.all('recycled')
  for (const line of recycled) t.match(line, { cut: 0 })
  const [first, ...moves] = upgraded.heard
  t.equal(first, 'connect false')
  t.same(new Set(moves), new Set(['connect true']))
  // The replacement may have been too busy to answer: then it has gone by the other worker; where its session had to
  // be opened to all, it is placed as any other
  const { takenBack, refused, misplaced, moves: { number } } = supervisor.status().totals
  const detours = takenBack + refused + (misplaced > 0 ? number : 0)
  t.ok(moves.length >= 2 && moves.length <= 2 + detours, `once in each reload: ${moves.length} moves, ${JSON.stringify(supervisor.status().totals)}`)
})

t.test('an option that is missing is named', async t => {
  const { moveSocketIo } = require('../../lib/worker/websockets/socket-io')
  const { moveWebSockets } = require('../../lib/worker/websockets/web-sockets')
  const worker = require('../../lib/worker')
  const said = { stays () {}, restarted () {}, heard () {} }
  const api = { movable () {}, onMoved () {}, onDrain () {}, onAlone () {}, said }
  const socketIO = (/** @type {any} */ io) => moveSocketIo(io, {}, api)
  const webSockets = (/** @type {any} */ server) => moveWebSockets(server, {}, api)
  t.doesNotThrow(() => [worker.socketIO(undefined), worker.webSockets(undefined)], 'outside a fleet they do nothing')
  const http = require('node:http')
  const { Server } = require('socket.io')
  for (const bad of [undefined, 7, {}]) {
    t.throws(() => socketIO(bad), { name: 'TypeError', message: /^socketIO\(\) takes a Server of the package socket\.io; it is / })
    t.throws(() => webSockets(bad), { name: 'TypeError', message: /^webSockets\(\) takes a WebSocketServer of the package ws; it is / })
  }
  t.throws(() => socketIO(new Server()), { message: 'socketIO() is to be called when Socket.IO is attached to its HTTP server' })
  const server = new Server(http.createServer())
  t.throws(() => socketIO(server), { message: /connectionStateRecovery: \{\}/ })
  for (const how of [{ parser: require('socket.io-parser') }, { perMessageDeflate: true }]) {
    const other = new Server(http.createServer(), { connectionStateRecovery: {}, ...how })
    const before = other.engine.listenerCount('headers')
    socketIO(other)
    t.equal(other.engine.listenerCount('headers'), before, `with ${Object.keys(how)} they stay`)
    other.close()
  }
  server.close()
})
