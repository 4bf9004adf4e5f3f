'use strict'

/**
 * Which slot owns a session (`--sticky`). A session that a worker has begun is its slot's, whichever process runs there; any
 * other one goes to a slot by rendezvous hashing. So a recycle changes no owner, and a change of the fleet's size only those of
 * slots that are gone, and some of the sessions that no worker has begun.
 *
 * A session of a slot whose worker leaves is nowhere until the app there has transferred its state: its requests wait.
 */

const { ownerOf } = require('../../core/rendezvous')
const { now } = require('../clock')

const MOST_SESSIONS = 100_000
const TRANSFER_MS = 2000
const MOST_WAITING = 16 * 1024 * 1024 // characters of state for workers that are not ready yet

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle @typedef {{ session: string, value: string }} State */

class SessionOwners {
  /** The slots of sessions that a worker has begun, the oldest first. @type {Map<string, number>} */
  #slots = new Map()
  /** Workers that leave, and have transferred what they had. @type {WeakSet<WorkerHandle>} */
  #transferred = new WeakSet()
  /** When a worker was first seen to leave. @type {WeakMap<WorkerHandle, number>} */
  #leavingSince = new WeakMap()
  /** State for slots without a worker that is ready. @type {State[]} */
  #waiting = []
  #size = 0

  /** @param {import('../workers/fleet').Fleet} fleet */
  constructor (fleet) {
    this.fleet = fleet
    /** Called when sessions that were nowhere have an owner. */
    this.onMoved = () => {}
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    handle.on('own', ({ session }) => this.#own(handle, session))
    handle.on('transfer', ({ session, value }) => this.#transfer(handle, { session, value }))
    handle.on('transferred', () => {
      this.#transferred.add(handle)
      this.onMoved()
    })
    handle.on('ready', () => {
      for (const state of this.#waiting.splice(0)) this.#transfer(null, state)
    })
  }

  /** @param {string} session @returns {WorkerHandle | null} its owner, which serves; null: it has none for the moment */
  find (session) {
    if (this.fleet.desired !== this.#size) this.#resize()
    const slot = this.fleet.slots.get(this.#slotOf(session))
    if (!slot?.incumbent?.isServing) return null
    for (const handle of slot.leaving) if (this.#isTransferring(handle)) return null
    return slot.incumbent
  }

  /** @param {string} session */
  #slotOf (session) {
    const slot = this.#slots.get(session)
    return slot !== undefined && slot < this.fleet.desired ? slot : ownerOf(session, Math.max(1, this.fleet.desired))
  }

  /** @param {WorkerHandle} handle */
  #isTransferring (handle) {
    if (handle.isGone || this.#transferred.has(handle)) return false
    const since = this.#leavingSince.get(handle)
    if (since !== undefined) return now() - since < TRANSFER_MS
    this.#leavingSince.set(handle, now())
    setTimeout(() => this.onMoved(), TRANSFER_MS + 1)
    return true
  }

  /** @param {WorkerHandle} handle @param {string} session */
  #own (handle, session) {
    const { slot } = handle
    if (slot === null) return
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
    const owner = this.fleet.slots.get(this.#slotOf(state.session))?.incumbent
    if (owner && owner === from) return
    if (owner?.isServing) return owner.send('session-state', state)
    const chars = this.#waiting.reduce((sum, { value }) => sum + value.length, state.value.length)
    if (chars <= MOST_WAITING) this.#waiting.push(state)
  }

  /** Some sessions have other owners now; the workers ask again. */
  #resize () {
    this.#size = this.fleet.desired
    for (const [session, slot] of this.#slots) if (slot >= this.#size) this.#slots.delete(session)
    for (const handle of this.fleet.serving()) handle.send('forget', { session: null })
  }
}

module.exports = { SessionOwners, MOST_SESSIONS }
