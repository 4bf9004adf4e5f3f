'use strict'

/**
 * Moves connections from one worker to another, and is responsible for each on the way: idle ones of a worker that leaves or
 * has too many, those with a request that another worker is to handle instead, and those with a request of another worker's
 * session.
 *
 *     sender                primary's ledger                receiver
 *       │ offer + socket ──▶ queued
 *       │                     │  choose: the least connected, mostly the sender's successor
 *       │                     ├─ adopt + socket ──────────────────▶ │ held, unread
 *       │                    offered                                │
 *       │                     ◀────────────── adopted | refused ────┤
 *       │                     ├─ keep ────────────────────────────▶ │ reads it
 *       ◀── moved ───────────┘  our copy closes
 *
 * The rules; the absence of each was seen to lose a connection:
 *
 * 1. Our copy of the socket is closed on `adopted`, never before: if a process dies on the way, one copy is left.
 * 2. The receiver reads nothing before `keep`. If it does not answer within a second, the connection goes to another worker;
 *    a later `adopted` is answered by `drop`. So there is never a second reader.
 * 3. A receiver has one socket under way at a time. Node would queue more behind it, where they cannot be taken back.
 * 4. When all receivers have refused, it goes `back` to its sender; if that has exited, to the next worker that becomes ready.
 * 5. A connection of a session goes to the session's owner alone, and waits where there is none for the moment; after ten
 *    seconds any worker will do.
 */

const { now } = require('../clock')

const ANSWER_MS = 1000
const OWNER_MS = 10_000

/**
 * @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle
 *
 * @typedef {object} Entry
 * @property {number} id ours
 * @property {WorkerHandle} sender
 * @property {number} offerId the sender's
 * @property {import('../../core/message').ParcelFields} parcel as the sender gave it
 * @property {NodeJS.Timeout | null} ownerDeadline of a connection that waits for its session's owner
 * @property {boolean} isAnyones its session has no owner that takes it
 * @property {number} since ms, by clock.js
 * @property {any} socket our copy
 * @property {Set<WorkerHandle>} tried
 * @property {WorkerHandle | null} receiver null: queued
 * @property {NodeJS.Timeout | null} deadline
 */

class HandoffLedger {
  /** @type {Map<number, Entry>} */
  #entries = new Map()
  /** Receivers with a socket under way. @type {Set<WorkerHandle>} */
  #busy = new Set()
  /** Those of them that have not answered in time. @type {Set<WorkerHandle>} */
  #stalled = new Set()
  /** Connections moved to a worker since its last heartbeat, which does not count them. @type {WeakMap<WorkerHandle, { beat: object, count: number }>} */
  #recent = new WeakMap()
  #lastId = 0

  /**
   * @param {() => WorkerHandle[]} serving
   * @param {(sender: WorkerHandle) => WorkerHandle | null} successorOf
   * @param {import('./session-owners').SessionOwners} sessionOwners
   */
  constructor (serving, successorOf, sessionOwners) {
    this.serving = serving
    this.successorOf = successorOf
    this.sessionOwners = sessionOwners
    sessionOwners.onMoved = () => this.#pump()
    this.totals = { moved: 0, refused: 0, takenBack: 0, lost: 0, misplaced: 0 }
  }

  /** @param {WorkerHandle} handle a worker that can offer and adopt */
  connect (handle) {
    handle.on('offer', (offer, socket) => this.#accept(handle, offer, socket))
    handle.on('adopted', ({ id }) => this.#adopted(handle, id))
    handle.on('refused', ({ id }) => this.#refused(handle, id))
    handle.on('ready', () => this.#pump())
    handle.on('back', () => this.#pump())
    handle.on('exit', () => this.#gone(handle))
  }

  /** @param {WorkerHandle} sender @param {{ id: number, parcel: Entry['parcel'] }} offer @param {any} socket */
  #accept (sender, { id: offerId, parcel }, socket) {
    if (!socket) return sender.send('back', { id: offerId, isStalled: false })
    const id = ++this.#lastId
    this.#entries.set(id, {
      id, sender, offerId, parcel, since: now(), socket, tried: new Set([sender]), receiver: null, deadline: null, ownerDeadline: null, isAnyones: false
    })
    this.#pump()
  }

  /** Gives queued connections to the workers that are free. */
  #pump () {
    for (const entry of this.#entries.values()) {
      if (entry.receiver === null) this.#place(entry)
    }
  }

  /** @param {Entry} entry */
  #place (entry) {
    const { session, key } = entry.parcel
    if (session !== undefined && !entry.isAnyones) return this.#placeAtOwner(entry, session, key)
    const able = this.serving().filter(handle =>
      !handle.isGone && handle.addresses.has(entry.parcel.key) && !entry.tried.has(handle) && !this.#stalled.has(handle))
    if (able.length === 0) return this.#giveBack(entry)
    this.#send(entry, this.#choose(entry, able))
  }

  /** @param {Entry} entry @param {string} session @param {string} key */
  #placeAtOwner (entry, session, key) {
    const owner = this.sessionOwners.find(session)
    if (owner === entry.sender) {
      owner.send('back', { id: entry.offerId, isStalled: false, isOwner: true })
      this.#close(entry)
    } else if (owner && (entry.tried.has(owner) || !owner.addresses.has(key))) {
      this.#openToAll(entry)
    } else if (owner && !this.#stalled.has(owner)) {
      this.#send(entry, owner, true)
    } else {
      entry.ownerDeadline ??= setTimeout(() => this.#openToAll(entry), OWNER_MS)
    }
  }

  /** @param {Entry} entry */
  #openToAll (entry) {
    if (entry.receiver !== null || !this.#entries.has(entry.id)) return
    entry.isAnyones = true
    if (entry.parcel.bytes !== undefined) this.totals.misplaced++
    this.#place(entry)
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver @param {boolean} [isOwned] */
  #send (entry, receiver, isOwned = false) {
    if (this.#busy.has(receiver)) return // it stays queued
    entry.receiver = receiver
    entry.tried.add(receiver)
    this.#busy.add(receiver)
    entry.deadline = setTimeout(() => this.#timedOut(entry), ANSWER_MS)
    const { id, parcel, since } = entry
    const leftMs = parcel.leftMs === null ? null : Math.max(1, parcel.leftMs - (now() - since))
    receiver.send('adopt', { id, parcel: { ...parcel, leftMs, ...(isOwned && { isOwned }) } }, entry.socket, error => {
      if (error) this.#refused(receiver, entry.id)
    })
  }

  /** The least connected; among equals the sender's successor, which starts with none. @param {Entry} entry @param {WorkerHandle[]} able */
  #choose (entry, able) {
    const successor = this.successorOf(entry.sender)
    const inOrder = successor && able.includes(successor) ? [successor, ...able] : able
    return inOrder.reduce((least, handle) => this.#load(handle) < this.#load(least) ? handle : least)
  }

  /** @param {WorkerHandle} handle its connections, by its last heartbeat and what was moved there since */
  #load (handle) {
    const recent = this.#recent.get(handle)
    return handle.latest.connections + (recent?.beat === handle.latest ? recent.count : 0) + (this.#busy.has(handle) ? 1 : 0)
  }

  /** @param {WorkerHandle} receiver @param {number} id */
  #adopted (receiver, id) {
    const entry = this.#entries.get(id)
    if (entry?.receiver !== receiver) {
      receiver.send('drop', { id })
      return this.#free(receiver)
    }
    receiver.send('keep', { id })
    const recent = this.#recent.get(receiver)
    this.#recent.set(receiver, { beat: receiver.latest, count: recent?.beat === receiver.latest ? recent.count + 1 : 1 })
    this.totals.moved++
    if (!entry.sender.isGone) entry.sender.send('moved', { id: entry.offerId })
    this.#close(entry)
    this.#free(receiver)
  }

  /** @param {WorkerHandle} receiver @param {number} id */
  #refused (receiver, id) {
    const entry = this.#entries.get(id)
    if (entry?.receiver === receiver) {
      this.totals.refused++
      this.#requeue(entry)
    }
    this.#free(receiver)
  }

  /** @param {Entry} entry */
  #timedOut (entry) {
    if (entry.receiver) {
      this.#stalled.add(entry.receiver) // until it answers it is given nothing else
      if (entry.parcel.session !== undefined) entry.tried.delete(entry.receiver) // the owner is waited for
    }
    this.totals.takenBack++
    this.#requeue(entry)
    this.#pump()
  }

  /** @param {WorkerHandle} handle a worker that has died */
  #gone (handle) {
    for (const entry of this.#entries.values()) {
      if (entry.receiver !== handle) continue
      this.totals.takenBack++
      this.#requeue(entry)
    }
    this.#free(handle)
  }

  /** @param {Entry} entry */
  #requeue (entry) {
    if (entry.deadline) clearTimeout(entry.deadline)
    entry.deadline = null
    entry.receiver = null
  }

  /** @param {WorkerHandle} receiver */
  #free (receiver) {
    this.#busy.delete(receiver)
    this.#stalled.delete(receiver)
    this.#pump()
  }

  /** The fleet has stopped. */
  close () {
    for (const entry of this.#entries.values()) this.#close(entry)
  }

  /** No worker that serves now takes it. @param {Entry} entry */
  #giveBack (entry) {
    if (!entry.sender.isGone) {
      const isStalled = this.serving().some(handle => handle !== entry.sender && handle.addresses.has(entry.parcel.key) && this.#stalled.has(handle))
      entry.sender.send('back', { id: entry.offerId, isStalled })
      this.#close(entry)
    } else if (entry.parcel.leftMs !== null && now() - entry.since > entry.parcel.leftMs) {
      this.totals.lost++
      this.#close(entry)
    } else {
      entry.tried.clear() // the next worker to become ready gets it
    }
  }

  /** @param {Entry} entry */
  #close (entry) {
    if (entry.deadline) clearTimeout(entry.deadline)
    if (entry.ownerDeadline) clearTimeout(entry.ownerDeadline)
    this.#entries.delete(entry.id)
    entry.socket.close()
  }
}

module.exports = { HandoffLedger }
