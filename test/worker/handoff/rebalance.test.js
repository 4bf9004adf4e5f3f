'use strict'

const { once } = require('node:events')
const t = require('tap')
const { workerParts } = require('../../support/worker-parts')

/** A worker with idle connections that have lasted. @param {any} t @param {number} count */
async function scene (t, count) {
  const worker = await workerParts(t)
  const connections = []
  for (let i = 0; i < count; i++) {
    const { connection } = await worker.connect()
    const now = performance.now()
    connections.push(Object.assign(connection, { since: now - 2000, hasResponded: true, idleSince: now }))
  }
  return { ...worker, connections, ids: () => worker.all('move').map(({ id }) => id - connections[0].id + 1) }
}

t.test('two are on their way at a time, each that has moved makes room for the next, and no more go than were asked for', async t => {
  const { receive, moved, ids, connections, tracker } = await scene(t, 7)
  receive.share({ load: 0, most: 0, count: 5 })
  t.same(ids(), [1, 2])
  moved(1)
  t.same(ids(), [1, 2, 3])
  moved(2)
  moved(3)
  t.same(ids(), [1, 2, 3, 4, 5])
  moved(4)
  moved(5)
  t.same(ids(), [1, 2, 3, 4, 5])
  t.equal(connections.filter(({ fate }) => fate === 'moved').length, 5)
  // Nothing is looked at any more
  while (tracker.listenerCount('rest') > 0) await new Promise(resolve => setTimeout(resolve, 10))
  t.equal(ids().length, 5)
})

t.test('a second call counts instead of the first', async t => {
  const { receive, moved, ids, tracker } = await scene(t, 4)
  receive.share({ load: 0, most: 0, count: 4 })
  receive.share({ load: 0, most: 0, count: 1 })
  for (const n of [1, 2, 3]) moved(n)
  t.same(ids(), [1, 2, 3], 'two were on their way already')
  t.ok(tracker.listenerCount('rest') <= 1)
})

t.test('a connection that has not lasted, has had no response or is pinned stays', async t => {
  const { receive, all, connections } = await scene(t, 4)
  connections[0].since = Infinity
  Object.assign(connections[1], { hasResponded: false, idleSince: null })
  connections[2].isPinned = true
  receive.share({ load: 0, most: 0, count: 4 })
  t.equal(all('move').length, 1)
  t.equal(connections[3].stage, 'offered')
})

t.test('a connection on which something has come since it was seen idle stays', async t => {
  const { receive, moved, ids, connections } = await scene(t, 4)
  receive.share({ load: 0, most: 0, count: 4 })
  connections[2].exchanges.push(/** @type {any} */ ({}))
  moved(1)
  t.same(ids(), [1, 2, 4])
  t.equal(connections[2].stage, 'served')
  t.equal(connections[3].stage, 'offered')
  connections[2].exchanges.length = 0
})

t.test('a sibling that is full is not asked again at once: the sender pauses, and offers later', async t => {
  const { receive, moved, ids, connections } = await scene(t, 4)
  receive.share({ load: 0, most: 0, count: 4 })
  const began = performance.now()
  moved(1, false)
  moved(2, false)
  t.same(connections.map(({ stage }) => stage), ['waiting', 'waiting', 'served', 'served'])
  t.same(connections.map(({ isPinned }) => isPinned), [false, false, false, false])
  while (ids().length < 3) await new Promise(resolve => setTimeout(resolve, 10))
  t.ok(performance.now() - began > 200, `after ${performance.now() - began} ms`)
})

t.test('where the worker does not serve, nothing is given away', async t => {
  const { receive, moved, ids, state, emptying } = await scene(t, 4)
  receive.share({ load: 0, most: 0, count: 4 })
  state.become('draining')
  const purpose = { onDeadline () {}, onLook () {}, onEmpty () {} }
  emptying.begin({ handoff: false, deadlineMs: 60_000, replayAfterMs: null }, purpose)
  moved(1)
  moved(2)
  receive.share({ load: 0, most: 0, count: 4 })
  t.same(ids(), [1, 2])
  emptying.retract()
})

t.test('for a load, the connections go that make it, each between two requests, with what it is; others stay', async t => {
  const { receive, moved, all, connections, tracker } = await scene(t, 5)
  connections.forEach((connection, i) => { connection.load = [0, 0.3, 0.2, 0.25, 0][i] })
  connections[1].exchanges.push(/** @type {any} */ ({ response: {} }))
  receive.share({ load: 0.6, most: 0.7, count: 0 })
  t.same(all('move').map(({ parcel: { load } }) => load), [0.25], 'the first is busy, and the last would be too much')
  connections[1].exchanges.length = 0
  tracker.emit('rest', connections[1])
  while (all('move').length < 2) await new Promise(resolve => setTimeout(resolve, 10))
  t.same(all('move').map(({ parcel: { load, byLoad } }) => [load, byLoad]), [[0.25, true], [0.3, true]])
  moved(1)
  moved(2)
  t.same(connections.map(({ fate }) => fate), [null, 'moved', null, 'moved', null])
})

t.test('a connection that has waited for its response for long does not count among those that do nothing', async t => {
  const { receive, connections } = await scene(t, 2)
  connections[0].exchanges.push(/** @type {any} */ ({ response: {} }))
  receive.share({ load: 0, most: 0, count: 1 })
  t.same(connections.map(({ stage }) => stage), ['served', 'offered'])
  connections[0].exchanges.length = 0
})

t.test('an upgraded connection goes when the app gives its state, unless the app or its latest move keeps it, and no more at a time than may', async t => {
  const { receive, moved, all, connections, server, tracker } = await scene(t, 6)
  const clients = await Promise.all(connections.map(async ({ socket }) => {
    const upgraded = once(server, 'upgrade')
    socket.emit('data', Buffer.from('GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: game\r\n\r\n'))
    return (await upgraded)[1]
  }))
  t.same(connections.map(({ isForeign }) => isForeign), connections.map(() => true))
  let isReady = false
  const pack = () => isReady ? { kind: 'game', state: Buffer.alloc(0), unread: Buffer.alloc(0) } : null
  for (const connection of connections) Object.assign(connection, { pack, mayRebalance: true })
  connections[0].pack = null
  connections[1].mayRebalance = false
  connections[2].isAdopted = true
  receive.share({ load: 0, most: 0, count: 6, streams: 0 })
  t.same(tracker.listenerCount('rest'), 0, 'as in a rollout')
  receive.share({ load: 0, most: 0, count: 6, streams: 2 })
  t.equal(all('move').length, 0)
  isReady = true
  while (all('move').length < 2) await new Promise(resolve => setTimeout(resolve, 10))
  t.same(connections.map(({ stage }) => stage), ['served', 'served', 'served', 'offered', 'offered', 'served'])
  moved(1, false)
  moved(2)
  connections[2].since -= 10_000
  receive.share({ load: 0, most: 0, count: 6, streams: 1 })
  t.equal(connections[2].stage, 'offered')
  for (const socket of clients) socket.destroy()
})
