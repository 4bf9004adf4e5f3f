'use strict'

const { EventEmitter } = require('node:events')
const fs = require('node:fs')
const { mock } = require('node:test')
const t = require('tap')
const fc = require('fast-check')
const { noMoves } = require('../../../lib/core/moves')
const { loadAddon } = require('../../../lib/native/addon')
const { HandoffLedger } = require('../../../lib/primary/handoff/ledger')
const { Heard } = require('../../support/heard')
const { setWallClock, DAYS_MS } = require('../../support/wall-clock')

const KEY = '127.0.0.1:80:4::0'

/** The primary's copy of a connection. */
class Socket {
  closed = 0
  close () { this.closed++ }
}

/** A worker as the ledger sees it; messages sent to it are a list that a test can wait on. */
class Worker extends Heard {
  addresses = new Set([KEY])
  connections = 0
  isGone = false
  isServing = true
  isBatching = false
  get window () { return this.isBatching ? 256 : 1 }
  /**
   * @type {{ type: string, id: number, parcel?: { key: string, leftMs: number | null, bytes?: string },
   *   socket?: Socket }[]}
   */
  got = []
  /** The error of each send. @type {Error | null} */
  sendError = null

  /** @param {string} name @param {number} [connections] */
  constructor (name, connections = 0) {
    super()
    this.name = name
    this.connections = connections
  }

  /** @param {string} type @param {any} fields @param {Socket} [socket] @param {(error: Error | null) => void} [sent] */
  send (type, fields, socket, sent = () => {}) {
    this.got.push({ type, ...fields, ...(socket && { socket }) })
    process.nextTick(sent, this.sendError)
    this.emit('got')
  }

  /** As in WorkerHandle. */
  gains () {
    this.connections++
  }

  /** The messages of a type. @param {string} type @param {boolean} [ok] */
  all (type, ok) {
    return this.got.filter(message => message.type === type && message.ok === ok)
  }

  /** @param {string} type @param {boolean} [ok] */
  last (type, ok) {
    return /** @type {any} */ (this.all(type, ok).at(-1))
  }

  /** The `count`th message of a type. @param {string} type */
  async until (type, count = 1) {
    while (this.all(type).length < count) await new Promise(resolve => this.once('got', resolve))
    return this.all(type)[count - 1]
  }

  /**
   * @param {number} id @param {number | null} [leftMs] @param {string} [session]
   * @param {string | null} [bytes] null: it is idle
   */
  offer (id, leftMs = 5000, session, bytes = 'aGVhZA==') {
    const socket = new Socket()
    this.say('move', { id, parcel: { key: KEY, leftMs, ...(bytes && { bytes }), ...(session && { session }) } }, socket)
    return socket
  }

  /** As in WorkerHandle: the state is set, then the event is emitted. */
  die () {
    this.isGone = true
    this.emit('exit', { code: null, signal: 'SIGKILL' })
    this.isServing = false // the supervisor's listener comes after the ledger's
  }

  becomeReady () {
    this.isServing = true
    this.emit('ready')
  }
}

/**
 * @param {Worker[]} workers @param {Map<Worker, Worker>} [successors]
 * @param {EventEmitter & { owner: Worker | null }} [sessions] @param {boolean} [isLeavingGap]
 */
function connect (workers, successors = new Map(), sessions = sessionsOf(null), isLeavingGap = false) {
  const fleet = {
    heirs: [],
    serving: () => workers.filter(worker => worker.isServing),
    successorOf: (/** @type {Worker} */ sender) => successors.get(sender) ?? null,
    isLeavingGap: () => isLeavingGap
  }
  const ledger = new HandoffLedger(/** @type {any} */ ({
    fleet,
    tenure: { isOver: false },
    owners: Object.assign(sessions, { isAway: () => false, find: () => sessions.owner }),
    copies: {
      keep: (/** @type {any} */ receiver, /** @type {any} */ copy, /** @type {any} */ socket) => socket.close(),
      take: () => null
    }
  }))
  for (const worker of workers) ledger.connect(/** @type {any} */ (worker))
  return ledger
}

/** @param {Worker | null} owner of all */
function sessionsOf (owner) {
  return Object.assign(new EventEmitter(), { owner })
}

/** Timers that end when the test says so. @param {any} t */
function fakeTimers (t) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  return mock.timers
}

/** A draining sender, and serving receivers. @param {number} receivers */
function scene (receivers) {
  const sender = new Worker('sender')
  sender.isServing = false
  const rest = Array.from({ length: receivers }, (_, i) => new Worker(`receiver ${i}`, i))
  return { sender, receivers: rest, ledger: connect([sender, ...rest]) }
}

let given = 1_000_000

/** @param {{ type: string, ok?: boolean }} message */
const what = ({ type, ok }) => type === 'move' ? type : ok ? 'ok' : 'no'

/** Lets the callbacks of sends run. */
const tick = () => new Promise(resolve => setImmediate(resolve))

t.test('the time that an idle connection has left does not depend on the wall clock', async t => {
  const { sender, receivers: [receiver] } = scene(1)
  sender.offer(1)
  sender.offer(2)
  const { id } = receiver.last('move')
  setWallClock(t, DAYS_MS)
  receiver.say('moved', { id, ok: true })
  const { parcel: { leftMs } } = /** @type {any} */ (await receiver.until('move', 2))
  t.ok(leftMs > 1 && leftMs <= 5000, `${leftMs} ms`)
})

t.test('an offer is adopted: kept by the receiver, moved for the sender, closed here', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  const socket = sender.offer(7)
  const { id, parcel: { leftMs, ...parcel }, socket: sent } = /** @type {any} */ (receiver.last('move'))
  t.same(parcel, { key: KEY, bytes: 'aGVhZA==' }, 'the parcel is passed whole')
  t.equal(sent, socket)
  t.ok(leftMs > 1 && leftMs <= 5000, 'the time left is sent with it')
  t.equal(socket.closed, 0, 'the copy of the primary is open until a worker has adopted it')
  t.same(sender.got, [])
  receiver.say('moved', { id, ok: true })
  t.same(receiver.got.map(what), ['move', 'ok'])
  t.equal(receiver.last('moved', true).id, id)
  t.same(sender.got, [{ type: 'moved', id: 7, ok: true }], 'by the number of the sender')
  t.equal(socket.closed, 1)
  t.same(
    ledger.totals, { moved: 1, moves: { ...noMoves(), leaving: 1 }, refused: 0, takenBack: 0, lost: 0, misplaced: 0 }
  )
})

t.test('the receiver is noted with the socket before the sender or the receiver is told, and as one is asked that no worker has', { skip: loadAddon().missing ?? false }, async t => {
  const { addon } = loadAddon()
  const { sender, receivers: [a, b], ledger } = scene(2)
  const fds = addon.socketpair()
  t.teardown(() => { for (const fd of fds) fs.closeSync(fd) })
  t.intercept(Socket.prototype, 'fd', { value: fds[0] })
  const pids = new Map([[a, process.pid], [b, process.ppid]])
  const noted = []
  for (const worker of [sender, a, b]) {
    const { send } = worker
    Object.assign(worker, { pid: pids.get(worker) })
    worker.send = (type, fields, ...more) => {
      noted.push([type, worker.name, addon.owner(fds[0])])
      return Reflect.apply(send, worker, [type, fields, ...more])
    }
  }
  sender.offer(7)
  a.say('moved', { id: 7, ok: true })
  t.same(noted.splice(0), [['move', a.name, 0], ['moved', sender.name, process.pid], ['moved', a.name, process.pid]])
  sender.offer(8)
  sender.die()
  a.say('moved', { id: 8, ok: false })
  t.same(noted, [['move', a.name, process.pid], ['move', b.name, process.ppid]])
  ledger.close()
})

t.test('moves are counted by their reason, as of the offer', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  const lender = new Lender(ledger)
  const reasonOf = (/** @type {() => void} */ offer) => {
    const before = { ...ledger.totals.moves }
    offer()
    Object.assign(sender, { isServing: false, state: 'draining' })
    receiver.say('moved', { id: receiver.last('move').id, ok: true })
    lender.say('moved', { id: 1, ok: true })
    return Object.entries(ledger.totals.moves).filter(([reason, count]) =>
      count > before[/** @type {keyof typeof before} */ (reason)]).map(([reason]) => reason)
  }
  const ofSender = (/** @type {Record<string, any>} */ facts, parcel = {}) => reasonOf(() => {
    Object.assign(sender, facts)
    sender.say('move', { id: 1, parcel: { key: KEY, leftMs: null, ...parcel } }, new Socket())
  })
  t.same(ofSender({}), ['leaving'])
  t.same(ofSender({}, { byLoad: true }), ['leaving'], 'it had been chosen before')
  t.same(ofSender({ state: 'out-of-rotation' }), ['rotation'])
  t.same(ofSender({ isServing: true }, { byLoad: true }), ['load'])
  t.notOk('byLoad' in receiver.last('move').parcel)
  t.same(ofSender({ isServing: true }), ['number'])
  t.same(reasonOf(() => ledger.give(/** @type {any} */ (sender), ++given, { key: KEY, leftMs: null }, new Socket())), ['death'])
  t.same(reasonOf(() => lender.offer(1)), ['predecessor'])
  t.equal(ledger.totals.moved, 7)
})

t.test('as the fleet stops, what a dead worker had and none takes goes to its giver at once', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  /** @type {Socket[]} */
  const lost = []
  const give = () => ledger.give(/** @type {any} */ (sender), ++given, { key: KEY, leftMs: null }, new Socket(), {
    lost: socket => lost.push(socket)
  })
  give()
  receiver.isServing = false
  Object.assign(ledger.tenure, { isOver: true })
  receiver.say('moved', { id: receiver.last('move').id, ok: false })
  give()
  t.same(lost.map(({ closed }) => closed), [0, 0])
})

t.test('a connection without a time limit keeps none', async t => {
  const { sender, receivers: [receiver] } = scene(1)
  sender.offer(1, null)
  t.equal(receiver.last('move').parcel.leftMs, null)
})

t.test('an offer that arrives without its socket goes back', async t => {
  const { sender, receivers: [receiver] } = scene(1)
  sender.say('move', { id: 4, parcel: { key: KEY, leftMs: 100 } }, undefined)
  t.same(sender.got, [{ type: 'moved', id: 4, ok: false, isStalled: false, isMissing: true }])
  t.same(receiver.got, [])
})

t.test('of a connection that its sender has noted our copy goes on, without the socket; with one that one does, and the copy is closed; where there is none it is asked for', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  const copies = new Map([[3, new Socket()], [5, new Socket()]])
  ledger.copies.take = (_, { row, serial }) => serial === row + 10 ? copies.get(row) ?? null : null
  const offer = (/** @type {number} */ row, /** @type {Socket} */ socket) =>
    sender.say('move', { id: row + 10, parcel: { key: KEY, leftMs: 100, row } }, socket)
  offer(3, undefined)
  t.equal(receiver.last('move').socket, copies.get(3))
  receiver.say('moved', { id: 13, ok: true })
  t.equal(copies.get(3).closed, 1, 'its receiver has not noted it')
  const sent = new Socket()
  offer(5, sent)
  t.equal(receiver.last('move').socket, sent)
  t.equal(copies.get(5).closed, 1)
  receiver.say('moved', { id: 15, ok: true })
  offer(7, undefined)
  t.match(sender.last('moved', false), { id: 17, isMissing: true })
  offer(7, sent)
  t.equal(receiver.last('move').id, 17)
})

t.test('what goes back to its sender is given to the one that keeps copies, by the number that the sender has noted', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  const parcel = { key: KEY, leftMs: 5000, preface: 'UFJPWFkg' }
  /** @type {any[]} */
  const kept = []
  ledger.copies.keep = (...args) => kept.push(args)
  const socket = new Socket()
  sender.say('move', { id: 1, parcel: { ...parcel, row: 3 } }, socket)
  t.equal(receiver.last('move').parcel.row, undefined, 'it is of no use to another worker')
  receiver.say('moved', { id: receiver.last('move').id, ok: false })
  t.match(sender.got, [{ type: 'moved', id: 1, ok: false }])
  t.same(kept, [[sender, { row: 3, serial: 1 }, socket, parcel]])
  t.equal(socket.closed, 0)
  const moved = new Socket()
  sender.say('move', { id: 2, parcel: { ...parcel, row: 4 } }, moved)
  receiver.say('moved', { id: receiver.last('move').id, ok: true, row: 0 })
  t.same(kept[1], [receiver, { row: 0, serial: 2 }, moved, parcel])
  const unnoted = sender.offer(3)
  receiver.say('moved', { id: receiver.last('move').id, ok: true })
  t.same([kept.length, unnoted.closed], [2, 1], 'what its receiver has not noted is closed here')
})

t.test('a worker is not asked for a connection before it has answered for that: no late answer is taken for one to the latest asking', async t => {
  const timers = fakeTimers(t)
  const { sender, receivers: [first, second] } = scene(2)
  const socket = sender.offer(1)
  timers.tick(1000)
  second.say('moved', { id: 1, ok: true })
  t.equal(socket.closed, 1)
  first.say('moved', { id: 7, ok: false }) // an app may say anything: it is not silent any more
  second.isServing = false
  const again = second.offer(1)
  t.match(second.last('moved', false), { id: 1, isStalled: true }, 'it has not been asked')
  first.say('moved', { id: 1, ok: true })
  t.match(first.last('moved', false), { id: 1 })
  t.equal(again.closed, 1)
  second.offer(1)
  t.equal(first.all('move').length, 2)
  first.say('moved', { id: 1, ok: true })
  t.match(first.last('moved', true), { id: 1 })
})

t.test('a number that is on its way is not taken twice: its sender keeps the connection', async t => {
  const { sender, receivers: [receiver, other] } = scene(2)
  const socket = sender.offer(1)
  const forged = other.offer(1)
  t.same([socket.closed, forged.closed], [0, 1])
  t.same(other.got, [{ type: 'moved', id: 1, ok: false, isStalled: false }])
  receiver.say('moved', { id: 1, ok: true })
  t.match(receiver.last('moved', true), { id: 1 })
})

t.test('what a dead worker had waits for one that serves, and the ledger is settled when that has it', async t => {
  const { sender, receivers: [receiver], ledger } = scene(1)
  await ledger.settled()
  receiver.isServing = false
  const socket = new Socket()
  ledger.give(/** @type {any} */ (sender), ++given, { key: KEY, leftMs: null }, socket)
  let isSettled = false
  const settled = ledger.settled().then(() => { isSettled = true })
  receiver.isServing = true // as another primary's is, which becomes ready unheard
  await tick()
  t.same(receiver.got, [])
  ledger.look()
  receiver.isBatching = true
  const other = new Socket()
  ledger.give(/** @type {any} */ (sender), ++given, { key: KEY, leftMs: null }, other)
  const [first, second] = receiver.all('move')
  receiver.say('moved', { id: first.id, ok: true })
  await tick()
  t.same([isSettled, socket.closed, other.closed], [false, 1, 0], 'not while another is on its way')
  receiver.say('moved', { id: second.id, ok: true })
  await settled
  t.equal(other.closed, 1)
})

t.test('the worker with the fewest connections comes first, and among equals the successor of the sender', async t => {
  const sender = new Worker('sender')
  sender.isServing = false
  const [idle, successor, busy] = [new Worker('idle', 1), new Worker('successor', 1), new Worker('busy', 50)]
  connect([sender, busy, idle, successor], new Map([[sender, successor]]))
  sender.offer(1)
  t.equal(successor.all('move').length, 1)
  successor.say('moved', { id: successor.last('move').id, ok: false })
  t.equal(idle.all('move').length, 1)
  idle.say('moved', { id: idle.last('move').id, ok: false })
  t.equal(busy.all('move').length, 1)
})

t.test('connections sent to a worker since its last heartbeat count as its load', async t => {
  const { sender, receivers: [a, b] } = scene(2) // a has 0, b has 1
  for (let n = 1; n <= 6; n++) {
    sender.offer(n)
    for (const receiver of [a, b]) {
      const adopt = receiver.last('move')
      if (adopt && receiver.last('moved', true)?.id !== adopt.id) receiver.say('moved', { id: adopt.id, ok: true })
    }
  }
  t.equal(a.all('moved', true).length + b.all('moved', true).length, 6)
  t.ok(Math.abs(a.all('moved', true).length - (b.all('moved', true).length + 1)) <= 1, 'both end with the same number')
})

t.test('a receiver refuses: the next one gets the connection', async t => {
  const { sender, receivers: [a, b], ledger } = scene(2)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  a.say('moved', { id, ok: false, why: 'leaving' })
  t.equal(b.last('move').socket, socket)
  t.equal(socket.closed, 0)
  b.say('moved', { id: b.last('move').id, ok: true })
  t.equal(socket.closed, 1)
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
  t.match(ledger.totals, { moved: 1, refused: 1 })
})

t.test('a receiver has no room for now: where no other one takes the connection, its sender is to offer it again', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  sender.offer(1)
  a.say('moved', { id: 1, ok: false, why: 'maxConnections is reached', isStalled: true })
  b.say('moved', { id: 1, ok: false, why: 'leaving' })
  t.same(sender.got, [{ type: 'moved', id: 1, ok: false, isStalled: true }])
})

t.test('a send that fails counts as refused', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  a.sendError = new Error('EPIPE')
  const socket = sender.offer(1)
  await b.until('move')
  t.equal(b.last('move').socket, socket)
  t.equal(socket.closed, 0)
})

t.test('the only receiver has died, which a send finds out first: the sender is to offer the connection again', async t => {
  const { sender, receivers: [a] } = scene(1)
  a.sendError = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  sender.offer(1)
  await new Promise(process.nextTick)
  t.match(sender.last('moved', false), { id: 1, isStalled: true })
  a.die()
  const next = sender.offer(2)
  t.match(sender.last('moved', false), { id: 2, isStalled: true }, 'there is none yet')
  t.equal(next.closed, 1)
})

t.test('a receiver dies before it answers: the next one gets the connection', async t => {
  const { sender, receivers: [a, b], ledger } = scene(2)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  a.die()
  t.equal(b.last('move').socket, socket)
  t.equal(socket.closed, 0)
  b.say('moved', { id: b.last('move').id, ok: true })
  t.equal(socket.closed, 1)
  t.match(ledger.totals, { moved: 1, takenBack: 1 })

  // Its answer may still be in the channel when its death is known.
  a.say('moved', { id, ok: true })
  t.equal(socket.closed, 1)
  t.equal(ledger.totals.moved, 1)
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
})

t.test('the late answer of a dead receiver does not settle a connection that another receiver has by then', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  a.die()
  a.say('moved', { id, ok: true })
  t.equal(socket.closed, 0)
  t.same(sender.got, [])
  b.say('moved', { id: b.last('move').id, ok: true })
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
})

t.test('connections queued for a worker that has died are not offered to it', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  b.addresses.clear()
  sender.offer(1)
  sender.offer(2)
  t.equal(a.all('move').length, 1, 'the second offer waits')
  a.die()
  t.equal(a.all('move').length, 1)
  t.same(sender.all('moved', false).map(m => m.id).sort(), [1, 2], 'no other worker can take them')
})

t.test('a receiver is silent for a second: the next one gets the connection, and a late adoption is answered by drop', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a, b], ledger } = scene(2)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  clock.tick(1000)
  const adopt = b.last('move')
  t.equal(adopt.socket, socket)
  t.equal(socket.closed, 0)
  t.match(ledger.totals, { takenBack: 1 })

  sender.offer(2)
  t.equal(a.all('move').length, 1, 'a silent receiver is offered nothing else')

  a.say('moved', { id, ok: true })
  t.same(a.last('moved', false), { type: 'moved', id, ok: false })
  t.same(a.all('moved', true), [])
  t.equal(socket.closed, 0, 'the other one has not answered yet')
  await tick()
  t.equal(a.all('move').length + b.all('move').length, 3, 'once it answers, it is offered connections again')

  b.say('moved', { id: adopt.id, ok: true })
  t.equal(socket.closed, 1)
  t.same(sender.all('moved', true), [{ type: 'moved', id: 1, ok: true }])
})

t.test('a receiver that was silent is not asked again for the same connection, though it answers by then', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a, b] } = scene(2)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  clock.tick(1000)
  a.say('moved', { id, ok: true })
  b.say('moved', { id: b.last('move').id, ok: false })
  t.same([a, b].map(receiver => receiver.all('move').length), [1, 1])
  t.same(sender.got, [{ type: 'moved', id: 1, ok: false, isStalled: false }])
  t.equal(socket.closed, 1)
})

t.test('the only receiver is silent: back to the sender, and the receiver is told to drop it when it answers', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a] } = scene(1)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  clock.tick(1000)
  t.same(sender.got, [{ type: 'moved', id: 1, ok: false, isStalled: true }])
  t.equal(socket.closed, 1)
  a.say('moved', { id, ok: true })
  t.same(a.got.map(what), ['move', 'no'])
  t.equal(socket.closed, 1)
})

t.test('every receiver refuses: back to the sender', async t => {
  const { sender, receivers, ledger } = scene(3)
  const socket = sender.offer(9)
  for (const receiver of receivers) receiver.say('moved', { id: receiver.last('move').id, ok: false })
  t.same(sender.got, [{ type: 'moved', id: 9, ok: false, isStalled: false }])
  t.equal(socket.closed, 1)
  t.match(ledger.totals, { moved: 0, refused: 3 })
  t.same(receivers.map(r => r.all('move').length), [1, 1, 1], 'no receiver is asked twice')
})

t.test('no worker listens there, or none serves yet: back to the sender at once, which offers it again in the second case', async t => {
  const { sender, ledger, receivers: [a] } = scene(1)
  a.addresses.clear()
  t.equal(sender.offer(1).closed, 1)
  a.addresses.add(KEY)
  a.isServing = false
  t.equal(sender.offer(2).closed, 1)
  Object.assign(ledger, { tenure: { isOver: true } })
  t.equal(sender.offer(3).closed, 1)
  const back = { type: 'moved', ok: false, isStalled: false }
  t.same(sender.got, [{ ...back, id: 1 }, { ...back, id: 2, isStalled: true }, { ...back, id: 3 }])
  t.same(a.got, [])
})

t.test('the sender dies meanwhile: the connection is delivered all the same', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  const socket = sender.offer(1)
  sender.die()
  a.say('moved', { id: a.last('move').id, ok: false })
  t.equal(socket.closed, 0)
  b.say('moved', { id: b.last('move').id, ok: true })
  t.same(b.got.map(what), ['move', 'ok'])
  t.equal(socket.closed, 1)
  t.same(sender.got, [], 'no message goes to the dead worker')
})

t.test('the sender is dead and no worker serves: the next ready worker gets the connection', async t => {
  const { sender, receivers: [a] } = scene(1)
  a.isServing = false
  sender.isGone = true
  const socket = sender.offer(1)
  t.equal(socket.closed, 0)
  t.same(a.got, [])
  a.becomeReady()
  a.say('moved', { id: a.last('move').id, ok: true })
  t.same(a.got.map(what), ['move', 'ok'])
  t.equal(socket.closed, 1)
})

t.test('the sender is dead and all have refused: the next ready worker gets the connection', async t => {
  const { sender, receivers: [a, b] } = scene(2)
  b.isServing = false
  const socket = sender.offer(1)
  sender.die()
  a.say('moved', { id: a.last('move').id, ok: false })
  t.equal(socket.closed, 0)
  a.isServing = false
  b.becomeReady()
  b.say('moved', { id: b.last('move').id, ok: true })
  t.equal(socket.closed, 1)
})

t.test('the sender is dead and all have refused: one of them that is asked again, as it comes back, gets the connection', async t => {
  const { sender, receivers: [a] } = scene(1)
  const socket = sender.offer(1)
  sender.die()
  a.say('moved', { id: a.last('move').id, ok: false })
  t.equal(a.all('move').length, 1)
  a.emit('returned')
  a.say('moved', { id: a.last('move').id, ok: true })
  t.same([a.all('move').length, a.all('moved', true).length, socket.closed], [2, 1, 1])
})

t.test('the sender is dead, and all have refused: they are not asked again at once, for that or for another connection', async t => {
  for (const isStalled of [false, true]) {
    const { sender, receivers: [a] } = scene(1)
    sender.isGone = true
    for (const id of [1, 2]) {
      sender.offer(id)
      a.say('moved', { id, ok: false, isStalled })
    }
    for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
    t.equal(a.all('move').length, 2)
  }
})

t.test('the sender is dead and no worker takes the connection: it ends with its time, and where it has none after half a minute', async t => {
  const clock = fakeTimers(t)
  // Of its time, what has passed by the real clock is gone.
  for (const [leftMs, endsMs, aliveMs] of /** @type {[number | null, number, number][]} */ ([
    [60_000, 60_000, 50_000], [null, 30_000, 29_999]
  ])) {
    const { sender, receivers: [a], ledger } = scene(1)
    a.isServing = false
    sender.isGone = true
    const socket = sender.offer(1, leftMs)
    clock.tick(aliveMs)
    t.equal(socket.closed, 0)
    clock.tick(endsMs - aliveMs)
    t.equal(socket.closed, 1)
    t.equal(ledger.totals.lost, 1)
    a.becomeReady()
    t.same(a.got, [])
  }
})

t.test('the sender is dead, and its time ends while the connection is under way: it is not lost', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a], ledger } = scene(1)
  a.isServing = false
  sender.isGone = true
  const socket = sender.offer(1, null)
  clock.tick(29_500)
  a.becomeReady()
  clock.tick(600)
  t.equal(socket.closed, 0)
  a.say('moved', { id: a.last('move').id, ok: true })
  t.same(a.got.map(what), ['move', 'ok'])
  t.match(ledger.totals, { moved: 1, lost: 0 })
})

t.test('a worker that comes back into rotation gets what waits', async t => {
  const { sender, receivers: [a] } = scene(1)
  a.isServing = false
  sender.isGone = true
  sender.offer(1)
  a.isServing = true
  a.emit('returned')
  t.equal(a.all('move').length, 1)
})

t.test('a connection that may be idle no longer is passed on with a millisecond; where no worker is there it waits for half a minute, since its client may have asked', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a], ledger } = scene(1)
  sender.offer(1, 0)
  t.equal(a.last('move').parcel.leftMs, 1)
  a.die()
  sender.isGone = true
  const socket = sender.offer(2, -5)
  clock.tick(29_999)
  t.equal(socket.closed, 0)
  clock.tick(1)
  t.equal(socket.closed, 1)
  t.equal(ledger.totals.lost, 1)
})

t.test('the only worker leaves before its replacement starts: its connections wait half a minute for that, whatever time they have left', async t => {
  const clock = fakeTimers(t)
  const [sender, replacement] = [new Worker('sender'), new Worker('replacement')]
  replacement.isServing = false
  const ledger = connect([sender, replacement], new Map(), undefined, true)
  const sockets = [1, 2].map(id => sender.offer(id, 100))
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }, { type: 'moved', id: 2, ok: true }], 'the sender need not stay for them')
  sender.die()
  clock.tick(29_999)
  t.same(sockets.map(({ closed }) => closed), [0, 0])
  replacement.becomeReady()
  replacement.say('moved', { id: replacement.last('move').id, ok: true })
  t.match(replacement.last('moved', true), { type: 'moved' })
  clock.tick(1)
  t.match(ledger.totals, { moved: 1 })
  t.equal(sender.got.length, 2, 'it is told once')
})

t.test('a connection that has gone back is offered to no worker any more', async t => {
  const { sender, receivers: [a] } = scene(1)
  a.isServing = false
  sender.offer(1)
  t.equal(sender.all('moved', false).length, 1)
  a.becomeReady()
  t.same(a.got, [])
  sender.offer(2)
  a.say('moved', { id: a.last('move').id, ok: false })
  a.becomeReady()
  t.same([a.all('move').length, sender.all('moved', false).length], [1, 2])
})

t.test('a receiver that answers twice is told to drop the second, which counts for nothing', async t => {
  const { sender, receivers: [a], ledger } = scene(1)
  const socket = sender.offer(1)
  const { id } = a.last('move')
  for (const ok of [true, true, false]) a.say('moved', { id, ok })
  t.same(a.got.map(what), ['move', 'ok', 'no'])
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
  t.equal(socket.closed, 1)
  t.match(ledger.totals, { moved: 1, refused: 0 })
})

t.test('a receiver that dies has no part in what is under way to another one', async t => {
  const { sender, receivers: [a, b], ledger } = scene(2)
  b.connections = 0
  const sockets = [sender.offer(1), sender.offer(2)]
  t.same([a, b].map(r => r.all('move').length), [1, 1])
  a.die()
  t.equal(b.all('move').length, 1, 'it has one already')
  t.equal(ledger.totals.takenBack, 1)
  b.say('moved', { id: b.last('move').id, ok: true })
  t.same(sockets.map(({ closed }) => closed), [0, 1])
  await tick()
  t.equal(b.last('move').socket, sockets[0])
})

t.test('a receiver has a second to answer, and its refusal after that counts for nothing', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a, b], ledger } = scene(2)
  sender.offer(1)
  const { id } = a.last('move')
  clock.tick(999)
  t.equal(b.all('move').length, 0)
  clock.tick(1)
  t.equal(b.all('move').length, 1)
  a.say('moved', { id, ok: false })
  t.match(ledger.totals, { takenBack: 1, refused: 0 })
  b.say('moved', { id: b.last('move').id, ok: true })
  clock.tick(5000)
  t.match(ledger.totals, { moved: 1, takenBack: 1 })
  t.same([a, b].map(r => r.all('move').length), [1, 1])
})

t.test('one socket at a time is under way to a receiver', async t => {
  const { sender, receivers: [a] } = scene(1)
  const sockets = [1, 2, 3].map(id => sender.offer(id))
  for (let n = 1; n <= 3; n++) {
    t.equal(a.all('move').length, n)
    t.equal(a.last('move').socket, sockets[n - 1], 'in the order of the offers')
    a.say('moved', { id: a.last('move').id, ok: true })
    await tick()
  }
  t.same(sockets.map(s => s.closed), [1, 1, 1])
  t.same(sender.got.map(m => m.id), [1, 2, 3])
})

t.test('of batches two are under way to a receiver: 256 sockets, each of which is its own transaction', async t => {
  const { sender, receivers: [a], ledger } = scene(1)
  a.isBatching = true
  const sockets = Array.from({ length: 300 }, (_, i) => sender.offer(i + 1))
  const under = a.all('move')
  t.equal(under.length, 256)
  for (const { id } of under.slice(0, 10)) a.say('moved', { id, ok: true })
  a.say('moved', { id: under[10].id, ok: false })
  await tick()
  t.equal(a.all('move').length, 267, 'each answer makes room for one')
  t.same(sender.all('moved', false), [{ type: 'moved', id: 11, ok: false, isStalled: false }])
  t.equal(sockets.filter(s => s.closed).length, 11)
  a.die()
  t.equal(sockets.every(s => s.closed === 1), true, 'the others go back')
  t.same(sender.all('moved', false).length, 290)
  t.match(ledger.totals, { moved: 10, refused: 1, takenBack: 256 })
})

t.test('a closed ledger closes its remaining connections, once', async t => {
  const { sender, receivers: [a], ledger } = scene(1)
  const sockets = [1, 2].map(id => sender.offer(id))
  const { id } = a.last('move')
  ledger.close()
  ledger.close()
  t.same(sockets.map(s => s.closed), [1, 1])
  a.say('moved', { id, ok: true })
  t.same(a.last('moved', false), { type: 'moved', id, ok: false })
  t.same(sockets.map(s => s.closed), [1, 1])
})

t.test('in any order of events, every connection has one reader or one owner, and one close', async t => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('offer') },
    { weight: 4, arbitrary: fc.constant('adopted') },
    { weight: 2, arbitrary: fc.constant('refused') },
    { weight: 1, arbitrary: fc.constant('die') },
    { weight: 1, arbitrary: fc.constant('ready') }
  )
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(2)), { maxLength: 40 }), async steps => {
    const { sender, receivers, ledger } = scene(3)
    /** @type {Socket[]} */
    const sockets = []
    const held = new Map(receivers.map(receiver => [receiver, /** @type {number[]} */ ([])]))
    for (const receiver of receivers) receiver.on('got', () => { if (receiver.got.at(-1)?.type === 'move') held.get(receiver)?.push(receiver.got.at(-1)?.id ?? 0) })
    for (const [what, which] of steps) {
      const receiver = receivers[which]
      if (what === 'offer') sockets.push(sender.offer(sockets.length))
      if (what === 'die' && !receiver.isGone) receiver.die()
      if (what === 'ready' && !receiver.isGone) receiver.becomeReady()
      if (receiver.isGone) continue
      if (what === 'adopted' || what === 'refused') {
        const id = held.get(receiver)?.shift()
        if (id !== undefined) receiver.say('moved', { id, ok: what === 'adopted' })
      }
      await tick()
      if ((held.get(receiver)?.length ?? 0) > 1) throw new Error('more than one under way')
    }
    ledger.close()
    sockets.forEach((socket, n) => {
      if (socket.closed !== 1) throw new Error(`connection ${n} was closed ${socket.closed} times`)
      const said = sender.got.filter(m => m.id === n)
      const kept = receivers.flatMap(r => r.all('move').filter(m => m.socket === socket && r.all('moved', true).some(k => k.id === m.id)))
      if (said.length > 1 || kept.length > 1) throw new Error(`connection ${n} is in two places`)
      if ((said[0]?.ok === true) !== (kept.length === 1)) throw new Error(`connection ${n}: the sender received ${said[0]?.ok}, ${kept.length} keep it`)
    })
  }), { numRuns: 200 })
  t.pass()
})

/** Another primary as the ledger sees it: it lends connections, and decides whether each copy is read. */
class Lender extends Worker {
  /** @param {HandoffLedger} ledger */
  constructor (ledger) {
    super('lender')
    this.isServing = false
    ledger.connectPeer(/** @type {any} */ (this))
  }
}

t.test('a lent connection is read by no worker before its lender says keep', async t => {
  const { receivers: [receiver], ledger } = scene(1)
  const lender = new Lender(ledger)
  const socket = lender.offer(7)
  const { id } = /** @type {any} */ (receiver.last('move'))
  receiver.say('moved', { id, ok: true })
  t.same(lender.got, [{ type: 'moved', id: 7, ok: true }], 'the lender is asked')
  t.same(receiver.all('moved', true), [])
  t.equal(socket.closed, 0)
  const other = lender.offer(8)
  t.equal(receiver.all('move').length, 2, 'meanwhile the worker is given the next one')
  lender.say('moved', { id: 7, ok: true })
  t.same(receiver.all('moved', true), [{ type: 'moved', id, ok: true }])
  t.equal(socket.closed, 1)
  t.equal(other.closed, 0)
  t.equal(lender.got.length, 1)
  t.equal(ledger.totals.moved, 1)
})

t.test('a lent connection that its lender has taken back is dropped, at once or when the worker answers', async t => {
  const { receivers: [receiver], ledger } = scene(1)
  const lender = new Lender(ledger)
  const held = lender.offer(1)
  receiver.say('moved', { id: receiver.last('move').id, ok: true })
  lender.say('moved', { id: 1, ok: false })
  t.equal(receiver.all('moved', false).length, 1)
  t.equal(held.closed, 1)
  const underWay = lender.offer(2)
  const { id } = receiver.last('move')
  lender.say('moved', { id: 2, ok: false })
  t.equal(underWay.closed, 1)
  t.equal(receiver.all('moved', false).length, 1, 'it has not adopted that yet')
  receiver.say('moved', { id, ok: true })
  t.same(receiver.all('moved', false).map(message => message.id).at(-1), id)
  t.same(receiver.all('moved', true), [])
})

t.test('what a lender says of a connection that is settled changes nothing', async t => {
  const { receivers: [receiver], ledger } = scene(1)
  const lender = new Lender(ledger)
  const sockets = [1, 2, 3].map(offer => {
    const socket = lender.offer(offer)
    receiver.say('moved', { id: receiver.last('move').id, ok: offer < 3 })
    if (offer < 3) lender.say('moved', { id: offer, ok: offer === 1 })
    return socket
  })
  const said = () => [receiver, lender].map(({ got }) => got.map(what))
  t.same(said(), [['move', 'ok', 'move', 'no', 'move'], ['ok', 'ok', 'no']])
  for (const id of [1, 2, 3, 4]) for (const ok of [true, false, true]) lender.say('moved', { id, ok })
  lender.die()
  t.same(said(), [['move', 'ok', 'move', 'no', 'move'], ['ok', 'ok', 'no']])
  t.same(sockets.map(({ closed }) => closed), [1, 1, 1])
  t.equal(ledger.totals.moved, 1)
})

t.test('a lender may take its time to decide: the worker that holds the connection is not asked again, nor is another one', async t => {
  const clock = fakeTimers(t)
  const { receivers: [first, second], ledger } = scene(2)
  const lender = new Lender(ledger)
  lender.offer(1)
  first.say('moved', { id: first.last('move').id, ok: true })
  clock.tick(10_000)
  t.same([first, second].map(({ got }) => got.length), [1, 0])
  t.equal(ledger.totals.takenBack, 0)
  first.die()
  second.say('moved', { id: second.last('move').id, ok: true })
  t.same(lender.got, [{ type: 'moved', id: 1, ok: true }], 'it is asked once')
  lender.say('moved', { id: 1, ok: true })
  t.equal(second.all('moved', true).length, 1)
})

t.test('if the lender dies, what it has lent is ours: held connections are read, others find a worker', async t => {
  const { receivers: [first, second], ledger } = scene(2)
  const lender = new Lender(ledger)
  lender.offer(1)
  const held = first.last('move').id
  first.say('moved', { id: held, ok: true })
  lender.offer(2)
  lender.die()
  t.same(first.all('moved', true).map(message => message.id), [held])
  first.say('moved', { id: first.last('move').id, ok: false })
  second.say('moved', { id: second.last('move').id, ok: true })
  t.equal(second.all('moved', true).length, 1)
  t.equal(ledger.totals.moved, 2)
})

t.test('if the worker that holds a lent connection dies, another one gets it, and the lender is asked once', async t => {
  const { receivers: [first, second], ledger } = scene(2)
  const lender = new Lender(ledger)
  lender.offer(1)
  first.say('moved', { id: first.last('move').id, ok: true })
  first.die()
  t.equal(second.all('move').length, 1)
  lender.say('moved', { id: 1, ok: true })
  second.say('moved', { id: second.last('move').id, ok: true })
  t.equal(second.all('moved', true).length, 1)
  t.same(lender.got, [{ type: 'moved', id: 1, ok: true }])
})

t.test('a lent connection that no worker takes goes back to its lender', async t => {
  const { receivers: [receiver], ledger } = scene(1)
  const lender = new Lender(ledger)
  const socket = lender.offer(3)
  receiver.say('moved', { id: receiver.last('move').id, ok: false })
  t.same(lender.got, [{ type: 'moved', id: 3, ok: false, isStalled: false }])
  t.equal(socket.closed, 1)
})

t.test('an idle connection of a session that has no owner at the moment goes to any worker', async t => {
  const { sender, owner, other, sessions, ledger } = sessionScene()
  sessions.owner = null
  sender.offer(1, null, 's', null)
  t.equal(other.all('move').length, 1)
  t.notOk(other.last('move').parcel.isOwned)
  sessions.owner = owner
  sender.offer(2, null, 's', null)
  t.equal(owner.all('move').length, 1, 'else to its owner')
  t.equal(ledger.totals.misplaced, 0, 'no request of it is')
})

t.test('a request that waits for its session\'s owner does not keep its sender from leaving: the connection is the primary\'s', async t => {
  const { sender, owner, other, sessions, ledger } = sessionScene()
  sessions.owner = null
  const socket = sender.offer(1, null, 's')
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
  t.equal(socket.closed, 0)
  sessions.owner = owner
  sessions.emit('moved')
  owner.say('moved', { id: owner.last('move').id, ok: true })
  t.equal(owner.all('moved', true).length, 1)
  t.equal(socket.closed, 1)
  t.same([sender.got.length, other.got.length], [1, 0], 'the sender is told once')
  t.equal(ledger.totals.moved, 1)
})

t.test('a request that waits for an owner goes to its sender where that becomes the owner; a sender that has died is told nothing', async t => {
  const { sender, sessions, other } = sessionScene()
  sessions.owner = null
  sender.offer(1, null, 's')
  sessions.owner = sender
  sessions.emit('moved')
  t.same(sender.got.map(what), ['ok', 'move'])
  other.isGone = true
  sessions.owner = null
  other.offer(2, null, 's')
  t.same(other.got, [])
})

t.test('a request that waits for an owner, which is its sender as it comes back, and has no room by then: another worker gets it', async t => {
  const { sender, owner, other, sessions, ledger } = sessionScene()
  sessions.owner = null
  const socket = sender.offer(1, null, 's')
  sessions.owner = sender
  sessions.emit('moved')
  sender.say('moved', { id: 1, ok: false, isStalled: true })
  t.equal(socket.closed, 0, 'the sender has it no more')
  const next = [owner, other].find(worker => worker.all('move').length > 0)
  next?.say('moved', { id: 1, ok: true })
  t.match(ledger.totals, { moved: 1, misplaced: 1 })
  t.equal(socket.closed, 1)
})

t.test('the sender is dead, and no worker has room: they are asked again until one has', async t => {
  const clock = fakeTimers(t)
  const { sender, receivers: [a], ledger } = scene(1)
  sender.isGone = true
  const socket = sender.offer(1)
  for (let asked = 1; asked <= 3; asked++) {
    t.equal(a.all('move').length, asked)
    a.say('moved', { id: 1, ok: false, isStalled: true })
    clock.tick(250)
  }
  a.say('moved', { id: 1, ok: true })
  t.same([a.all('moved', true).length, socket.closed, ledger.totals.lost], [1, 1, 0])
})

t.test('a request of another worker\'s session is counted as that, also on a connection that had been chosen to leave', async t => {
  const { sender, owner, ledger } = sessionScene()
  sender.isServing = true
  sender.say('move', { id: 1, parcel: { key: KEY, leftMs: null, bytes: 'aGVhZA==', session: 's', byLoad: true } }, new Socket())
  owner.say('moved', { id: owner.last('move').id, ok: true })
  t.match(ledger.totals.moves, { session: 1, load: 0 })
})

t.test('an owner is waited for ten seconds; then any worker handles the request, and it is counted once', async t => {
  const { sender, other, owner, sessions, ledger } = sessionScene()
  const clock = fakeTimers(t)
  sessions.owner = null
  sender.offer(1, null, 's')
  clock.tick(9999)
  t.same([...owner.got, ...other.got], [])
  clock.tick(1)
  t.equal(other.all('move').length, 1)
  t.notOk('session' in other.last('move').parcel, 'another primary would wait as long again')
  other.say('moved', { id: other.last('move').id, ok: true })
  clock.tick(30_000)
  t.match(ledger.totals, { misplaced: 1, moved: 1 })
})

t.test('an owner that is out of rotation is waited for as long as that lasts', async t => {
  const { sender, owner, other, sessions, ledger } = sessionScene()
  const clock = fakeTimers(t)
  Object.assign(sessions, { owner: null, isAway: () => true })
  sender.offer(1, null, 's')
  clock.tick(25_000)
  t.same([...owner.got, ...other.got], [])
  Object.assign(sessions, { owner, isAway: () => false })
  sessions.emit('moved')
  t.equal(owner.all('move').length, 1)
  t.equal(ledger.totals.misplaced, 0)
})

t.test('an owner that answers once and is silent again is not waited for a second time', async t => {
  const { sender, owner, other, sessions, ledger } = sessionScene()
  const clock = fakeTimers(t)
  sessions.owner = null
  sender.offer(1, null, 's')
  clock.tick(9990)
  sessions.owner = owner
  sessions.emit('moved') // it is under way when its time ends
  clock.tick(10)
  t.same(other.got, [], 'nor are two asked at once')
  clock.tick(1000) // the owner does not answer
  t.equal(other.all('move').length, 1)
  t.equal(ledger.totals.misplaced, 1, 'it is counted once')
})

/** Three workers that serve, and the owner of every session. */
function sessionScene () {
  const workers = ['sender', 'owner', 'other'].map((name, i) => new Worker(name, 2 - i))
  const sessions = sessionsOf(workers[1])
  const ledger = connect(workers, new Map(), sessions)
  t.teardown(() => ledger.close())
  return { sender: workers[0], owner: workers[1], other: workers[2], sessions, ledger }
}

t.test('a connection of a session goes to its owner, however many connections that has', async t => {
  const { sender, owner, other, ledger } = sessionScene()
  sender.offer(1, null, 's')
  const { id, parcel } = owner.last('move')
  t.match(parcel, { session: 's', isOwned: true })
  t.same(other.got, [])
  sender.offer(2, null, 's')
  t.equal(owner.all('move').length, 1, 'one at a time')
  owner.say('moved', { id, ok: true })
  await tick()
  t.equal(owner.all('move').length, 2)
  t.match(ledger.totals, { moved: 1, misplaced: 0 })
})

t.test('a connection whose session is its sender\'s goes back to it', async t => {
  const { sender, sessions, ledger } = sessionScene()
  sessions.owner = sender
  const socket = sender.offer(1, null, 's')
  t.same(sender.got, [{ type: 'moved', id: 1, ok: false, isStalled: false, isOwner: true }])
  t.equal(socket.closed, 1)
  t.match(ledger.totals, { moved: 0, refused: 0 })
})

t.test('a session without an owner is waited for; so is an owner that is silent', async t => {
  const clock = fakeTimers(t)
  const { sender, owner, other, sessions } = sessionScene()
  sessions.owner = null
  sender.offer(1, null, 's')
  t.same([...owner.got, ...other.got], [])
  sessions.owner = owner
  sessions.emit('moved')
  const { id } = owner.last('move')
  clock.tick(1000)
  t.same(other.got, [], 'no other worker gets it')
  owner.say('moved', { id, ok: true }) // too late: it is dropped there, and given anew
  await tick()
  t.same(owner.got.slice(1).map(what), ['no', 'move'])
  const { id: again } = owner.last('move')
  owner.say('moved', { id: again, ok: true })
  t.equal(owner.last('moved', true).id, again)
  t.same(sender.got, [{ type: 'moved', id: 1, ok: true }])
})

t.test('where the owner refuses, any worker handles it, and it is counted', async t => {
  const { sender, owner, other, ledger } = sessionScene()
  sender.offer(1, null, 's')
  owner.say('moved', { id: owner.last('move').id, ok: false })
  t.equal(other.last('move').parcel.isOwned, undefined)
  t.match(ledger.totals, { refused: 1, misplaced: 1 })
})

t.test('an offer at whose handling the primary fails goes back as any other: to its sender, where it counts, with our copy if that has noted it; else the copy is closed', async t => {
  const [sender, receiver] = [new Worker('a'), new Worker('b')]
  const ledger = connect([sender, receiver])
  ledger.placement.find = () => { throw new Error('a bug') }
  const socket = new Socket()
  t.throws(() => sender.say('move', { id: 7, parcel: { key: KEY, leftMs: null } }, socket), /a bug/)
  t.match(sender.all('moved', false), [{ id: 7 }])
  t.same([socket.closed, sender.connections], [1, 1])
  /** @type {any[]} */
  const kept = []
  ledger.copies.keep = (...args) => kept.push(args)
  const noted = new Socket()
  t.throws(() => sender.say('move', { id: 8, parcel: { key: KEY, leftMs: null, row: 3 } }, noted), /a bug/)
  t.same(kept, [[sender, { row: 3, serial: 8 }, noted, { key: KEY, leftMs: null }]])
  t.equal(noted.closed, 0)
  await ledger.settled()
})
