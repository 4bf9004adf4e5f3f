'use strict'

const { EventEmitter, once } = require('node:events')
const t = require('tap')
const { OutOfRotation } = require('../../../lib/worker/leaving/out-of-rotation')

/** The dependencies of a worker that matter here, and its channel. */
function scene () {
  /** @type {Record<string, (fields: any) => void>} */
  const receive = {}
  const sent = new EventEmitter()
  /** @type {any[]} */
  const answers = []
  const channel = {
    isUp: true,
    on: (/** @type {any} */ handlers) => Object.assign(receive, handlers),
    send (/** @type {string} */ type, /** @type {any} */ fields) {
      answers.push({ type, ...fields })
      sent.emit(type, fields)
    }
  }
  const acceptor = { isOpen: true, isPlainHttp: true, isMovable: true, server: {} }
  const tracker = Object.assign(new EventEmitter(), { connections: new Set(), inFlight: 0, release: (/** @type {any} */ connection) => tracker.connections.delete(connection), idle: () => [...tracker.connections].filter(c => c.isQuiet) })
  const inbox = new class extends EventEmitter {
    /** @type {Set<any>} */
    entries = new Set()
    get movable () {
      return [...this.entries].filter(entry => !entry.isPinned)
    }
  }()
  const handoff = {
    outstanding: new Map(),
    hasRoom: true,
    offer (/** @type {any} */ connection) {
      handoff.outstanding.set(connection, connection)
    },
    offerEntry (/** @type {any} */ entry) {
      inbox.entries.delete(entry)
      handoff.outstanding.set(entry, entry)
    }
  }
  const admission = { isOut: false, leave () { this.isOut = true; acceptor.isOpen = false }, enter () { this.isOut = false; acceptor.isOpen = true } }
  const rebalance = { stop () {} }
  const outOfRotation = new OutOfRotation(/** @type {any} */ ({ channel, tracker, acceptors: new Set([acceptor]), inbox, handoff, admission, rebalance }))
  /** @param {any} [more] */
  const connect = more => {
    const socket = { bytesRead: 0, destroyed: false, writableEnded: false }
    const connection = { acceptor, socket, secure: null, session: null, isPinned: false, isForeign: false, isQuiet: true, isEnding: false, isAnnounced: false, exchanges: [], ...more }
    tracker.connections.add(connection)
    return connection
  }
  const moved = (/** @type {any} */ what) => {
    handoff.outstanding.delete(what)
    outOfRotation.onMoved()
  }
  return { receive, sent, answers, acceptor, tracker, inbox, handoff, admission, outOfRotation, connect, moved }
}

const ORDER = { id: 1, deadlineMs: 60_000, handoff: true }

/** A request whose response has not begun. */
function exchange () {
  return { request: { headers: {} }, response: { headersSent: false, shouldKeepAlive: true } }
}

t.test('a worker without connections is out of rotation at once', async t => {
  const { receive, answers, admission, acceptor } = scene()
  receive['leave-rotation'](ORDER)
  t.match(answers, [{ type: 'answer', id: 1, why: null, moved: 0 }])
  t.ok(admission.isOut)
  t.notOk(acceptor.isOpen)
  receive.rejoin({})
  t.notOk(admission.isOut)
  t.ok(acceptor.isOpen)
})

t.test('it is out of rotation when the last offer has been accepted, not before', async t => {
  const { receive, answers, connect, moved, inbox, handoff } = scene()
  const connection = connect()
  const entry = { isPinned: false }
  inbox.entries.add(entry)
  receive['leave-rotation'](ORDER)
  t.same([...handoff.outstanding.keys()], [connection, entry])
  moved(connection)
  t.same(answers, [])
  moved(entry)
  t.match(answers, [{ id: 1, why: null, moved: 2 }])
})

t.test('a worker with a foreign connection refuses at once', async t => {
  const { receive, answers, admission, connect, handoff } = scene()
  connect()
  connect({ isForeign: true })
  receive['leave-rotation'](ORDER)
  t.match(answers, [{ id: 1, why: '1 of its connections are upgraded or raw, and cannot be moved', moved: 0 }])
  t.notOk(admission.isOut)
  t.equal(handoff.outstanding.size, 0)
})

t.test('a TLS handshake that is under way is no foreign connection', async t => {
  const { receive, answers, connect, acceptor } = scene()
  acceptor.isMovable = false
  connect({ isForeign: true, isQuiet: false, acceptor: { ...acceptor, server: { setSecureContext () {} } } })
  receive['leave-rotation'](ORDER)
  t.same(answers, [])
  receive.rejoin({})
  t.match(answers, [{ why: 'it was called back' }])
})

t.test('a connection that becomes foreign meanwhile ends it', async t => {
  const { receive, sent, admission, connect } = scene()
  const connection = connect({ isQuiet: false })
  receive['leave-rotation'](ORDER)
  t.ok(admission.isOut)
  connection.isForeign = true
  const [{ why }] = await once(sent, 'answer')
  t.match(why, /upgraded/)
  t.notOk(admission.isOut)
})

t.test('at the timeout the worker is back in rotation, and reports what is left; a Connection: close not sent yet is not sent', async t => {
  const { receive, sent, tracker, admission, connect, acceptor } = scene()
  acceptor.isMovable = false
  const [saidNothing, hasSaid] = [exchange(), exchange()]
  const connection = connect({ isQuiet: false, exchanges: [saidNothing] })
  const other = connect({ isQuiet: false, exchanges: [hasSaid] })
  tracker.inFlight = 2
  receive['leave-rotation']({ ...ORDER, deadlineMs: 20 })
  t.equal(saidNothing.response.shouldKeepAlive, false)
  t.ok(connection.isAnnounced)
  hasSaid.response.headersSent = true
  const [{ id, why }] = await once(sent, 'answer')
  t.equal(id, 1)
  t.equal(why, '2 of its connections are left, with 2 requests in flight')
  t.notOk(admission.isOut)
  t.equal(saidNothing.response.shouldKeepAlive, true)
  t.notOk(connection.isAnnounced)
  t.equal(hasSaid.response.shouldKeepAlive, false)
  t.ok(other.isAnnounced)
  const later = exchange()
  tracker.emit('request', connection, later)
  t.equal(later.response.shouldKeepAlive, true, 'nor later')
})

t.test('a returned offer is repeated later', async t => {
  const { receive, answers, outOfRotation, connect, moved, inbox, handoff } = scene()
  const connection = connect()
  receive['leave-rotation'](ORDER)
  handoff.outstanding.delete(connection)
  const entry = { isPinned: true }
  inbox.entries.add(entry)
  outOfRotation.onBack(entry)
  t.equal(entry.isPinned, false)
  t.same(answers, [])
  while (!handoff.outstanding.has(entry)) await new Promise(setImmediate)
  moved(entry)
  t.match(answers, [{ id: 1, why: null, moved: 1 }])
})

t.test('an earlier offer that returns, too: its connection may move later', async t => {
  const { outOfRotation, inbox, handoff } = scene()
  const entry = { isPinned: true }
  inbox.entries.add(entry)
  outOfRotation.onBack(entry)
  t.equal(entry.isPinned, false)
  outOfRotation.onMoved()
  t.equal(handoff.outstanding.size, 0, 'nothing is offered while it serves')
})

t.test('tasks that block the thread are done only out of rotation', async t => {
  const { receive, answers } = scene()
  receive.collect({ id: 7 })
  t.same(answers, [{ type: 'answer', id: 7, why: 'it is in rotation' }])
  receive['leave-rotation'](ORDER)
  receive.collect({ id: 8 })
  const { id, why, before, after, pauseMs } = answers.at(-1)
  t.equal(id, 8)
  t.equal(why, null)
  t.ok(pauseMs > 0)
  for (const usage of [before, after]) t.ok(usage.rssBytes > usage.heapUsedBytes && usage.heapUsedBytes > 0)
  receive.heapdump({ id: 9, file: '/nowhere/at/all' })
  t.equal(answers.at(-1).id, 9)
  t.type(answers.at(-1).why, 'string')
  receive.rejoin({})
  receive.collect({ id: 10 })
  t.equal(answers.at(-1).why, 'it is in rotation')
})

t.test('a drain takes over at any moment', async t => {
  const { receive, answers, outOfRotation, admission, connect, tracker } = scene()
  connect({ isQuiet: false })
  receive['leave-rotation'](ORDER)
  outOfRotation.cancel()
  t.equal(tracker.listenerCount('rest') + tracker.listenerCount('request'), 0, 'the drain has its own listeners')
  receive.rejoin({})
  t.ok(admission.isOut, 'it does not return to rotation')
  t.same(answers, [])
  receive['leave-rotation']({ ...ORDER, id: 2 })
  t.match(answers, [{ id: 2, why: 'it is gone already' }])
})
