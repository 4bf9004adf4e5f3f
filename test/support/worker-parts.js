'use strict'

/** The parts of a worker around a real HTTP server and real connections; the primary is the test. */

const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { detachHandle } = require('../../lib/core/internals')
const { Handoff } = require('../../lib/worker/handoff/handoff')
const { Inbox } = require('../../lib/worker/handoff/inbox')
const { offerRebalance } = require('../../lib/worker/handoff/rebalance')
const { Sender } = require('../../lib/worker/handoff/sender')
const { ConnectionTracker } = require('../../lib/worker/connections/tracker')
const { Emptying } = require('../../lib/worker/leaving/emptying')
const { WorkerState } = require('../../lib/worker/state')

const KEY = 'here'

/** A channel; `receive` has the handlers of what the primary sends, `sent` what it gets. */
function fakeChannel () {
  /** @type {Record<string, (fields: any, handle?: any) => void>} */
  const receive = {}
  /** @type {any[]} */
  const sent = []
  const channel = {
    isUp: true,
    expect () {},
    flush () {},
    on: (/** @type {any} */ handlers) => { Object.assign(receive, handlers) },
    answer (/** @type {Record<string, (fields: any, answer: any, handle: any) => void>} */ handlers) {
      for (const [type, handler] of Object.entries(handlers)) {
        receive[type] = ({ id, ...fields }, handle) =>
          handler(fields, (/** @type {any} */ answer) => channel.send('answer', { id, ...answer }), handle)
      }
    },
    send (
      /** @type {string} */ type, /** @type {any} */ fields, /** @type {any} */ handle,
      /** @type {(error: Error) => void} */ failed = () => {}
    ) {
      if (channel.isUp) sent.push({ type, ...fields, ...(handle && { handle }) })
      else process.nextTick(failed, new Error('the primary has exited'))
    }
  }
  return {
    channel: /** @type {any} */ (channel),
    receive,
    sent,
    all: (/** @type {string} */ type) => sent.filter(message => message.type === type)
  }
}

/**
 * @param {any} t tap's
 * @param {import('node:http').RequestListener} [listener]
 */
async function workerParts (t, listener = (request, response) => response.end(request.url)) {
  const { channel, ...primary } = fakeChannel()
  const tracker = new ConnectionTracker()
  const server = http.createServer(listener)
  const acceptor = /** @type {any} */ ({
    key: KEY,
    server,
    isMovable: true,
    isOpen: true,
    isClosed: false,
    isOfOurs: () => true,
    facade: {},
    handleOf: (/** @type {any} */ handle) => handle,
    shut () { this.isOpen = false },
    open () { this.isOpen = true },
    accept: (/** @type {any} */ handle) => /** @type {any} */ (server)._handle.onconnection(0, handle)
  })
  tracker.watch(acceptor)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const acceptors = new Set([acceptor])
  const state = new WorkerState()
  const admission = /** @type {any} */ ({
    isAtCeiling: false,
    consider () {},
    shut: () => acceptor.shut(),
    pause: () => acceptor.shut(),
    open: () => acceptor.open(),
    shutEmpty (/** @type {() => void} */ done) { acceptor.shut(); done() }
  })
  const inbox = new Inbox({ tracker })
  const handoff = new Handoff({ channel, state, acceptors, admission, tracker, inbox })
  const sender = new Sender({ tracker, handoff })
  const emptying = new Emptying({ tracker, acceptors, sender })
  offerRebalance({ channel, state, tracker, sender })

  const elsewhere = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  t.teardown(() => {
    sender.end()
    handoff.relinquish()
    for (const { socket } of tracker.connections) socket?.destroy()
    server.closeAllConnections()
    server.close()
    elsewhere.close()
  })
  /** @param {net.Server} to */
  const client = to => {
    const socket = net.connect(/** @type {net.AddressInfo} */ (to.address()).port, '127.0.0.1')
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
    return socket
  }
  return {
    ...primary,
    channel,
    /** The primary's word on the `n`th connection that was offered. */
    moved (n = 1, ok = true, isStalled = false) {
      primary.receive.moved({ id: primary.all('move')[n - 1].id, ok, ...!ok && { isStalled } })
    },
    state,
    tracker,
    server: /** @type {any} */ (server),
    acceptor,
    acceptors,
    admission,
    inbox,
    handoff,
    sender,
    emptying,
    /** A client that this worker has accepted, and its connection. */
    async connect () {
      const accepted = once(tracker, 'connection')
      const socket = client(server)
      return { client: socket, connection: (await accepted)[0] }
    },
    /** A client that another process has accepted, and the handle of its connection. */
    async connectElsewhere () {
      const socket = client(elsewhere)
      const [accepted] = await once(elsewhere, 'connection')
      return { client: socket, handle: detachHandle(accepted) }
    }
  }
}

/**
 * Resolves with what a client has received once it contains `end`.
 *
 * @param {net.Socket} client @param {string} end
 * @returns {Promise<string>}
 */
async function received (client, end) {
  let text = ''
  while (!text.includes(end)) text += String((await once(client, 'data'))[0])
  return text
}

/** A loop's turn, and what was to be done in it. */
const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))

module.exports = { workerParts, fakeChannel, received, turn, KEY }
