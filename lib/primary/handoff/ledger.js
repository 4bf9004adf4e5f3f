'use strict'

/**
 * Moves connections from one worker to another, and is responsible for each on the way: idle ones of a worker that
 * leaves or has too many, those with a request that another worker is to handle instead, and those with a request of
 * another worker's session. Which worker gets one is for placement.js to say.
 *
 *     sender                primary's ledger                receiver
 *       │ move ────────────▶ offered: our copy, or the socket that comes along
 *       │                     │  place: at the least busy or connected, mostly the sender's successor
 *       │                     ├─ move + socket ───────────────────▶ │ held, unread
 *       │                     ◀──────────────────────── moved: ok ──┤
 *       ◀── moved: ok ───────┤  our copy closes
 *       │                     └─ moved: ok ───────────────────────▶ │ reads it
 *
 * A connection has one number, `id`, given where it was accepted. To the sender of `move` the answer `moved` is the
 * outcome: ok, or the connection is the sender's still. To its receiver it is the decision: ok, or close that copy.
 *
 * The rules; the absence of each was seen to lose a connection:
 *
 * 1. Our copy of the socket is closed on a receiver's ok, never before: if a process dies on the way, one copy is left.
 * 2. The receiver reads nothing before our ok. If it does not answer within a second, the connection goes to another
 *    worker, and a later ok of the first is answered by one that is none. So there is never a second reader. Before
 *    that answer the first is not asked again for the same connection: an answer belongs to the latest asking.
 * 3. When all receivers have refused, it goes back to its sender; if that has exited, to the next worker that becomes
 *    ready within its time, or half a minute. A sender that is the only worker, and drains first, gives all to this
 *    process, for its replacement.
 * 4. A request of a session goes to the session's owner alone, and waits where there is none for the moment; after ten
 *    seconds any worker will do, unless the owner is out of rotation. Meanwhile the connection is this process's alone:
 *    its sender may have to leave before the owner is there (--max-surge 0).
 * 5. Another primary speaks the same messages: as a receiver it stands for all its workers; as a sender it only lends,
 *    for it has asked others before, and may have taken a connection back. So on a worker's ok it is asked, and
 *    decides. If it dies, what it has lent and not taken back is ours.
 * 6. Where the app of the sender sees a connection as open after it has gone (trails.js), what it sends there follows.
 * 7. Which process has it is noted with the socket before any is told, and with each asking of another primary, or for
 *    one that no worker has. If this process dies on the way, the sender and the receivers find it there
 *    (worker/handoff/handoff.js).
 * 8. What a dead worker had is given to the others as if it had offered it, and cannot go back: `give()`. As the fleet
 *    stops no further worker is waited for.
 */

const { setImmediate } = require('node:timers')
const { noMoves } = require('../../core/moves')
const { loadAddon } = require('../../native/addon')
const { Entry } = require('./entry')
const { Loads } = require('./loads')
const { Placement } = require('./placement')
const { Trails } = require('./trails')
/** @import { Move } from '../../core/moves' */
/** @import { Copy } from '../../worker/connections/parcel' */
/** @import { Peer } from '../succession/peer' */
/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { Offered } from './entry' */

const ANSWER_MS = 1000
const OWNER_MS = 10_000
const ORPHAN_MS = 30_000
const SETTLED_WITHIN_MS = 30_000

class HandoffLedger {
  /** Connections on their way, by their numbers, in their order. @type {Map<number, Entry>} */
  #entries = new Map()
  /** Other primaries. @type {WeakSet<WorkerHandle>} */
  #peers = new WeakSet()
  #trails = new Trails()
  #isPumpScheduled = false
  #onSettled = () => {}
  #addon = loadAddon().addon

  /**
   * @param {{ fleet: Pick<import('../workers/fleet').Fleet, 'serving' | 'heirs' | 'successorOf' | 'isLeavingGap'>,
   *   tenure: { isOver: boolean }, owners: import('./no-owners').Owners,
   *   copies: Pick<import('../features').RunningFeatures, 'kept' | 'takeCopy'> }} deps `copies` has our copies of
   *   connections that workers read, and have noted
   */
  constructor ({ fleet, tenure, owners, copies }) {
    this.fleet = fleet
    this.tenure = tenure
    this.copies = copies
    this.loads = new Loads()
    const receivers = () => fleet.serving().concat(/** @type {any} */ (fleet.heirs))
    this.placement = new Placement(receivers, sender => fleet.successorOf(sender), owners, this.loads)
    owners.on('moved', () => this.look())
    this.totals = { moved: 0, moves: noMoves(), refused: 0, takenBack: 0, lost: 0, misplaced: 0 }
  }

  /** No further worker will serve: neither of this primary nor of the next one. */
  get isEnding () {
    return this.tenure.isOver && this.fleet.heirs.length === 0
  }

  /** @param {WorkerHandle} handle */
  connect (handle) {
    this.#hear(handle)
    handle.on('ready', () => this.look())
    handle.on('returned', () => this.look())
  }

  /** @param {Peer<any>} peer another primary, which lends connections, or takes them */
  connectPeer (peer) {
    const handle = /** @type {WorkerHandle} */ (/** @type {unknown} */ (peer))
    this.#peers.add(handle)
    this.#hear(handle)
  }

  /** @param {WorkerHandle} handle */
  #hear (handle) {
    handle.hear({
      move: (offer, socket) => this.#accept(handle, offer, socket),
      moved: answer => this.#answered(handle, answer)
    })
    this.#trails.connect(handle)
    handle.on('exit', () => this.#gone(handle))
  }

  /**
   * @param {WorkerHandle} sender @param {{ id: number, parcel: Entry['parcel'] }} offer
   * @param {any} given undefined: we have a copy
   */
  #accept (sender, { id, parcel: { row, byLoad, ...parcel } }, given) {
    const copy = row === undefined ? null : this.copies.takeCopy(sender, { row, serial: id })
    const socket = given ?? copy
    if (socket !== copy) copy?.close()
    if (!socket || this.#entries.has(id)) { // an app may have sent this number
      socket?.close()
      return tell(sender, id, { ok: false, isStalled: false, ...!socket && { isMissing: true } })
    }
    const isPeer = this.#peers.has(sender)
    const reason = isPeer ? 'predecessor' : reasonOf(sender, { byLoad, ...parcel })
    const entry = this.#enter({
      id, sender, parcel, socket, reason, row, place: sender.isGone ? 'held' : isPeer ? 'lent' : 'offered'
    })
    try {
      this.#place(entry)
    } catch (error) {
      tell(sender, id, { ok: false, isStalled: false })
      this.#end(entry, 'gone')
      throw error
    }
  }

  /**
   * @param {WorkerHandle} sender a worker that has died @param {number} id @param {Entry['parcel']} parcel
   * @param {any} socket @param {Pick<Offered, 'apart' | 'lost'>} [how]
   */
  give (sender, id, parcel, socket, how) {
    for (; this.#entries.has(id); id++); // an app has sent this number
    this.#place(this.#enter({ id, sender, parcel, socket, reason: 'death', place: 'held', ...how }))
  }

  /** @param {Offered} offered */
  #enter (offered) {
    const entry = new Entry(offered)
    this.#entries.set(entry.id, entry)
    if (entry.parcel.isFollowed) this.#trails.open(entry)
    return entry
  }

  /** @param {Entry} entry one without a receiver @returns {import('./placement').Why | null} */
  #place (entry) {
    const { to, isOwned, why } = this.placement.find(entry)
    if (to) this.#ask(entry, to, isOwned)
    else if (why === 'none') this.#giveBack(entry)
    else if (why === 'refused') this.#openToAll(entry)
    else if (why === 'sender') this.#sendBack(entry, { isStalled: false, isOwner: true })
    else if (why !== 'full') this.#awaitOwner(entry)
    return why
  }

  /** @param {Entry} entry with a request */
  #awaitOwner (entry) {
    const isAway = () => this.placement.owners.isAway(/** @type {string} */ (entry.parcel.session))
    entry.waitFor(OWNER_MS, () => isAway() ? this.#awaitOwner(entry) : this.#openToAll(entry))
    if (entry.place === 'offered') this.#take(entry)
  }

  /** From here on this process alone has it. @param {Entry} entry an offered one */
  #take (entry) {
    tell(entry.sender, entry.id, { ok: true })
    entry.become('held')
    entry.tried.delete(entry.sender)
  }

  /** @param {Entry} entry with a request */
  #openToAll (entry) {
    if (!entry.isAnyones) this.totals.misplaced++
    entry.isAnyones = true
    if (entry.receiver === null) this.#place(entry)
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver @param {boolean} isOwned */
  #ask (entry, receiver, isOwned) {
    const { id, parcel, leftMs, place, socket, hasWaited } = entry
    entry.ask(receiver, ANSWER_MS, () => this.#timedOut(entry))
    if (place === 'held' || this.#peers.has(receiver)) this.#note(entry)
    this.placement.sent(receiver, id, parcel.load)
    const fields = { ...parcel, leftMs: leftMs === null ? null : Math.max(1, leftMs), ...(isOwned && { isOwned }) }
    if (!isOwned && hasWaited) delete fields.session // another primary would wait as long again for its owner
    receiver.send('move', { id, parcel: fields }, socket, error => {
      if (error) this.#answered(receiver, { id, ok: false })
    })
  }

  /**
   * The connection is this process's, also if the primary dies.
   *
   * @param {Entry} entry @param {WorkerHandle | null} [owner] by default its receiver; null: none is asked
   */
  #note ({ receiver, socket }, owner = receiver) {
    if (owner && socket.fd >= 0) this.#addon?.own(socket.fd, owner.pid)
  }

  /** @param {Entry} entry whose receiver does not have it */
  #takeBack (entry) {
    if (entry.receiver && entry.place !== 'held' && this.#peers.has(entry.receiver)) this.#note(entry, entry.sender)
    entry.takeBack()
  }

  /** By another primary that has died, before it took it back. @param {Entry} entry lent */
  #isGiven ({ socket }) {
    const owner = socket.fd >= 0 ? this.#addon?.owner(socket.fd) : undefined
    return owner === undefined || owner === process.pid
  }

  /** @param {WorkerHandle} handle @param {{ id: number, ok: boolean, row?: number }} answer */
  #answered (handle, { id, ok, row }) {
    const entry = this.#entries.get(id)
    if (entry?.sender === handle && entry.isLent) return this.#decided(entry, ok)
    const isAsked = this.placement.answered(handle, id)
    if (entry?.receiver === handle && isAsked) {
      if (ok) this.#adopted(entry, row ?? null)
      else this.#refused(entry)
    } else if (ok && (isAsked || !this.#peers.has(handle))) {
      tell(handle, id, { ok: false })
    }
    this.#lookSoon()
  }

  /** @param {Entry} entry @param {number | null} row where its receiver has noted it */
  #adopted (entry, row) {
    entry.answered()
    entry.noted = row
    if (!entry.isLent) return this.#keep(entry)
    if (entry.place === 'adopted') return
    entry.become('adopted')
    tell(entry.sender, entry.id, { ok: true })
  }

  /** By the lender. @param {Entry} entry @param {boolean} ok else it has the connection again */
  #decided (entry, ok) {
    if (ok) return this.#hold(entry)
    if (entry.receiver && entry.isAdopted) tell(entry.receiver, entry.id, { ok: false })
    this.#end(entry, 'gone') // a receiver that answers later is told then
  }

  /** @param {Entry} entry */
  #keep (entry) {
    const { id, sender, place, noted, parcel } = entry
    const receiver = /** @type {WorkerHandle} */ (entry.receiver)
    this.#note(entry)
    if (place === 'offered') tell(sender, id, { ok: true })
    take(receiver, id, { ok: true })
    this.#trails.link(entry, receiver)
    this.totals.moved++
    this.totals.moves[entry.reason]++
    if (noted !== null) this.copies.kept(receiver, { row: noted, serial: id }, entry.giveSocket(), parcel)
    this.#end(entry, 'here')
  }

  /** @param {Entry} entry */
  #refused (entry) {
    this.totals.refused++
    this.#takeBack(entry)
    this.#place(entry)
  }

  /** @param {Entry} entry */
  #timedOut (entry) {
    const receiver = /** @type {WorkerHandle} */ (entry.receiver)
    const { session } = entry.parcel
    if (session !== undefined) entry.tried.delete(receiver) // the owner is waited for
    // Another primary may wait for the owner, too
    if (session === undefined || !this.#peers.has(receiver)) this.placement.timedOut(receiver)
    this.totals.takenBack++
    this.#takeBack(entry)
    this.look()
  }

  /** @param {WorkerHandle} handle a worker or another primary that has died */
  #gone (handle) {
    this.placement.forget(handle)
    for (const entry of this.#entries.values()) {
      if (entry.receiver === handle) {
        this.totals.takenBack++
        this.#takeBack(entry)
      }
      if (entry.sender !== handle || entry.place === 'held') continue
      if (entry.isLent && !this.#isGiven(entry)) this.#decided(entry, false)
      else this.#hold(entry)
    }
    this.look()
  }

  /** The sender has it no more. @param {Entry} entry */
  #hold (entry) {
    entry.become('held')
    if (entry.isAdopted) this.#keep(entry)
    else this.#note(entry)
  }

  /** There are workers that may take what waits. Behind one that waits for room, its sender's others wait too. */
  look () {
    /** The keys of those, by sender. @type {Map<WorkerHandle, string>} */
    const full = new Map()
    for (const entry of this.#entries.values()) {
      const { sender, receiver, parcel: { key }, isFresh } = entry
      if (receiver !== null || (isFresh && full.get(sender) === key)) continue
      if (this.#place(entry) === 'full' && isFresh) full.set(sender, key)
    }
  }

  /**
   * Once for all the answers of a batch, behind the next poll: a receiver that cannot be sent to has died, and the poll
   * tells of it.
   */
  #lookSoon () {
    if (this.#isPumpScheduled || this.#entries.size === 0) return
    this.#isPumpScheduled = true
    setImmediate(() => {
      this.#isPumpScheduled = false
      this.look()
    })
  }

  /** @returns {Promise<void>} resolves when no connection is on its way, or after half a minute */
  async settled () {
    if (this.#entries.size === 0) return
    await new Promise(resolve => {
      const timer = setTimeout(resolve, SETTLED_WITHIN_MS)
      this.#onSettled = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  }

  /** The fleet has stopped. */
  close () {
    for (const entry of this.#entries.values()) this.#lose(entry)
  }

  /** No worker that serves now takes it. @param {Entry} entry */
  #giveBack (entry) {
    const isAwaited = entry.place === 'offered' && this.fleet.isLeavingGap(entry.sender)
    if (isAwaited) {
      this.#take(entry)
      this.#trails.end(entry)
    }
    if (entry.place !== 'held') {
      const isNoneYet = !this.isEnding && this.placement.serving().length === 0
      this.#sendBack(entry, { isStalled: isNoneYet || this.placement.isSilenceInTheWay(entry) })
    } else if (this.isEnding) {
      this.#lose(entry)
    } else {
      entry.tried.clear() // the next worker to become ready gets it
      // Though its idle time ends sooner: its client may have asked by then, as the worker that takes it finds out
      entry.waitFor(isAwaited ? ORPHAN_MS : Math.max(ORPHAN_MS, entry.leftMs ?? 0), () => {
        if (entry.receiver === null) this.#lose(entry)
      })
    }
  }

  /** @param {Entry} entry offered or lent @param {{ isStalled: boolean, isOwner?: boolean }} how */
  #sendBack (entry, how) {
    const { id, row, sender, parcel } = entry
    const isOwn = entry.place === 'offered'
    if (isOwn) take(sender, id, { ok: false, ...how })
    else tell(sender, id, { ok: false, ...how })
    if (row !== null) this.copies.kept(sender, { row, serial: id }, entry.giveSocket(), parcel)
    this.#end(entry, isOwn ? 'here' : 'gone')
  }

  /** @param {Entry} entry */
  #lose (entry) {
    this.totals.lost++
    if (entry.socket) entry.lost?.(entry.giveSocket())
    this.#end(entry, 'gone')
  }

  /** @param {Entry} entry @param {'here' | 'gone'} place */
  #end (entry, place) {
    this.#trails.close(entry)
    entry.end(place)
    this.#entries.delete(entry.id)
    if (this.#entries.size === 0) this.#onSettled()
  }
}

/** @param {WorkerHandle} handle @param {number} id @param {Record<string, any>} outcome */
function tell (handle, id, outcome) {
  handle.send('moved', { id, ...outcome })
}

/** The connection is this worker's from here on, or again. @type {typeof tell} */
function take (handle, id, outcome) {
  handle.gains?.()
  tell(handle, id, outcome)
}

/**
 * Why a worker offers it: one that serves gives none of a session away, but for a request.
 *
 * @param {WorkerHandle} sender @param {import('../../tables/message').ParcelFields} parcel @returns {Move}
 */
function reasonOf ({ isServing, state }, { session, byLoad }) {
  if (!isServing) return state === 'out-of-rotation' ? 'rotation' : 'leaving'
  return session !== undefined ? 'session' : byLoad ? 'load' : 'number'
}

module.exports = { HandoffLedger }
