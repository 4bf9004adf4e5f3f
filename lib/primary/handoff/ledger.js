'use strict'

/**
 * Moves connections from one worker to another, and is responsible for each on the way: idle ones of a worker that
 * leaves or has too many, those with a request that another worker is to handle instead, and those with a request of
 * another worker's session. Which worker gets one is for placement.js to say.
 *
 *     sender                primary's ledger                receiver
 *       │ offer + socket ──▶ queued
 *       │                     │  place: at the least busy or connected, mostly the sender's successor
 *       │                     ├─ adopt + socket ──────────────────▶ │ held, unread
 *       │                    offered                                │
 *       │                     ◀────────────── adopted | refused ────┤
 *       ◀── moved ───────────┤  our copy closes                    │
 *       │                     └─ keep ────────────────────────────▶ │ reads it
 *
 * The rules; the absence of each was seen to lose a connection:
 *
 * 1. Our copy of the socket is closed on `adopted`, never before: if a process dies on the way, one copy is left.
 * 2. The receiver reads nothing before `keep`. If it does not answer within a second, the connection goes to another
 *    worker; a later `adopted` is answered by `drop`. So there is never a second reader.
 * 3. When all receivers have refused, it goes `back` to its sender; if that has exited, to the next worker that becomes
 *    ready within its time, or half a minute. A sender that is the only worker, and drains first, gives all to this
 *    process, for its replacement.
 * 4. A request of a session goes to the session's owner alone, and waits where there is none for the moment; after ten
 *    seconds any worker will do, unless the owner is out of rotation. Meanwhile the connection is this process's alone:
 *    its sender may have to leave before the owner is there (--max-surge 0).
 * 5. A sender that is another primary only lends its connections: it has asked others before, and may have taken one
 *    back. So on `adopted` it is asked, and decides between `keep` and `drop`. If it dies, the connection is ours. See
 *    loans.js.
 * 6. Where the app of the sender sees a connection as open after it has gone (trails.js), what it sends there follows.
 * 7. The sender is told `moved` before the receiver is told `keep`: if this process dies on the way, the sender takes
 *    back whatever it has not been told of, and the receiver drops it.
 * 8. What a dead worker had is given to the others as if it had offered it, and cannot go back: `give()`. As the fleet
 *    stops no further worker is waited for.
 */

const { noMoves } = require('../../core/moves')
const { Loads } = require('./loads')
const { Loans } = require('./loans')
const { Placement } = require('./placement')
const { Queue } = require('./queue')
const { Trails } = require('./trails')
const { UnderWay } = require('./under-way')
/** @import { Move } from '../../core/moves' */
/** @import { Copy } from '../../worker/connections/parcel' */
/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { Entry, Offered } from './entry' */

const ANSWER_MS = 1000
const OWNER_MS = 10_000
const ORPHAN_MS = 30_000

class HandoffLedger {
  #underWay = new UnderWay()
  #queue = new Queue(entry => this.#place(entry))
  /** Of each other primary. @type {Map<WorkerHandle, Loans>} */
  #loans = new Map()
  #trails = new Trails()

  /**
   * @param {() => WorkerHandle[]} serving @param {(sender: WorkerHandle) => WorkerHandle | null} successorOf
   * @param {import('./no-owners').Owners} owners
   * @param {(sender: WorkerHandle) => boolean} [isLeavingGap] no worker serves, and the replacement of this one starts
   *   when it is gone
   * @param {() => boolean} [isEnding] no further worker will serve
   */
  constructor (serving, successorOf, owners, isLeavingGap = () => false, isEnding = () => false) {
    this.isLeavingGap = isLeavingGap
    this.isEnding = isEnding
    this.loads = new Loads()
    this.placement = new Placement(serving, successorOf, owners, this.loads)
    owners.onMoved = () => this.#queue.pump()
    /**
     * Takes our copy of a connection that a worker reads from here on, and has noted by this number.
     *
     * @type {(receiver: WorkerHandle, copy: Copy, socket: any, key: string) => void}
     */
    this.onKept = (receiver, copy, socket) => socket.close()
    this.totals = { moved: 0, moves: noMoves(), refused: 0, takenBack: 0, lost: 0, misplaced: 0 }
  }

  /** @param {WorkerHandle} handle a worker that can offer and adopt */
  connect (handle) {
    handle.hear({
      offer: (offer, socket) => this.#accept(handle, offer, socket),
      adopted: ({ id, copy }) => this.#adopted(handle, id, copy),
      refused: ({ id }) => this.#refused(handle, id)
    })
    this.#trails.connect(handle)
    handle.on('ready', () => this.#queue.pump())
    handle.on('returned', () => this.#queue.pump())
    handle.on('exit', () => this.#gone(handle))
  }

  /** @param {import('../succession/remote-workers').RemoteSender} sender a primary that lends */
  connectLender (sender) {
    const handle = /** @type {WorkerHandle} */ (/** @type {unknown} */ (sender))
    sender.hear({ offer: (offer, socket) => this.#accept(handle, offer, socket) })
    this.#trails.connectLender(handle)
    this.#loans.set(handle, new Loans(
      sender, { keep: (entry, receiver) => this.#keep(entry, receiver), close: entry => this.#close(entry) }
    ))
  }

  /** @param {WorkerHandle} sender @param {{ id: number, parcel: Entry['parcel'] }} offer @param {any} socket */
  #accept (sender, { id: offerId, parcel: { copy, byLoad, ...parcel } }, socket) {
    if (!socket) return sender.send('back', { id: offerId, isStalled: false })
    const loans = this.#loans.get(sender)
    const reason = loans ? 'predecessor' : reasonOf(sender, { byLoad, ...parcel })
    const entry = this.#enter({ sender, offerId, parcel, socket, reason, origin: loans ? null : copy, claim: loans ? 'lent' : 'own' })
    try {
      loans?.add(entry)
      this.#place(entry)
    } catch (error) {
      sender.send('back', { id: offerId, isStalled: false })
      this.#close(entry)
      throw error
    }
  }

  /**
   * @param {WorkerHandle} sender a worker that has died @param {Entry['parcel']} parcel @param {any} socket
   * @param {Pick<Offered, 'apart' | 'lost'>} [how]
   */
  give (sender, parcel, socket, how) {
    this.#place(this.#enter({ sender, offerId: 0, parcel, socket, reason: 'death', claim: 'given', ...how }))
  }

  /** @param {Omit<Offered, 'id'>} offered */
  #enter (offered) {
    const entry = this.#underWay.add(offered)
    this.#queue.add(entry)
    if (entry.parcel.isFollowed) this.#trails.open(entry)
    return entry
  }

  /** @param {Entry} entry a queued one @returns {import('./placement').Why | null} */
  #place (entry) {
    const { to, isOwned, why } = this.placement.find(entry)
    if (to) this.#send(entry, to, isOwned)
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
    if (entry.claim === 'own') this.#take(entry)
  }

  /** From here on this process alone has it. @param {Entry} entry a sender's own */
  #take (entry) {
    if (!entry.sender.isGone) entry.sender.send('moved', { id: entry.offerId })
    entry.claim = 'given'
    entry.tried.delete(entry.sender)
  }

  /** @param {Entry} entry with a request */
  #openToAll (entry) {
    if (!entry.isAnyones) this.totals.misplaced++
    entry.isAnyones = true
    if (entry.receiver === null) this.#place(entry)
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver @param {boolean} isOwned */
  #send (entry, receiver, isOwned) {
    this.#queue.delete(entry)
    this.#underWay.renumber(entry)
    entry.receiver = receiver
    entry.tried.add(receiver)
    this.placement.sent(receiver, entry.parcel.load)
    entry.deadline = setTimeout(() => this.#timedOut(entry), ANSWER_MS)
    const { id, parcel, leftMs, claim, socket, hasWaited } = entry
    const fields = { ...parcel, leftMs: leftMs === null ? null : Math.max(1, leftMs), ...(isOwned && { isOwned }) }
    if (!isOwned && hasWaited) delete fields.session // another primary would wait as long again for its owner
    receiver.send('adopt', { id, parcel: fields, isLent: claim !== 'given' }, socket, error => { if (error) this.#refused(receiver, id) })
  }

  /** @param {WorkerHandle} receiver @param {number} id @param {Copy} [copy] */
  #adopted (receiver, id, copy) {
    const entry = this.#underWay.get(id)
    if (entry?.receiver !== receiver) {
      receiver.send('drop', { id })
      return this.#free(receiver)
    }
    entry.copy = copy ?? null
    if (entry.isLent) this.#loans.get(entry.sender)?.ask(entry)
    else this.#keep(entry, receiver)
    this.#free(receiver)
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver */
  #keep (entry, receiver) {
    const { id, offerId, sender } = entry
    const isTold = !sender.isGone && entry.claim === 'own'
    if (isTold) sender.send('moved', { id: offerId })
    if (isTold && sender.isBatching && !entry.parcel.isFollowed) process.nextTick(() => receiver.send('keep', { id })) // behind that batch
    else receiver.send('keep', { id })
    this.#trails.link(entry, receiver)
    this.totals.moved++
    this.totals.moves[entry.reason]++
    if (entry.copy) this.onKept(receiver, entry.copy, entry.giveSocket(), entry.parcel.key)
    this.#close(entry)
  }

  /** @param {WorkerHandle} receiver @param {number} id */
  #refused (receiver, id) {
    const entry = this.#underWay.get(id)
    this.#free(receiver)
    if (entry?.receiver !== receiver) return
    this.totals.refused++
    this.#requeue(entry)
    this.#place(entry)
  }

  /** @param {Entry} entry */
  #timedOut (entry) {
    if (entry.receiver) {
      this.placement.timedOut(entry.receiver)
      if (entry.parcel.session !== undefined) entry.tried.delete(entry.receiver) // the owner is waited for
    }
    this.totals.takenBack++
    this.#requeue(entry)
    this.#queue.pump()
  }

  /** @param {WorkerHandle} handle a worker that has died */
  #gone (handle) {
    for (const entry of this.#underWay) {
      if (entry.receiver !== handle) continue
      this.totals.takenBack++
      this.#requeue(entry)
    }
    this.placement.forget(handle)
    this.#queue.pump()
  }

  /** @param {Entry} entry */
  #requeue (entry) {
    entry.takeBack()
    this.#queue.add(entry)
  }

  /** The receiver has answered. @param {WorkerHandle} receiver */
  #free (receiver) {
    this.placement.answered(receiver)
    this.#queue.pumpSoon()
  }

  /** There are workers that may take what waits. */
  look () {
    this.#queue.pump()
  }

  /** @returns {Promise<void>} resolves when no connection is on its way, or after half a minute */
  settled () {
    return this.#underWay.settled()
  }

  /** The fleet has stopped. */
  close () {
    for (const entry of this.#underWay) this.#lose(entry)
  }

  /** No worker that serves now takes it. @param {Entry} entry */
  #giveBack (entry) {
    const isAwaited = entry.claim === 'own' && this.isLeavingGap(entry.sender)
    if (isAwaited) {
      this.#take(entry)
      this.#trails.end(entry)
    }
    if (!entry.sender.isGone && (entry.claim === 'own' || entry.claim === 'lent')) {
      this.#sendBack(entry, { isStalled: this.placement.isSilenceInTheWay(entry) })
    } else if (this.isEnding()) {
      this.#lose(entry)
    } else {
      entry.tried.clear() // the next worker to become ready gets it
      // Though its idle time ends sooner: its client may have asked by then, as the worker that takes it finds out
      entry.waitFor(isAwaited ? ORPHAN_MS : Math.max(ORPHAN_MS, entry.leftMs ?? 0), () => {
        if (entry.receiver === null) this.#lose(entry)
      })
    }
  }

  /** @param {Entry} entry @param {{ isStalled: boolean, isOwner?: boolean }} how */
  #sendBack (entry, how) {
    entry.sender.send('back', { id: entry.offerId, ...how })
    if (entry.origin) this.onKept(entry.sender, entry.origin, entry.giveSocket(), entry.parcel.key)
    this.#close(entry)
  }

  /** @param {Entry} entry */
  #lose (entry) {
    this.totals.lost++
    if (entry.socket) entry.lost?.(entry.giveSocket())
    this.#close(entry)
  }

  /** @param {Entry} entry */
  #close (entry) {
    this.#loans.get(entry.sender)?.delete(entry)
    this.#queue.delete(entry)
    this.#trails.close(entry)
    entry.close()
    this.#underWay.delete(entry)
  }
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
