'use strict'

const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const t = require('tap')
const { Drain } = require('../../lib/worker/drain')
const { Handoff } = require('../../lib/worker/handoff')
const { Sharing } = require('../../lib/worker/sharing')
const { Traffic } = require('../../lib/worker/traffic')

const ENDS = /** @type {const} */ (['moved', 'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'unacked'])

/** A worker with connections that have been served and have lasted; the primary is the test. @param {any} t @param {number} count */
async function scene (t, count) {
  const traffic = new Traffic()
  const server = http.createServer((_, response) => response.end('ok'))
  const gate = /** @type {any} */ ({ key: 'here', server, arriving: null, isPlainHttp: true, isMovable: true, isOpen: true, isOfOurs: () => true, shut () { this.isOpen = false } })
  traffic.watch(gate)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  for (let i = 0; i < count; i++) {
    const client = net.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1')
    t.teardown(() => client.destroy())
    const [connection] = await once(traffic, 'connection')
    Object.assign(connection, { isAdopted: true, idleSince: performance.now() })
  }
  /** @type {Record<string, (message: any) => void>} */
  const receive = {}
  /** @type {number[]} */
  const offers = []
  const link = /** @type {any} */ ({
    isUp: true,
    on: (/** @type {any} */ handlers) => { Object.assign(receive, handlers) },
    send: (/** @type {string} */ type, /** @type {any} */ { id }) => { if (type === 'offer') offers.push(id) }
  })
  const lobby = /** @type {any} */ (Object.assign(new EventEmitter(), { guests: new Set(), movable: [] }))
  const handoff = new Handoff(link, lobby, {
    onMoved () { sharing.onMoved(); drain.onMoved() },
    onBack: () => drain.onBack(),
    onUnacked: () => drain.onUnacked()
  })
  const rooms = /** @type {any} */ ({ link, traffic, lobby, handoff, gates: new Set([gate]), admission: { close () {} } })
  const sharing = rooms.sharing = new Sharing(rooms)
  /** @type {(account: any) => void} */
  let done = () => {}
  /** @type {Promise<any>} */
  const account = new Promise(resolve => { done = resolve })
  const drain = new Drain(rooms, account => done(account))
  return { receive, offers, drain, account }
}

/** @param {{ receive: Record<string, (message: any) => void>, offers: number[] }} scene every offer is taken, until there are no more */
async function takeAll ({ receive, offers }) {
  for (let i = 0; i < offers.length; i++) {
    receive.moved({ id: offers[i] })
    await new Promise(resolve => setImmediate(resolve))
  }
}

t.test('a connection that is on its way when the drain begins, in the same tick even, is counted once', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 3 })
  t.equal(worker.offers.length, 2)
  worker.drain.begin({ reason: 'memory', deadlineMs: 60_000, lingerMs: null, handoff: true })
  await takeAll(worker)
  const account = await worker.account
  t.match(account, { connections: 5, moved: 5 })
  t.equal(ENDS.reduce((sum, end) => sum + account[end], 0), account.connections)
})

t.test('so is one that was on its way before', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 1 })
  await new Promise(resolve => setTimeout(resolve, 20))
  worker.drain.begin({ reason: 'memory', deadlineMs: 60_000, lingerMs: null, handoff: true })
  await takeAll(worker)
  t.match(await worker.account, { connections: 5, moved: 5 })
})
