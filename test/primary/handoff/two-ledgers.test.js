'use strict'

/**
 * The ledgers of two primaries, an old one and its successor, with their workers, as processes that send messages and
 * may die at any moment: whichever of them does, each connection is read by one process in the end, and by no two.
 */

const { EventEmitter } = require('node:events')
const { mock } = require('node:test')
const t = require('tap')
const fc = require('fast-check')
const { HandoffLedger } = require('../../../lib/primary/handoff/ledger')
const { Heard } = require('../../support/heard')

const KEY = '127.0.0.1:80:4::0'
const CONNECTIONS = 3
const STEPS = 40
const LONG_MS = 120_000
const LENT_MS = 1000 // as in lib/worker/handoff/inbox.js

/** @typedef {{ type: string, id: number, ok?: boolean, row?: number, parcel?: object, socket?: Socket }} Message */
/** @typedef {'offered' | 'held' | 'here'} State */

/** What a process has sent is read though it has died. */
class Process {
  isAlive = true

  /** @param {Scene} scene @param {number} pid */
  constructor (scene, pid) {
    this.scene = scene
    this.pid = pid
  }
}

/** A primary's copy of a connection; all copies have one note. */
class Socket {
  /** @param {number} fd its number */
  constructor (fd) {
    this.fd = fd
  }

  close () {}
}

/** The end of a channel in a primary: a worker's handle, or the other primary. */
class Handle extends Heard {
  addresses = new Set([KEY])
  connections = 0
  isServing = true
  isGone = false
  window = 256
  /** Copies of what its worker reads, as failover has them. @type {Map<number, Socket>} */
  kept = new Map()

  /** @param {Process} own @param {Process} other @param {(message: Message) => void} receive at the other end */
  constructor (own, other, receive) {
    super()
    this.own = own
    this.other = other
    this.pid = other.pid
    this.receive = receive
  }

  /** @param {string} type @param {any} fields @param {Socket} [socket] @param {(error: Error | null) => void} [sent] */
  send (type, fields, socket, sent = () => {}) {
    const error = Object.assign(new Error('it has died'), { code: 'EPIPE' })
    if (this.isGone) return process.nextTick(sent, error)
    const message = { type, ...fields, ...socket && { socket: new Socket(socket.fd) } }
    this.own.scene.post(this.own, this.other, () => this.receive(message))
  }

  /** @param {Message} message from the other end */
  hears ({ type, socket, ...fields }) {
    this.say(type, fields, socket)
  }

  end () {
    this.isServing = false
    this.isGone = true
    this.emit('exit', { code: null, signal: 'SIGKILL' })
  }
}

/** As a worker's Handoff and Inbox. */
class Worker extends Process {
  /** @type {Map<number, State>} */
  connections = new Map()
  refuses = false

  /** @param {Primary} primary @param {number} pid */
  constructor (primary, pid) {
    super(primary.scene, pid)
    this.primary = primary
    this.handle = primary.connect(this)
  }

  /** @param {Message} message */
  send (message) {
    this.scene.post(this, this.primary, () => this.handle.hears(message))
  }

  /** @param {Message} message */
  receive ({ type, id, ok = false }) {
    if (type === 'move') {
      const taken = !this.refuses
      if (taken) this.connections.set(id, 'held')
      return this.send({ type: 'moved', id, ok: taken, ...taken && { row: id } })
    }
    const state = this.connections.get(id)
    if (state === 'offered' ? !ok : ok && state === 'held') this.connections.set(id, 'here')
    else if (state !== 'here') this.connections.delete(id)
  }

  /** The primary has died: each connection is of the process that is noted with it. */
  orphaned () {
    const isOurs = (/** @type {State} */ state, /** @type {number} */ owner) =>
      owner === this.pid || (state === 'offered' && owner === 0)
    this.#settle((state, owner) => isOurs(state, owner) ? 'here' : state === 'held' ? state : null)
    setTimeout(() => this.#settle((state, owner) => isOurs(state, owner) ? 'here' : null), LENT_MS)
  }

  /** @param {(state: State, owner: number) => State | null} next */
  #settle (next) {
    for (const [id, state] of this.connections) {
      const to = state === 'here' ? state : next(state, this.scene.ownerOf(id))
      if (to === null) this.connections.delete(id)
      else this.connections.set(id, to)
    }
  }

  /** @param {number} id */
  offer (id) {
    this.connections.set(id, 'offered')
    this.send({ type: 'move', id, parcel: { key: KEY, leftMs: null, row: id }, socket: new Socket(id) })
  }
}

class Primary extends Process {
  /** @type {Handle[]} */
  handles = []
  /** @type {Handle[]} */
  heirs = []

  /** @param {Scene} scene @param {number} pid */
  constructor (scene, pid) {
    super(scene, pid)
    const { heirs, handles } = this
    this.ledger = new HandoffLedger(/** @type {any} */ ({
      fleet: {
        heirs,
        serving: () => handles.filter(({ isServing }) => isServing),
        successorOf: () => null,
        isLeavingGap: () => false
      },
      tenure: { isOver: false },
      owners: Object.assign(new EventEmitter(), { find: () => null, isAway: () => false, isOver: true }),
      copies: {
        take: () => null,
        /** @param {Handle} handle @param {{ serial: number }} copy @param {Socket} socket */
        keep (handle, { serial }, socket) {
          handle.kept.set(serial, socket)
        }
      }
    }))
    this.ledger.addon = /** @type {any} */ (scene)
  }

  /** @param {Worker} worker */
  connect (worker) {
    const handle = new Handle(this, worker, message => worker.receive(message))
    this.handles.push(handle)
    this.ledger.connect(/** @type {any} */ (handle))
    return handle
  }
}

/** The processes, what is on its way between them, and the notes with the sockets. */
class Scene {
  /** By their ends; each is in order. @type {Map<string, { to: Process, deliver: () => void }[]>} */
  #queues = new Map()
  /** @type {Map<number, number>} */
  #notes = new Map()
  old = new Primary(this, 1)
  successor = new Primary(this, process.pid) // which asks if it is itself
  senders = [11, 12].map(pid => new Worker(this.old, pid))
  receivers = [21, 22].map(pid => new Worker(this.successor, pid))

  constructor () {
    for (const { handle } of this.senders) handle.isServing = false
    /** @type {Handle} */
    const there = new Handle(this.old, this.successor, message => here.hears(message))
    const here = new Handle(this.successor, this.old, message => there.hears(message))
    this.ends = { there, here }
    this.old.ledger.connectPeer(/** @type {any} */ (there))
    this.successor.ledger.connectPeer(/** @type {any} */ (here))
    this.old.heirs.push(there)
    for (let id = 0; id < CONNECTIONS; id++) this.senders[id % 2].offer(id)
  }

  get workers () {
    return [...this.senders, ...this.receivers]
  }

  /** As the addon's. @param {number} fd @param {number} pid */
  own (fd, pid) {
    this.#notes.set(fd, pid)
  }

  /** As the addon's. @param {number} fd */
  owner (fd) {
    return this.ownerOf(fd)
  }

  /** The kernel does not name a process that has ended. @param {number} id */
  ownerOf (id) {
    const pid = this.#notes.get(id)
    const owner = [this.old, this.successor, ...this.workers].find(one => one.pid === pid)
    return owner?.isAlive ? owner.pid : 0
  }

  /** @param {Process} from @param {Process} to @param {() => void} deliver */
  post (from, to, deliver) {
    const name = `${from.pid} to ${to.pid}`
    this.#queues.set(name, [...this.#queues.get(name) ?? [], { to, deliver }])
  }

  /** @param {number} which of the channels on which there is something @returns {boolean} there is one */
  step (which) {
    const waiting = [...this.#queues.values()].filter(queue => queue.length > 0)
    const message = waiting[which % waiting.length]?.shift()
    if (message?.to.isAlive) message.deliver()
    for (let id = 0; id < CONNECTIONS; id++) {
      if (this.readers(id).length > 1) throw new Error(`connection ${id} is read by ${this.readers(id).join(' and ')}`)
    }
    return message !== undefined
  }

  /** All that is on its way, and a long time. */
  async settle () {
    for (let ms = 0; ms < LONG_MS; ms += 500) {
      while (this.step(0));
      mock.timers.tick(500)
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  /** Each of the others notices at some moment, behind what it has sent. @param {Process} victim */
  kill (victim) {
    victim.isAlive = false
    if (victim instanceof Worker) {
      victim.connections.clear()
      const { handle, primary } = victim
      return this.post(victim, primary, () => {
        handle.end()
        const { ledger } = primary
        for (const [id, socket] of handle.kept) {
          ledger.give(/** @type {any} */ (handle), id, { key: KEY, leftMs: null }, /** @type {any} */ (socket))
        }
      })
    }
    const { old, successor, ends } = this
    for (const worker of this.workers) if (worker.primary === victim) this.post(victim, worker, () => worker.orphaned())
    if (victim === old) this.post(old, successor, () => ends.here.end())
    else {
      this.post(successor, old, () => {
        old.heirs.length = 0
        ends.there.end()
      })
    }
    /** @type {Primary} */ (victim).ledger.close() // its timers
  }

  /** @param {number} id @returns {number[]} pids */
  readers (id) {
    return this.workers.flatMap(({ pid, connections }) => connections.get(id) === 'here' ? pid : [])
  }
}

/** @param {Scene} scene @returns {Record<string, Process[]>} */
const victimsIn = ({ old, successor, senders, receivers }) => ({
  none: [],
  old: [old],
  successor: [successor],
  sender: [senders[0]],
  receiver: [receivers[1]],
  workers: [senders[0], receivers[1]]
})

t.test('of two primaries and their workers one dies, or a worker of each: every connection has one reader', async t => {
  const someStep = fc.nat(STEPS)
  const order = fc.array(fc.nat(5), { minLength: STEPS, maxLength: STEPS })
  const victims = fc.constantFrom('none', 'old', 'successor', 'sender', 'receiver', 'workers')
  await fc.assert(fc.asyncProperty(victims, order, someStep, someStep, someStep,
    async (victims, order, diesAt, refusesAt, isLateAt) => {
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const scene = new Scene()
        const [receiver] = scene.receivers
        const dies = victimsIn(scene)[victims]
        const isOfPrimaries = dies.some(victim => victim instanceof Primary)
        for (const [i, which] of order.entries()) {
          // Where all refuse what a primary that has just died had lent, it is lost
          if (i === refusesAt && !isOfPrimaries) receiver.refuses = true
          if (i === isLateAt && !isOfPrimaries) mock.timers.tick(1000)
          if (i === diesAt) for (const victim of dies) scene.kill(victim)
          scene.step(which)
          await null
        }
        receiver.refuses = false
        await scene.settle()
        for (let id = 0; id < CONNECTIONS; id++) {
          if (scene.readers(id).length === 0) throw new Error(`connection ${id} is lost`)
        }
      } finally {
        mock.timers.reset()
      }
    }), { numRuns: 1000 })
  t.pass()
})
