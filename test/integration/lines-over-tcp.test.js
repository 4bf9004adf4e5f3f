'use strict'

/** Connections of a protocol that never was HTTP. */

const net = require('node:net')
const { once } = require('node:events')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { startFleet } = require('../support/fleet')

/** @param {any} t tap's @param {number} port */
async function open (t, port) {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const ask = async (/** @type {string} */ line) => {
    socket.write(line)
    const [text] = await once(socket, 'data')
    const [count, pid, body] = text.trim().split(' ')
    return { count: Number(count), pid: Number(pid), body }
  }
  return { socket, ask }
}

t.test('they go with their state, and with half a line', async t => {
  const { port, supervisor, events } = await startFleet(t, 'lines.js', { workers: 2 })
  const clients = await Promise.all(Array.from({ length: 8 }, () => open(t, port)))
  const before = await Promise.all(clients.map(({ ask }) => ask('one\n')))
  for (const { socket } of clients) socket.write('tw')
  await delay(100)
  await supervisor.reload()
  const after = await Promise.all(clients.map(({ ask }) => ask('o\n')))
  t.same(after.map(({ count, body }) => ({ count, body })), Array(8).fill({ count: 2, body: 'TWO' }))
  t.ok(after.every(({ pid }) => before.every(one => one.pid !== pid)))
  t.equal(events.all('recycled').reduce((sum, { moved }) => sum + moved, 0), 8)
  for (const { socket } of clients) socket.end()
  await Promise.all(clients.map(({ socket }) => once(socket, 'close')))
})

t.test('a worker collects its garbage out of rotation: they go to its sibling before', async t => {
  const { port, supervisor } = await startFleet(t, 'lines.js', { workers: 2 })
  const { ask } = await open(t, port)
  const { pid } = await ask('one\n')
  const { slot } = supervisor.status().workers.find(worker => worker.pid === pid)
  await supervisor.gc(slot)
  const after = await ask('two\n')
  t.match(after, { count: 2, body: 'TWO' })
  t.not(after.pid, pid)
})

t.test('one whose state is too large, or whose function throws, stays to the drain timeout, and the journal says why', async t => {
  const { port, supervisor, events } = await startFleet(t, 'lines.js', { workers: 1, drainTimeout: '500ms' })
  for (const [line, error] of /** @type {const} */ ([['large\n', /^the state of a connection has 2000\d+ bytes, and moves with 1000000 at the most: it stays in its worker$/], ['throws\n', /^no state for you$/]])) {
    const { socket, ask } = await open(t, port)
    await ask(line)
    const closed = once(socket, 'close')
    t.match(await supervisor.recycle(0), { moved: 0, cut: 1, cuts: [{ upgraded: true }] })
    await closed
    t.match(events.all('worker.threw').at(-1), { where: 'movable', error })
  }
})

t.test('where no worker takes them they stay, as without the call', async t => {
  process.env.TAKES = '0'
  t.teardown(() => { delete process.env.TAKES })
  const { port, supervisor } = await startFleet(t, 'lines.js', { workers: 2, drainTimeout: '700ms' })
  const { socket, ask } = await open(t, port)
  const { pid } = await ask('one\n')
  const reloaded = supervisor.reload()
  await delay(200)
  t.match(await ask('two\n'), { count: 2, pid })
  await reloaded
  t.equal(socket.destroyed || socket.readableEnded || (await once(socket, 'close'), true), true)
})
