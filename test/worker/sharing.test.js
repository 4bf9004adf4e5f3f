'use strict'

const { EventEmitter, once } = require('node:events')
const net = require('node:net')
const t = require('tap')
const { Connection } = require('../../lib/worker/connection')
const { Handoff } = require('../../lib/worker/handoff')
const { Sharing } = require('../../lib/worker/sharing')

/** A worker with idle connections that have lasted, and a primary that is the test. @param {any} t @param {number} count */
async function scene (t, count) {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gate = /** @type {any} */ ({ key: 'here', server, isMovable: true, isPlainHttp: true })
  /** @type {Connection[]} */
  const connections = []
  for (let i = 0; i < count; i++) {
    const client = net.connect(/** @type {import('node:net').AddressInfo} */ (server.address()).port, '127.0.0.1')
    t.teardown(() => client.destroy())
    const [socket] = await once(server, 'connection')
    const connection = new Connection(socket, gate)
    connection.isAdopted = true
    connection.idleSince = performance.now()
    connections.push(connection)
  }
  t.teardown(() => server.close())
  /** @type {Record<string, (message: any) => void>} */
  const receive = {}
  /** @type {{ id: number }[]} */
  const offers = []
  const link = /** @type {any} */ ({
    isUp: true,
    on: (/** @type {any} */ handlers) => { Object.assign(receive, handlers) },
    send: (/** @type {string} */ type, /** @type {any} */ fields) => { if (type === 'offer') offers.push(fields) }
  })
  const lobby = /** @type {any} */ ({ guests: new Set(), movable: [] })
  const traffic = /** @type {any} */ (Object.assign(new EventEmitter(), {
    connections: new Set(connections),
    release () {},
    idle: () => connections.filter(({ fate, isQuiet }) => fate === null && isQuiet)
  }))
  const handoff = new Handoff(link, lobby, { onMoved: () => sharing.onMoved(), onBack () {}, onUnacked () {} })
  const sharing = new Sharing(/** @type {any} */ ({ link, traffic, lobby, handoff, gates: new Set([gate]) }))
  t.teardown(() => sharing.stop())
  return { receive, offers, connections, sharing, traffic, ids: () => offers.map(({ id }) => id) }
}

t.test('two are on their way at a time, each that has moved makes room for the next, and no more go than were asked for', async t => {
  const { receive, ids, connections, traffic } = await scene(t, 7)
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
  t.equal(traffic.listenerCount('rest'), 0, 'nothing is looked at any more')
})

t.test('a second call counts instead of the first', async t => {
  const { receive, ids, traffic } = await scene(t, 4)
  receive.share({ count: 4 })
  receive.share({ count: 1 })
  for (const id of [1, 2, 3]) receive.moved({ id })
  t.same(ids(), [1, 2, 3], 'two were on their way already')
  t.ok(traffic.listenerCount('rest') <= 1)
})

t.test('who has not lasted, has had no response or is pinned stays', async t => {
  const { receive, offers, connections } = await scene(t, 4)
  connections[0].isAdopted = false
  connections[1].idleSince = null
  connections[2].isPinned = true
  receive.share({ count: 4 })
  t.equal(offers.length, 1)
  t.equal(connections[3].fate, 'moved')
})

t.test('a connection on which something has come since it was seen idle stays', async t => {
  const { receive, ids, connections } = await scene(t, 4)
  receive.share({ count: 4 })
  connections[2].exchanges.push(/** @type {any} */ ({}))
  receive.moved({ id: 1 })
  t.same(ids(), [1, 2, 3])
  t.equal(connections[2].fate, null)
  t.equal(connections[3].fate, 'moved')
})

t.test('once the worker leaves, nothing more is given away', async t => {
  const { receive, ids, sharing } = await scene(t, 4)
  receive.share({ count: 4 })
  sharing.stop()
  receive.moved({ id: 1 })
  receive.moved({ id: 2 })
  t.same(ids(), [1, 2])
})
