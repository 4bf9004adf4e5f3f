'use strict'

/**
 * Which slot owns a session (`--sticky`). A session that a worker has begun is its slot's, whichever process runs
 * there; any other one goes to a slot by rendezvous hashing. So a recycle changes no owner, and a change of the fleet's
 * size only those of slots that are gone, and some of the sessions that no worker has begun.
 *
 * While a slot's worker leaves, its sessions are still its own, until its app has transferred them or is done with its
 * onDrain(); worker.js has the worker's side.
 */

const { EventEmitter } = require('node:events')
const { ownerOf } = require('./rendezvous')
const { SessionsForSuccessor, SessionsOfPredecessor } = require('./handover')
/** @import { Peer } from '../../primary/succession/peer' */
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

const MOST_SESSIONS = 100_000 // that are not used, and twice as many in all
const MOST_WAITING = 64 * 1024 * 1024 // characters of state for workers that are not ready yet
const LOST_MS = 1000 // what is lost in this time is told at once

/** @typedef {{ session: string, value: string }} State */

/** Emits `moved` when sessions that were nowhere have an owner. */
class SessionOwners extends EventEmitter {
  /** The slots of sessions that a worker has begun. @type {Map<string, number>} */
  #slots = new Map()
  /** Goes round them: where it is, the session's worker is asked if it is used; see second-chance.js. */
  #hand = this.#slots.entries()
  /** The sessions that a leaving worker has given away. @type {WeakMap<WorkerHandle, Set<string>>} */
  #given = new WeakMap()
  /** Sessions that a leaving worker still has, once it has told. @type {WeakMap<WorkerHandle, Set<string>>} */
  #kept = new WeakMap()
  /** State for slots without a worker that is ready. @type {State[]} */
  #waiting = []
  #waitingChars = 0
  /** State for which there was no room, and that is not told yet. @type {{ sessions: number, chars: number } | null} */
  #lost = null
  /** Where another primary is about to run this fleet, or does. @type {SessionsForSuccessor | null} */
  #successor = null
  /** Where this one has taken a fleet over. @type {SessionsOfPredecessor | null} */
  #predecessor = null
  /** The slots that there were to be. @type {readonly number[]} */
  #wanted = []

  /** @param {Pick<import('../../primary/parts').Parts, 'fleet' | 'record'>} kernel */
  constructor ({ fleet, record }) {
    super()
    this.fleet = fleet
    this.record = record
    /** Another primary runs the fleet: what no leaving worker has is not here any more. */
    this.isOver = false
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.hear({
      own: ({ id, session }) => {
        this.#own(handle, session)
        handle.send('answer', { id, errno: 0 })
      },
      forget: ({ session }) => { if (this.#slots.get(session) === handle.slot) this.#slots.delete(session) },
      transfer: ({ session, value }) => this.#transfer(handle, { session, value }),
      transferred: ({ except }) => {
        this.#kept.set(handle, new Set(except))
        this.#tellLeft(handle.slot)
        this.emit('moved')
      }
    })
    handle.on('exit', () => this.#tellLeft(handle.slot))
    handle.on('ready', () => {
      this.#waitingChars = 0
      for (const state of this.#waiting.splice(0)) this.#transfer(null, state)
    })
  }

  /** This fleet's sessions are going to be another primary's. @param {Peer} successor */
  lendTo (successor) {
    this.#successor = new SessionsForSuccessor(successor, this.#slots, this.fleet.wanted)
  }

  /** This fleet's workers have been told to leave. */
  handOver () {
    this.isOver = true
    for (const { slot } of this.fleet.list()) this.#tellLeft(slot)
  }

  /** The successor is gone, and what it has been given with it. */
  resume () {
    this.isOver = false
    const { sessions, chars } = this.#successor?.sent ?? { sessions: 0, chars: 0 }
    if (sessions > 0) this.#lose(sessions, chars)
    this.#successor = null
  }

  /** @param {import('../../primary/succession/takeover').Takeover} takeover of another primary's fleet */
  succeed (takeover) {
    this.#predecessor = new SessionsOfPredecessor(takeover, {
      learn: (session, slot) => { this.#slots.set(session, slot) },
      take: state => this.#transfer(null, state),
      moved: () => this.emit('moved')
    })
  }

  /** How many sessions are remembered. */
  get size () {
    return this.#slots.size
  }

  /** @param {string} session @returns {WorkerHandle | null} its owner; null: it has none that serves at the moment */
  find (session) {
    if (this.fleet.wanted !== this.#wanted) this.#resize(this.#wanted)
    const began = this.#slots.get(session)
    if (began === undefined && this.#isUntold) return null
    if (this.#predecessor?.has(session, began)) return null
    for (const handle of this.fleet.slots.get(began ?? this.#slotOf(session))?.leaving ?? []) {
      if (this.#stillOwns(handle, session)) return handle
    }
    if (began !== undefined && !this.#has(began)) this.#slots.delete(session)
    const { incumbent } = this.fleet.slots.get(this.#slotOf(session)) ?? {}
    return incumbent?.isServing ? incumbent : null
  }

  /** Workers of a primary that has died may yet tell that it is theirs. */
  get #isUntold () {
    return this.fleet.all().some(({ isAdopted, state }) => isAdopted && state === 'spawning')
  }

  /**
   * @param {string} session
   * @returns {boolean} its owner is out of rotation, and comes back, or is an old primary's worker that leaves
   */
  isAway (session) {
    if (this.#predecessor?.has(session, this.#slots.get(session))) return true
    return this.fleet.slots.get(this.#slotOf(session))?.incumbent?.state === 'out-of-rotation'
  }

  /** @param {string} session */
  #slotOf (session) {
    const slot = this.#slots.get(session)
    return slot !== undefined && this.#has(slot)
      ? slot
      : ownerOf(session, this.fleet.desired > 0 ? this.fleet.wanted : [0])
  }

  /** @param {number} slot @returns {boolean} it is to be there, or its worker has not been told to leave yet */
  #has (slot) {
    return this.fleet.wanted.includes(slot) || this.fleet.slots.get(slot)?.incumbent?.isServing === true
  }

  /** @param {WorkerHandle} handle one that leaves, or will @param {string} session is not its own any more */
  #give (handle, session) {
    const given = this.#given.get(handle)
    if (given) given.add(session)
    else this.#given.set(handle, new Set([session]))
  }

  /** @param {WorkerHandle} handle one that leaves @param {string} session */
  #stillOwns (handle, session) {
    if (handle.isGone || handle.account || this.#given.get(handle)?.has(session)) return false
    return this.#kept.get(handle)?.has(session) ?? true
  }

  /** @param {WorkerHandle} handle @param {string} session */
  #own (handle, session) {
    const { slot } = handle
    if (slot === null) return
    for (const leaving of this.fleet.slots.get(slot)?.leaving ?? []) {
      if (leaving !== handle) this.#give(leaving, session)
    }
    this.#predecessor?.give(session)
    const before = this.#slotOf(session)
    if (before !== slot) this.fleet.slots.get(before)?.incumbent?.send('forget', { session })
    this.#slots.set(session, slot)
    this.#successor?.began(session, slot)
    if (this.#slots.size > MOST_SESSIONS) this.#review()
  }

  /** Only a session's worker knows if it is used: most of its requests pass no other process. */
  #review () {
    let { value } = this.#hand.next()
    if (value === undefined) {
      this.#hand = this.#slots.entries()
      value = this.#hand.next().value
    }
    const [session, slot] = /** @type {[string, number]} */ (value)
    const { incumbent, leaving } = this.fleet.slots.get(slot) ?? {}
    if (leaving?.size) return // not now: two processes have some of its sessions
    const isTooMany = this.#slots.size > 2 * MOST_SESSIONS
    if (isTooMany) this.#slots.delete(session)
    incumbent?.send('forget', { session, ...!isTooMany && { ifUnused: true } })
  }

  /** @param {WorkerHandle | null} from @param {State} state */
  #transfer (from, state) {
    if (from) {
      this.#give(from, state.session)
      if (this.#kept.has(from)) queueMicrotask(() => this.emit('moved')) // state first
    }
    const slot = this.#slotOf(state.session)
    this.#slots.set(state.session, slot) // also when the fleet has another size
    const owner = this.fleet.slots.get(slot)?.incumbent
    if (owner && owner === from) return
    if (this.isOver) return this.#successor ? this.#successor.give(state) : this.#lose(1, state.value.length)
    if (owner?.isServing || owner?.state === 'out-of-rotation') return owner.send('transfer', state)
    const chars = this.#waitingChars + state.value.length
    if (chars > MOST_WAITING) return this.#lose(1, state.value.length)
    this.#waitingChars = chars
    this.#waiting.push(state)
  }

  /**
   * To an old primary's successor: which sessions the workers of a slot still have, when all have said so, or are gone.
   * @param {number | null} slot
   */
  #tellLeft (slot) {
    if (!this.isOver || this.#successor === null || slot === null) return
    const { incumbent = null, leaving = [] } = this.fleet.slots.get(slot) ?? {}
    const left = /** @type {WorkerHandle[]} */ ([incumbent, ...leaving].filter(handle =>
      handle !== null && !handle.isGone && !handle.account))
    if (left.some(handle => !this.#kept.has(handle))) return
    this.#successor.left(slot, left.flatMap(handle =>
      [...this.#kept.get(handle) ?? []].filter(session => this.#stillOwns(handle, session))))
  }

  /**
   * State that no worker gets is told, with all that is lost within a second.
   * @param {number} sessions @param {number} chars
   */
  #lose (sessions, chars) {
    if (this.#lost === null) {
      setTimeout(() => {
        this.record('fleet.warning', { warning: 'sessions-lost', ...this.#lost })
        this.#lost = null
      }, LOST_MS).unref()
    }
    const lost = this.#lost ?? { sessions: 0, chars: 0 }
    this.#lost = { sessions: lost.sessions + sessions, chars: lost.chars + chars }
  }

  /** Some sessions have other owners now; the workers ask again. @param {readonly number[]} before */
  #resize (before) {
    this.#wanted = this.fleet.wanted
    if (before.length === 0) return // the fleet's beginning
    for (const handle of this.fleet.serving()) handle.send('forget', { session: null })
  }
}

module.exports = { SessionOwners, MOST_SESSIONS, MOST_WAITING }
