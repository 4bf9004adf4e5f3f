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
 * 3. A receiver has no more sockets under way than two batches (lib/mold/batches.js); without batches it has one, for Node would queue
 *    more behind it, where they cannot be taken back.
 * 4. When all receivers have refused, it goes `back` to its sender; if that has exited, to the next worker that becomes ready.
 * 5. A connection of a session goes to the session's owner alone, and waits where there is none for the moment; after ten
 *    seconds any worker will do.
 * 6. A sender that is another primary only lends its connections: it has asked others before, and may have taken one back. So
 *    on `adopted` it is asked, and decides between `keep` and `drop`. If it dies, the connection is ours.
 */

const { now } = require('../clock')

const ANSWER_MS = 1000
const OWNER_MS = 10_000
const WINDOW = 1
const BATCHED_WINDOW = 256

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
 * @property {'own' | 'lent' | 'asked' | 'given'} claim a worker's own; or of a lender, which has it still, has been asked for it, has given it away
 * @property {boolean} isHeld the receiver has adopted it, and waits for `keep`
 */

class HandoffLedger {
  /** @type {Map<number, Entry>} */
  #entries = new Map()
  /** Those of them without a receiver, in their order. @type {Set<Entry>} */
  #queued = new Set()
  #pumpScheduled = false
  /** How many sockets are under way to each receiver, and not answered. @type {Map<WorkerHandle, number>} */
  #underWay = new Map()
  /** Receivers that have not answered in time. @type {Set<WorkerHandle>} */
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

  /** @param {import('../upgrade/remote-workers').RemoteSender} sender a primary that lends */
  connectLender (sender) {
    const handle = /** @type {WorkerHandle} */ (/** @type {unknown} */ (sender))
    const find = (/** @type {number} */ id) => [...this.#entries.values()].find(entry => entry.sender === handle && entry.offerId === id)
    sender.on('offer', (offer, socket) => this.#accept(handle, offer, socket, 'lent'))
    sender.on('keep', ({ id }) => this.#own(find(id)))
    sender.on('drop', ({ id }) => this.#drop(find(id)))
    sender.on('exit', () => { for (const entry of this.#entries.values()) if (entry.sender === handle) this.#own(entry) })
  }

  /** @param {WorkerHandle} sender @param {{ id: number, parcel: Entry['parcel'] }} offer @param {any} socket */
  #accept (sender, { id: offerId, parcel }, socket, claim = /** @type {Entry['claim']} */ ('own')) {
    if (!socket) return sender.send('back', { id: offerId, isStalled: false })
    const id = ++this.#lastId
    /** @type {Entry} */
    const entry = {
      id, sender, offerId, parcel, since: now(), socket, tried: new Set([sender]), receiver: null, deadline: null, ownerDeadline: null, isAnyones: false, claim, isHeld: false
    }
    this.#entries.set(id, entry)
    this.#queued.add(entry)
    this.#place(entry)
  }

  /** Gives queued connections to the workers that have room. */
  #pump () {
    for (const entry of this.#queued) this.#place(entry)
  }

  /** Once for all the answers of a batch. */
  #pumpSoon () {
    if (this.#pumpScheduled || this.#queued.size === 0) return
    this.#pumpScheduled = true
    process.nextTick(() => {
      this.#pumpScheduled = false
      this.#pump()
    })
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
    } else if (owner ? (entry.tried.has(owner) || !owner.addresses.has(key)) : this.sessionOwners.isOver) {
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
    const underWay = this.#underWay.get(receiver) ?? 0
    if (underWay >= (receiver.isBatching ? BATCHED_WINDOW : WINDOW)) return // it stays queued
    this.#queued.delete(entry)
    entry.receiver = receiver
    entry.tried.add(receiver)
    this.#underWay.set(receiver, underWay + 1)
    entry.deadline = setTimeout(() => this.#timedOut(entry), ANSWER_MS)
    const { id, parcel, since } = entry
    const leftMs = parcel.leftMs === null ? null : Math.max(1, parcel.leftMs - (now() - since))
    receiver.send('adopt', { id, parcel: { ...parcel, leftMs, ...(isOwned && { isOwned }) }, isLent: isLent(entry) }, entry.socket, error => {
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
    return handle.latest.connections + (recent?.beat === handle.latest ? recent.count : 0) + (this.#underWay.get(handle) ?? 0)
  }

  /** @param {WorkerHandle} receiver @param {number} id */
  #adopted (receiver, id) {
    const entry = this.#entries.get(id)
    if (entry?.receiver !== receiver) {
      receiver.send('drop', { id })
      return this.#free(receiver)
    }
    if (isLent(entry)) this.#hold(entry)
    else this.#keep(entry, receiver)
    this.#free(receiver)
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver */
  #keep (entry, receiver) {
    receiver.send('keep', { id: entry.id })
    const recent = this.#recent.get(receiver)
    this.#recent.set(receiver, { beat: receiver.latest, count: recent?.beat === receiver.latest ? recent.count + 1 : 1 })
    this.totals.moved++
    if (!entry.sender.isGone && entry.claim === 'own') entry.sender.send('moved', { id: entry.offerId })
    this.#close(entry)
  }

  /** @param {Entry} entry a lent one, which a receiver has adopted */
  #hold (entry) {
    if (entry.deadline) clearTimeout(entry.deadline)
    entry.isHeld = true
    if (entry.claim === 'asked') return
    entry.claim = 'asked'
    entry.sender.send('moved', { id: entry.offerId })
  }

  /** Its sender has closed its copy. @param {Entry} [entry] */
  #own (entry) {
    if (!entry) return
    entry.claim = 'given'
    if (entry.isHeld && entry.receiver) this.#keep(entry, entry.receiver)
  }

  /** Its sender has it again. @param {Entry} [entry] */
  #drop (entry) {
    if (!entry) return
    if (entry.isHeld && entry.receiver) entry.receiver.send('drop', { id: entry.id })
    this.#close(entry) // a receiver that answers later is told then
  }

  /** @param {WorkerHandle} receiver @param {number} id */
  #refused (receiver, id) {
    const entry = this.#entries.get(id)
    this.#free(receiver)
    if (entry?.receiver !== receiver) return
    this.totals.refused++
    this.#requeue(entry)
    this.#place(entry)
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
    this.#underWay.delete(handle)
    this.#stalled.delete(handle)
    this.#pump()
  }

  /** @param {Entry} entry */
  #requeue (entry) {
    if (entry.deadline) clearTimeout(entry.deadline)
    entry.deadline = null
    entry.receiver = null
    entry.isHeld = false
    this.#queued.add(entry)
  }

  /** It has answered. @param {WorkerHandle} receiver */
  #free (receiver) {
    const underWay = (this.#underWay.get(receiver) ?? 0) - 1
    if (underWay > 0) this.#underWay.set(receiver, underWay)
    else this.#underWay.delete(receiver)
    this.#stalled.delete(receiver)
    this.#pumpSoon()
  }

  /** The fleet has stopped. */
  close () {
    for (const entry of this.#entries.values()) this.#close(entry)
  }

  /** No worker that serves now takes it. @param {Entry} entry */
  #giveBack (entry) {
    if (!entry.sender.isGone && (entry.claim === 'own' || entry.claim === 'lent')) {
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
    this.#queued.delete(entry)
    entry.socket.close()
  }
}

/** @param {Entry} entry @returns {boolean} its sender may say that it has it again */
function isLent ({ claim }) {
  return claim === 'lent' || claim === 'asked'
}

module.exports = { HandoffLedger }
