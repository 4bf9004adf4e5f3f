'use strict'

const { EventEmitter, once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { Connection } = require('../../../lib/worker/connections/connection')
const { Handoff } = require('../../../lib/worker/handoff/handoff')
const { Rebalance } = require('../../../lib/worker/handoff/rebalance')

/** A worker with idle connections that have lasted, and a primary that is the test. @param {any} t @param {number} count */
async function scene (t, count) {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const acceptor = /** @type {any} */ ({ key: 'here', server, isMovable: true, isPlainHttp: true })
  /** @type {Connection[]} */
  const connections = []
  for (let i = 0; i < count; i++) {
    const client = net.connect(/** @type {import('node:net').AddressInfo} */ (server.address()).port, '127.0.0.1')
    t.teardown(() => client.destroy())
    const [socket] = await once(server, 'connection')
    const connection = new Connection(socket, acceptor)
    connection.isAdopted = true
    connection.idleSince = performance.now()
    connections.push(connection)
  }
  t.teardown(() => server.close())
  /** @type {Record<string, (message: any) => void>} */
  const receive = {}
  /** @type {{ id: number }[]} */
  const offers = []
  const channel = /** @type {any} */ ({
    isUp: true,
    on: (/** @type {any} */ handlers) => { Object.assign(receive, handlers) },
    send: (/** @type {string} */ type, /** @type {any} */ fields) => { if (type === 'offer') offers.push(fields) }
  })
  const inbox = /** @type {any} */ ({ entries: new Set(), movable: [] })
  const tracker = /** @type {any} */ (Object.assign(new EventEmitter(), {
    connections: new Set(connections),
    release () {},
    idle: () => connections.filter(({ fate, isQuiet }) => fate === null && isQuiet)
  }))
  const handoff = new Handoff(channel, inbox, { onMoved: () => rebalance.onMoved(), onBack () {}, onUnacked () {} })
  const rebalance = new Rebalance(/** @type {any} */ ({ channel, tracker, inbox, handoff, acceptors: new Set([acceptor]) }))
  t.teardown(() => rebalance.stop())
  return { receive, offers, connections, rebalance, tracker, ids: () => offers.map(({ id }) => id) }
}

t.test('two connections move at a time, each one moved makes room for the next, and no more move than requested', async t => {
  const { receive, ids, connections, tracker } = await scene(t, 7)
  receive.share({ count: 5 })
  t.same(ids(), [1, 2])
  receive.moved({ id: 1 })
  t.same(ids(), [1, 2, 3])
  receive.moved({ id: 2 })
  receive.moved({ id: 3 })
  t.same(ids(), [1, 2, 3, 4, 5])
  receive.moved({ id: 4 })
  receive.moved({ id: 5 })
  t.same(ids(), [1, 2, 3, 4, 5])
  t.equal(connections.filter(({ fate }) => fate === 'moved').length, 5)
  await new Promise(resolve => setTimeout(resolve, 150))
  t.equal(ids().length, 5)
  t.equal(tracker.listenerCount('rest'), 0, 'no connection is checked any more')
})

t.test('a second call counts instead of the first', async t => {
  const { receive, ids, tracker } = await scene(t, 4)
  receive.share({ count: 4 })
  receive.share({ count: 1 })
  for (const id of [1, 2, 3]) receive.moved({ id })
  t.same(ids(), [1, 2, 3], 'two connections were moving already')
  t.ok(tracker.listenerCount('rest') <= 1)
})

t.test('a connection that is new, has had no response or is pinned stays', async t => {
  const { receive, offers, connections } = await scene(t, 4)
  connections[0].isAdopted = false
  connections[1].idleSince = null
  connections[2].isPinned = true
  receive.share({ count: 4 })
  t.equal(offers.length, 1)
  t.equal(connections[3].fate, 'moved')
})

t.test('a connection that received bytes since it was seen idle stays', async t => {
  const { receive, ids, connections } = await scene(t, 4)
  receive.share({ count: 4 })
  connections[2].exchanges.push(/** @type {any} */ ({}))
  receive.moved({ id: 1 })
  t.same(ids(), [1, 2, 3])
  t.equal(connections[2].fate, null)
  t.equal(connections[3].fate, 'moved')
})

t.test('once the worker drains, no more connections are moved', async t => {
  const { receive, ids, rebalance } = await scene(t, 4)
  receive.share({ count: 4 })
  rebalance.stop()
  receive.moved({ id: 1 })
  receive.moved({ id: 2 })
  t.same(ids(), [1, 2])
})
