'use strict'

const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const t = require('tap')
const { Drain } = require('../../../lib/worker/leaving/drain')
const { Handoff } = require('../../../lib/worker/handoff/handoff')
const { Rebalance } = require('../../../lib/worker/handoff/rebalance')
const { ConnectionTracker } = require('../../../lib/worker/connections/tracker')

const ENDS = /** @type {const} */ (['moved', 'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'unacked'])

/** A worker with connections that have been served and have lasted; the primary is the test. @param {any} t @param {number} count */
async function scene (t, count) {
  const tracker = new ConnectionTracker()
  const server = http.createServer((_, response) => response.end('ok'))
  const acceptor = /** @type {any} */ ({ key: 'here', server, arriving: null, isPlainHttp: true, isMovable: true, isOpen: true, isOfOurs: () => true, shut () { this.isOpen = false } })
  tracker.watch(acceptor)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  for (let i = 0; i < count; i++) {
    const client = net.connect(/** @type {net.AddressInfo} */ (server.address()).port, '127.0.0.1')
    t.teardown(() => client.destroy())
    const [connection] = await once(tracker, 'connection')
    Object.assign(connection, { isAdopted: true, idleSince: performance.now() })
  }
  /** @type {Record<string, (message: any) => void>} */
  const receive = {}
  /** @type {number[]} */
  const offers = []
  const channel = /** @type {any} */ ({
    isUp: true,
    on: (/** @type {any} */ handlers) => { Object.assign(receive, handlers) },
    send: (/** @type {string} */ type, /** @type {any} */ { id }) => { if (type === 'offer') offers.push(id) }
  })
  const inbox = /** @type {any} */ (Object.assign(new EventEmitter(), { entries: new Set(), movable: [] }))
  const handoff = new Handoff(channel, inbox, {
    onMoved () { rebalance.onMoved(); drain.onMoved() },
    onBack: () => drain.onBack(),
    onUnacked: () => drain.onUnacked()
  })
  const deps = /** @type {any} */ ({ channel, tracker, inbox, handoff, acceptors: new Set([acceptor]), admission: { close () {} } })
  const rebalance = deps.rebalance = new Rebalance(deps)
  /** @type {(account: any) => void} */
  let done = () => {}
  /** @type {Promise<any>} */
  const account = new Promise(resolve => { done = resolve })
  const drain = new Drain(deps, account => done(account))
  return { receive, offers, drain, account }
}

/** @param {{ receive: Record<string, (message: any) => void>, offers: number[] }} scene every offer is accepted, until there are no more */
async function takeAll ({ receive, offers }) {
  for (let i = 0; i < offers.length; i++) {
    receive.moved({ id: offers[i] })
    await new Promise(resolve => setImmediate(resolve))
  }
}

t.test('a connection that is moving when the drain begins, even in the same tick, is counted once', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 3 })
  t.equal(worker.offers.length, 2)
  worker.drain.begin({ reason: 'memory', deadlineMs: 60_000, lingerMs: null, handoff: true })
  await takeAll(worker)
  const account = await worker.account
  t.match(account, { connections: 5, moved: 5 })
  t.equal(ENDS.reduce((sum, end) => sum + account[end], 0), account.connections)
})

t.test('and so is one that was moving before', async t => {
  const worker = await scene(t, 5)
  worker.receive.share({ count: 1 })
  await new Promise(resolve => setTimeout(resolve, 20))
  worker.drain.begin({ reason: 'memory', deadlineMs: 60_000, lingerMs: null, handoff: true })
  await takeAll(worker)
  t.match(await worker.account, { connections: 5, moved: 5 })
})
