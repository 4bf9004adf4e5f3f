'use strict'

const { EventEmitter, once } = require('node:events')
const t = require('tap')
const { Aside } = require('../../lib/worker/aside')

/** A worker's rooms, as far as they matter here, and its channel. */
function scene () {
  /** @type {Record<string, (fields: any) => void>} */
  const receive = {}
  const sent = new EventEmitter()
  /** @type {any[]} */
  const answers = []
  const link = {
    isUp: true,
    on: (/** @type {any} */ handlers) => Object.assign(receive, handlers),
    send (/** @type {string} */ type, /** @type {any} */ fields) {
      answers.push({ type, ...fields })
      sent.emit(type, fields)
    }
  }
  const gate = { isOpen: true, isPlainHttp: true, isMovable: true, server: {} }
  const traffic = Object.assign(new EventEmitter(), { connections: new Set(), inFlight: 0, release: (/** @type {any} */ connection) => traffic.connections.delete(connection), idle: () => [...traffic.connections].filter(c => c.isQuiet) })
  const lobby = new class extends EventEmitter {
    /** @type {Set<any>} */
    guests = new Set()
    get movable () {
      return [...this.guests].filter(guest => !guest.isPinned)
    }
  }()
  const handoff = {
    outstanding: new Map(),
    hasRoom: true,
    offer (/** @type {any} */ connection) {
      handoff.outstanding.set(connection, connection)
    },
    offerGuest (/** @type {any} */ guest) {
      lobby.guests.delete(guest)
      handoff.outstanding.set(guest, guest)
    }
  }
  const admission = { isOut: false, leave () { this.isOut = true; gate.isOpen = false }, enter () { this.isOut = false; gate.isOpen = true } }
  const sharing = { stop () {} }
  const aside = new Aside(/** @type {any} */ ({ link, traffic, gates: new Set([gate]), lobby, handoff, admission, sharing }))
  /** @param {any} [more] */
  const connect = more => {
    const socket = { bytesRead: 0, destroyed: false, writableEnded: false }
    const connection = { gate, socket, secure: null, session: null, isPinned: false, isForeign: false, isQuiet: true, isEnding: false, isAnnounced: false, exchanges: [], ...more }
    traffic.connections.add(connection)
    return connection
  }
  const moved = (/** @type {any} */ what) => {
    handoff.outstanding.delete(what)
    aside.onMoved()
  }
  return { receive, sent, answers, gate, traffic, lobby, handoff, admission, aside, connect, moved }
}

const ORDER = { id: 1, deadlineMs: 60_000, handoff: true }

/** A request whose response has not begun. */
function exchange () {
  return { request: { headers: {} }, response: { headersSent: false, shouldKeepAlive: true } }
}

t.test('with nothing there it is out at once', async t => {
  const { receive, answers, admission, gate } = scene()
  receive.aside(ORDER)
  t.match(answers, [{ type: 'answer', id: 1, why: null, moved: 0 }])
  t.ok(admission.isOut)
  t.notOk(gate.isOpen)
  receive.return({})
  t.notOk(admission.isOut)
  t.ok(gate.isOpen)
})

t.test('it is out when the last offer has been taken, not before', async t => {
  const { receive, answers, connect, moved, lobby, handoff } = scene()
  const connection = connect()
  const guest = { isPinned: false }
  lobby.guests.add(guest)
  receive.aside(ORDER)
  t.same([...handoff.outstanding.keys()], [connection, guest])
  moved(connection)
  t.same(answers, [])
  moved(guest)
  t.match(answers, [{ id: 1, why: null, moved: 2 }])
})

t.test('who is foreign is in the way from the start, and nothing is begun', async t => {
  const { receive, answers, admission, connect, handoff } = scene()
  connect()
  connect({ isForeign: true })
  receive.aside(ORDER)
  t.match(answers, [{ id: 1, why: '1 of its connections are upgraded or raw, and cannot be moved', moved: 0 }])
  t.notOk(admission.isOut)
  t.equal(handoff.outstanding.size, 0)
})

t.test('a TLS handshake that is under way is no foreign connection', async t => {
  const { receive, answers, connect, gate } = scene()
  gate.isMovable = false
  connect({ isForeign: true, isQuiet: false, gate: { ...gate, server: { setSecureContext () {} } } })
  receive.aside(ORDER)
  t.same(answers, [])
  receive.return({})
  t.match(answers, [{ why: 'it was called back' }])
})

t.test('who turns foreign on the way ends it', async t => {
  const { receive, sent, admission, connect } = scene()
  const connection = connect({ isQuiet: false })
  receive.aside(ORDER)
  t.ok(admission.isOut)
  connection.isForeign = true
  const [{ why }] = await once(sent, 'answer')
  t.match(why, /upgraded/)
  t.notOk(admission.isOut)
})

t.test('when the time is up it is back in rotation, and says what is left; a close that has not been said is not said', async t => {
  const { receive, sent, traffic, admission, connect, gate } = scene()
  gate.isMovable = false
  const [saidNothing, hasSaid] = [exchange(), exchange()]
  const connection = connect({ isQuiet: false, exchanges: [saidNothing] })
  const other = connect({ isQuiet: false, exchanges: [hasSaid] })
  traffic.inFlight = 2
  receive.aside({ ...ORDER, deadlineMs: 20 })
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
  traffic.emit('request', connection, later)
  t.equal(later.response.shouldKeepAlive, true, 'nor later')
})

t.test('an offer that came back is made again in a while', async t => {
  const { receive, answers, aside, connect, moved, lobby, handoff } = scene()
  const connection = connect()
  receive.aside(ORDER)
  handoff.outstanding.delete(connection)
  const guest = { isPinned: true }
  lobby.guests.add(guest)
  aside.onBack(guest)
  t.equal(guest.isPinned, false)
  t.same(answers, [])
  while (!handoff.outstanding.has(guest)) await new Promise(setImmediate)
  moved(guest)
  t.match(answers, [{ id: 1, why: null, moved: 1 }])
})

t.test('an offer of another time comes back, too: its connection may move later', async t => {
  const { aside, lobby, handoff } = scene()
  const guest = { isPinned: true }
  lobby.guests.add(guest)
  aside.onBack(guest)
  t.equal(guest.isPinned, false)
  aside.onMoved()
  t.equal(handoff.outstanding.size, 0, 'nothing is offered while it serves')
})

t.test('what holds the thread is done only out of rotation', async t => {
  const { receive, answers } = scene()
  receive.collect({ id: 7 })
  t.same(answers, [{ type: 'answer', id: 7, why: 'it is in rotation' }])
  receive.aside(ORDER)
  receive.collect({ id: 8 })
  const { id, why, before, after, pauseMs } = answers.at(-1)
  t.equal(id, 8)
  t.equal(why, null)
  t.ok(pauseMs > 0)
  for (const usage of [before, after]) t.ok(usage.rssBytes > usage.heapUsedBytes && usage.heapUsedBytes > 0)
  receive.heapdump({ id: 9, file: '/nowhere/at/all' })
  t.equal(answers.at(-1).id, 9)
  t.type(answers.at(-1).why, 'string')
  receive.return({})
  receive.collect({ id: 10 })
  t.equal(answers.at(-1).why, 'it is in rotation')
})

t.test('a drain takes over at any moment', async t => {
  const { receive, answers, aside, admission, connect, traffic } = scene()
  connect({ isQuiet: false })
  receive.aside(ORDER)
  aside.cancel()
  t.equal(traffic.listenerCount('rest') + traffic.listenerCount('request'), 0, 'the drain listens for itself')
  receive.return({})
  t.ok(admission.isOut, 'it does not come back any more')
  t.same(answers, [])
  receive.aside({ ...ORDER, id: 2 })
  t.match(answers, [{ id: 2, why: 'it is gone already' }])
})
