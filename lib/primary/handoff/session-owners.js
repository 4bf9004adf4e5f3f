'use strict'

/**
 * Which slot owns a session (`--sticky`). A session that a worker has begun is its slot's, whichever process runs there; any
 * other one goes to a slot by rendezvous hashing. So a recycle changes no owner, and a change of the fleet's size only those of
 * slots that are gone, and some of the sessions that no worker has begun.
 *
 * While a slot's worker leaves, its sessions are still its own, until its app has transferred them or is done with its onDrain();
 * lib/worker/sticky/sessions.js has the worker's side.
 */

const { ownerOf } = require('../../core/rendezvous')
const { now } = require('../clock')

const MOST_SESSIONS = 100_000
const LEAVING_MS = 6000 // a little more than the worker takes
const MOST_WAITING = 16 * 1024 * 1024 // characters of state for workers that are not ready yet

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle @typedef {{ session: string, value: string }} State */

class SessionOwners {
  /** The slots of sessions that a worker has begun, the oldest first. @type {Map<string, number>} */
  #slots = new Map()
  /** The sessions that a leaving worker has transferred; null: all of its own. @type {WeakMap<WorkerHandle, Set<string> | null>} */
  #transferred = new WeakMap()
  /** When a worker was first seen to leave. @type {WeakMap<WorkerHandle, number>} */
  #leavingSince = new WeakMap()
  /** State for slots without a worker that is ready. @type {State[]} */
  #waiting = []
  /** The slots that there were to be. @type {readonly number[]} */
  #wanted = []

  /** @param {import('../workers/fleet').Fleet} fleet */
  constructor (fleet) {
    this.fleet = fleet
    /** Another primary runs the fleet: a session that no leaving worker has is lost. */
    this.isOver = false
    /** Called when sessions that were nowhere have an owner. */
    this.onMoved = () => {}
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.on('own', session => this.#own(handle, session))
    handle.on('transfer', ({ session, value }) => this.#transfer(handle, { session, value }))
    handle.on('transferred', () => {
      this.#transferred.set(handle, null)
      this.onMoved()
    })
    handle.on('ready', () => {
      for (const state of this.#waiting.splice(0)) this.#transfer(null, state)
    })
  }

  /** @param {string} session @returns {WorkerHandle | null} its owner; null: it has none that serves at the moment */
  find (session) {
    if (this.fleet.wanted !== this.#wanted) this.#resize(this.#wanted)
    const began = this.#slots.get(session)
    for (const handle of this.fleet.slots.get(began ?? this.#slotOf(session))?.leaving ?? []) if (this.#stillOwns(handle, session)) return handle
    if (began !== undefined && !this.fleet.wanted.includes(began)) this.#slots.delete(session)
    const { incumbent } = this.fleet.slots.get(this.#slotOf(session)) ?? {}
    return incumbent?.isServing ? incumbent : null
  }

  /** @param {string} session */
  #slotOf (session) {
    const slot = this.#slots.get(session)
    return slot !== undefined && this.fleet.wanted.includes(slot) ? slot : ownerOf(session, this.fleet.desired > 0 ? this.fleet.wanted : [0])
  }

  /** @param {WorkerHandle} handle one that leaves, or will @param {string} session is not its own any more */
  #give (handle, session) {
    const transferred = this.#transferred.get(handle)
    if (transferred !== null) this.#transferred.set(handle, (transferred ?? new Set()).add(session))
  }

  /** @param {WorkerHandle} handle one that leaves @param {string} session */
  #stillOwns (handle, session) {
    const transferred = this.#transferred.get(handle)
    if (handle.isGone || handle.account || transferred === null || transferred?.has(session)) return false
    const since = this.#leavingSince.get(handle)
    if (since !== undefined) return now() - since < LEAVING_MS
    this.#leavingSince.set(handle, now())
    return true
  }

  /** @param {WorkerHandle} handle @param {string} session */
  #own (handle, session) {
    const { slot } = handle
    if (slot === null) return
    for (const leaving of this.fleet.slots.get(slot)?.leaving ?? []) if (leaving !== handle) this.#give(leaving, session)
    const before = this.#slotOf(session)
    if (before !== slot) this.fleet.slots.get(before)?.incumbent?.send('forget', { session })
    this.#slots.delete(session)
    this.#slots.set(session, slot)
    if (this.#slots.size <= MOST_SESSIONS) return
    const [[oldest]] = this.#slots
    this.#slots.delete(oldest)
  }

  /** @param {WorkerHandle | null} from @param {State} state */
  #transfer (from, state) {
    if (from) this.#give(from, state.session)
    const owner = this.fleet.slots.get(this.#slotOf(state.session))?.incumbent
    if (owner && owner === from) return
    if (owner?.isServing) return owner.send('session-state', state)
    const chars = this.#waiting.reduce((sum, { value }) => sum + value.length, state.value.length)
    if (chars <= MOST_WAITING) this.#waiting.push(state)
  }

  /** Some sessions have other owners now; the workers ask again. @param {readonly number[]} before */
  #resize (before) {
    this.#wanted = this.fleet.wanted
    if (before.length === 0) return // the fleet's beginning
    for (const handle of this.fleet.serving()) handle.send('forget', { session: null })
  }
}

module.exports = { SessionOwners, MOST_SESSIONS }
