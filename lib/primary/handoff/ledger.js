'use strict'

/**
 * Moves connections from one worker to another, and is responsible for each on the way: idle ones of a worker that
 * leaves or has too many, those with a request that another worker is to handle instead, and those with a request of
 * another worker's session. Which worker gets one is for placement.js to say; how one passes, and what its sender and
 * its receiver are told, is entry.js.
 *
 * - If a receiver does not answer within a second, the connection goes to another worker, and a later ok of the first
 *   is answered by one that is none. Before that answer the first is not asked again for the same connection: an answer
 *   belongs to the latest asking.
 * - When all receivers have refused, it goes back to its sender; if that has exited, to the next worker that becomes
 *   ready, or has room again, within its time, or half a minute. A sender that is the only worker, and drains first,
 *   gives all to this process, for its replacement.
 * - A request of a session goes to the session's owner alone, and waits where there is none for the moment; after ten
 *   seconds any worker will do, unless the owner is out of rotation. Meanwhile the connection is this process's alone:
 *   its sender may have to leave before the owner is there (--max-surge 0).
 * - What a dead worker had is given to the others as if it had offered it, and cannot go back: `give()`. As the fleet
 *   stops no further worker is waited for.
 */

const { setImmediate } = require('node:timers')
const { isCut } = require('../../core/envelope')
const { noMoves, whyOffered } = require('../../core/moves')
const { loadAddon } = require('../../native/addon')
const { Entry, tell } = require('./entry')
const { Loads } = require('./loads')
const { Placement } = require('./placement')
const { Trails } = require('./trails')
/** @import { Unread } from '../../native/descriptor' */
/** @import { Peer } from '../succession/peer' */
/** @import { WorkerHandle } from '../workers/worker-handle' */
/** @import { Offered } from './entry' */

const ANSWER_MS = 1000
const AGAIN_MS = 250 // until workers are asked again for what all have refused
const OWNER_MS = 10_000
const ORPHAN_MS = 30_000
const SETTLED_WITHIN_MS = 30_000

class HandoffLedger {
  /** Connections on their way, by their numbers, in their order. @type {Map<number, Entry>} */
  #entries = new Map()
  /** Other primaries. @type {WeakSet<WorkerHandle>} */
  peers = new WeakSet()
  trails = new Trails()
  totals = { moved: 0, moves: noMoves(), refused: 0, takenBack: 0, lost: 0, misplaced: 0 }
  loads = new Loads()
  addon = loadAddon().addon
  #isPumpScheduled = false
  /** @type {NodeJS.Timeout | null} */
  #again = null
  #onSettled = () => {}

  /**
   * @param {{ fleet: Pick<import('../workers/fleet').Fleet, 'serving' | 'heirs' | 'successorOf' | 'isLeavingGap'>,
   *   tenure: { isOver: boolean } } & Pick<import('../features').RunningFeatures, 'owners' | 'copies'>} deps
   */
  constructor ({ fleet, tenure, owners, copies }) {
    this.fleet = fleet
    this.tenure = tenure
    this.copies = copies
    const receivers = () => fleet.serving().concat(/** @type {any} */ (fleet.heirs))
    this.placement = new Placement(receivers, sender => fleet.successorOf(sender), owners, this.loads)
    owners?.on('moved', () => this.look())
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

  /** @param {Peer} peer another primary, which lends connections, or takes them */
  connectPeer (peer) {
    const handle = /** @type {WorkerHandle} */ (/** @type {unknown} */ (peer))
    this.peers.add(handle)
    this.#hear(handle)
  }

  /** @param {WorkerHandle} handle */
  #hear (handle) {
    handle.hear({
      move: (offer, socket) => this.#accept(handle, offer, socket),
      moved: answer => this.#answered(handle, answer)
    })
    this.trails.connect(handle)
    handle.on('exit', () => this.#gone(handle))
  }

  /**
   * @param {WorkerHandle} sender @param {{ id: number, parcel: Entry['parcel'] }} offer
   * @param {Unread | undefined} given undefined: we have a copy
   */
  #accept (sender, { id, parcel: { row, byLoad, ...parcel } }, given) {
    sender.offers?.()
    const copy = row === undefined ? null : this.copies.take(sender, { row, serial: id })
    const socket = given ?? copy
    if (socket !== copy) copy?.close()
    if (!socket || this.#entries.has(id)) { // an app may have sent this number
      socket?.close()
      return tell(sender, id, { ok: false, isStalled: false, ...!socket && { isMissing: true } })
    }
    const isPeer = this.peers.has(sender)
    const reason = isPeer ? 'predecessor' : whyOffered(sender, { byLoad, ...parcel })
    const entry = this.#enter({
      id, sender, parcel, socket, reason, row, place: sender.isGone ? 'held' : isPeer ? 'lent' : 'offered'
    })
    try {
      this.#place(entry)
    } catch (error) {
      entry.sendBack({ isStalled: false })
      throw error
    }
  }

  /**
   * @param {WorkerHandle} sender a worker that has died @param {number} id @param {Entry['parcel']} parcel
   * @param {Unread} socket @param {Pick<Offered, 'apart' | 'lost'>} [how]
   */
  give (sender, id, parcel, socket, how) {
    for (; this.#entries.has(id); id++); // an app has sent this number
    this.#place(this.#enter({ id, sender, parcel, socket, reason: 'death', place: 'held', ...how }))
  }

  /** @param {Offered} offered */
  #enter (offered) {
    const entry = new Entry(offered, this)
    this.#entries.set(entry.id, entry)
    return entry
  }

  /** @param {Entry} entry one without a receiver @returns {import('./placement').Why | null} */
  #place (entry) {
    const { to, isOwned, why } = this.placement.find(entry)
    if (to) this.#ask(entry, to, isOwned)
    else if (why === 'none') this.#giveBack(entry)
    else if (why === 'refused') this.#openToAll(entry)
    else if (why === 'sender') entry.sendBack({ isStalled: false, isOwner: true })
    else if (why !== 'full') this.#awaitOwner(entry)
    return why
  }

  /** @param {Entry} entry @param {WorkerHandle} receiver @param {boolean} isOwned */
  #ask (entry, receiver, isOwned) {
    const { id, parcel: { load }, socket, hasWaited } = entry
    const parcel = entry.ask(receiver, ANSWER_MS, () => this.#timedOut(entry))
    this.placement.sent(receiver, id, load)
    if (isOwned) parcel.isOwned = true
    else if (hasWaited) delete parcel.session // another primary would wait as long again for its owner
    receiver.send('move', { id, parcel }, socket ?? undefined, error => {
      if (error) this.#answered(receiver, { id, ok: false }, { isCut: isCut(error) })
    })
  }

  /**
   * @param {WorkerHandle} handle
   * @param {{ id: number, ok: boolean, row?: number, pid?: number, isStalled?: boolean }} answer
   * @param {{ isCut?: boolean }} [how] it has died, and a worker may take its place
   */
  #answered (handle, { id, ok, row, pid, isStalled = false }, { isCut = false } = {}) {
    const entry = this.#entries.get(id)
    if (entry?.sender === handle && entry.isLent) {
      entry.decided(ok)
      if (entry.place === 'held' && entry.receiver === null) this.#place(entry)
      return
    }
    const isAsked = this.placement.answered(handle, id)
    if (isCut) this.placement.timedOut(handle)
    if (entry?.receiver === handle && isAsked) {
      if (ok) entry.adopted(row ?? null, this.peers.has(handle) ? pid : undefined)
      else this.#refused(entry, isStalled)
    } else if (ok && (isAsked || !this.peers.has(handle))) {
      tell(handle, id, { ok: false })
    }
    this.#lookSoon()
  }

  /** @param {Entry} entry @param {boolean} isStalled for now alone */
  #refused (entry, isStalled) {
    this.totals.refused++
    entry.isStalled ||= isStalled
    entry.takeBack()
    this.#place(entry)
  }

  /** @param {Entry} entry */
  #timedOut (entry) {
    const receiver = /** @type {WorkerHandle} */ (entry.receiver)
    const { session } = entry.parcel
    if (session !== undefined) entry.tried.delete(receiver) // the owner is waited for
    // Another primary may wait for the owner, too
    if (session === undefined || !this.peers.has(receiver)) this.placement.timedOut(receiver)
    this.totals.takenBack++
    entry.takeBack()
    this.look()
  }

  /** @param {WorkerHandle} handle a worker or another primary that has died */
  #gone (handle) {
    this.placement.forget(handle)
    for (const entry of this.#entries.values()) {
      if (entry.receiver === handle) {
        this.totals.takenBack++
        entry.takeBack()
      }
      if (entry.sender === handle) entry.orphaned()
    }
    this.look()
  }

  /** @param {Entry} entry with a request */
  #awaitOwner (entry) {
    const isAway = () => this.placement.owners?.isAway(/** @type {string} */ (entry.parcel.session))
    entry.waitFor(OWNER_MS, () => isAway() ? this.#awaitOwner(entry) : this.#openToAll(entry))
    if (entry.place === 'offered') entry.take()
  }

  /** @param {Entry} entry with a request */
  #openToAll (entry) {
    if (!entry.isAnyones) this.totals.misplaced++
    entry.isAnyones = true
    if (entry.receiver === null) this.#place(entry)
  }

  /** No worker that serves now takes it. @param {Entry} entry */
  #giveBack (entry) {
    if (entry.place === 'adopted') return // its lender has been told that a worker has it, and may have let it go
    const isAwaited = entry.place === 'offered' && this.fleet.isLeavingGap(entry.sender)
    if (isAwaited) {
      entry.take()
      if (entry.parcel.isFollowed) this.trails.end(entry)
    }
    if (entry.place !== 'held') {
      const isNoneYet = !this.isEnding && this.placement.serving().length === 0
      entry.sendBack({ isStalled: isNoneYet || entry.isStalled || this.placement.isSilenceInTheWay(entry) })
    } else if (this.isEnding) {
      entry.lose()
    } else {
      entry.tried.clear() // the next worker to become ready gets it, or one that has room again
      entry.isRefused = true
      this.#lookAgain()
      // Though its idle time ends sooner: its client may have asked by then, as the worker that takes it finds out
      entry.waitFor(isAwaited ? ORPHAN_MS : Math.max(ORPHAN_MS, entry.leftMs ?? 0), () => {
        if (entry.receiver === null) entry.lose()
      })
    }
  }

  /**
   * There are workers that may take what waits. Behind one that waits for room, its sender's others wait too.
   * @param {{ alsoRefused?: boolean }} [how] false: not what all have refused just now
   */
  look ({ alsoRefused = true } = {}) {
    /** The keys of those, by sender. @type {Map<WorkerHandle, string>} */
    const full = new Map()
    for (const entry of this.#entries.values()) {
      const { sender, receiver, parcel: { key }, isFresh } = entry
      if (receiver !== null || (isFresh && full.get(sender) === key)) continue
      if (entry.isRefused && !alsoRefused) continue
      entry.isRefused = false
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
      this.look({ alsoRefused: false })
    })
  }

  /** Nothing tells that a server has less than its `maxConnections`, or a worker a descriptor. */
  #lookAgain () {
    this.#again ??= setTimeout(() => {
      this.#again = null
      this.look()
    }, AGAIN_MS).unref()
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
    for (const entry of this.#entries.values()) entry.lose()
  }

  /** @param {Entry} entry that is not on its way any more */
  ended ({ id }) {
    this.#entries.delete(id)
    if (this.#entries.size === 0) this.#onSettled()
  }
}

module.exports = { HandoffLedger }
