'use strict'

/**
 * A connection on its way from one worker to another, of which this process has a copy: where it is, and what its
 * sender and its receiver are told.
 *
 *     sender                primary                         receiver
 *       │ move ────────────▶ offered: our copy, or the socket that comes along
 *       │                     │  the ledger says at which worker it is placed
 *       │                     ├─ move + socket ───────────────────▶ │ held, unread
 *       │                     ◀──────────────────────── moved: ok ──┤
 *       ◀── moved: ok ───────┤  our copy closes
 *       │                     └─ moved: ok ───────────────────────▶ │ reads it
 *
 * A connection has one number, `id`, given where it was accepted. To the sender of `move` the answer `moved` is the
 * outcome: ok, or the connection is the sender's still. To its receiver it is the decision: ok, or close that copy.
 *
 * The rules; the absence of each was seen to lose a connection, as of those in ledger.js:
 *
 * - Our copy of the socket is closed on a receiver's ok, never before: if a process dies on the way, one copy is left.
 * - The receiver reads nothing before our ok. So there is never a second reader.
 * - Another primary speaks the same messages: as a receiver it stands for all its workers; as a sender it only lends,
 *   for it has asked others before, and may have taken a connection back. So on a worker's ok it is asked, and decides.
 *   If it dies, what it has lent and not taken back is ours.
 * - Where the app of the sender sees a connection as open after it has gone (trails.js), what it sends there follows.
 * - Which process has it is noted with the socket before any is told, and with each asking of another primary, or for
 *   one that no worker has. If this process dies on the way, the sender and the receivers find it there
 *   (worker/handoff/handoff.js); of what another primary takes it is the worker there, which goes on with it if
 *   that dies before it has read the decision.
 */

const { move } = require('../../core/place')
const { now } = require('../clock')
/** @import { Place } from '../../core/place' */
/** @import { FromPrimary } from '../../messages' */
/** @import { Unread } from '../../native/descriptor' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * @typedef {object} Offered
 * @property {number} id of the connection, given where it was accepted
 * @property {Place} place offered, lent or held; a held one cannot go back to its sender
 * @property {WorkerHandle} sender a worker, or another primary that lends it
 * @property {import('../../tables/message').ParcelFields} parcel as the sender gave it
 * @property {Unread} socket our copy
 * @property {import('../../core/moves').Move} reason why it moves
 * @property {number | null} [row] where its sender has noted it
 * @property {ReadonlySet<WorkerHandle>} [apart] workers that get it only if no other one takes it
 * @property {(socket: Unread) => void} [lost] takes our copy if no worker takes it; else it is closed
 */

/** @type {ReadonlySet<WorkerHandle>} */
const NONE = new Set()

class Entry {
  since = now()
  /** Null: it waits for one. @type {WorkerHandle | null} */
  receiver = null
  /** Where its receiver has noted it. @type {number | null} */
  #noted = null
  /** The session has no owner that takes it. */
  isAnyones = false
  /** The time for its owner is over. */
  hasWaited = false
  /** A worker that has refused it may take it later. */
  isStalled = false
  /** All have refused it, and are asked again in a while. */
  isRefused = false
  /** When its receiver is to have answered; null: it has, or there is none. @type {NodeJS.Timeout | null} */
  #deadline = null
  /**
   * When it is not waited for any longer, for its session's owner, or for any worker that takes it.
   *
   * @type {NodeJS.Timeout | null}
   */
  #waitDeadline = null

  /** @param {Offered} offered @param {import('./ledger').HandoffLedger} ledger */
  constructor ({ id, place, sender, parcel, socket, reason, row = null, apart = NONE, lost }, ledger) {
    this.id = id
    this.place = place
    this.sender = sender
    this.parcel = parcel
    /** Null: it is not ours any more. @type {Unread | null} */
    this.socket = socket
    this.reason = reason
    this.row = row
    this.apart = apart
    this.lost = lost
    this.ledger = ledger
    /** The workers that have been asked for it, and the sender where it has it still. */
    this.tried = new Set([sender])
    if (parcel.isFollowed) ledger.trails.open(this)
  }

  /** The sender is another primary, which decides. */
  get isLent () {
    return this.place === 'lent' || this.place === 'adopted'
  }

  /** No worker has been asked for it, and any may be. */
  get isFresh () {
    return this.tried.size === 1 && this.parcel.session === undefined
  }

  /** How long it may still be idle, ms; below zero: it is too late. @returns {number | null} null: for ever */
  get leftMs () {
    return this.parcel.leftMs === null ? null : this.parcel.leftMs - (now() - this.since)
  }

  /** The receiver has it, unread, until that is told to read it. */
  get #isAdopted () {
    return this.receiver !== null && this.#deadline === null
  }

  /** @param {number} ms unless it waits already @param {() => void} expired called if it has no receiver then */
  waitFor (ms, expired) {
    this.#waitDeadline ??= setTimeout(() => {
      this.#waitDeadline = null
      this.hasWaited = true
      expired()
    }, ms)
  }

  /** From here on this process alone has it: it was offered. */
  take () {
    tell(this.sender, this.id, { ok: true })
    this.#become('held')
    this.tried.delete(this.sender)
  }

  /**
   * @param {WorkerHandle} receiver @param {number} ms in which it is to answer @param {() => void} expired
   * @returns {import('../../tables/message').ParcelFields} what that is sent
   */
  ask (receiver, ms, expired) {
    this.receiver = receiver
    this.isRefused = false
    this.tried.add(receiver)
    this.#deadline = setTimeout(expired, ms)
    if (this.place === 'held' || this.ledger.peers.has(receiver)) this.#note()
    const { parcel, leftMs } = this
    return { ...parcel, leftMs: leftMs === null ? null : Math.max(1, leftMs) }
  }

  /**
   * @param {number | null} row where its receiver, which has it, has noted it
   * @param {number} [pid] of the worker of another primary, which is the receiver, that has it
   */
  adopted (row, pid = this.receiver?.pid) {
    this.#answered()
    this.#noted = row
    if (!this.isLent) return this.#keep(pid)
    if (this.place === 'adopted') return
    this.#become('adopted')
    tell(this.sender, this.id, { ok: true, pid })
  }

  /** By the lender. @param {boolean} ok else it has the connection again */
  decided (ok) {
    if (ok) return this.#hold()
    if (this.receiver && this.#isAdopted) tell(this.receiver, this.id, { ok: false })
    this.#end('gone') // a receiver that answers later is told then
  }

  /** The receiver does not have it. */
  takeBack () {
    if (this.receiver && this.place !== 'held' && this.ledger.peers.has(this.receiver)) this.#note(this.sender.pid)
    this.#answered()
    this.receiver = this.#noted = null
  }

  /** The sender has died. */
  orphaned () {
    if (this.place === 'held') return
    if (this.isLent && !this.#isGiven) this.decided(false)
    else this.#hold()
  }

  /** To its sender. @param {{ isStalled: boolean, isOwner?: boolean }} how */
  sendBack (how) {
    const { id, row, sender, parcel } = this
    const isOwn = this.place === 'offered'
    if (isOwn) take(sender, id, { ok: false, ...how })
    else tell(sender, id, { ok: false, ...how })
    if (row !== null) this.ledger.copies.keep(sender, { row, serial: id }, this.#giveSocket(), parcel)
    this.#end(isOwn ? 'here' : 'gone')
  }

  /** No worker takes it. */
  lose () {
    this.ledger.totals.lost++
    if (this.socket) this.lost?.(this.#giveSocket())
    this.#end('gone')
  }

  /** The sender has it no more. */
  #hold () {
    this.#become('held')
    if (this.#isAdopted) this.#keep()
    else this.#note()
  }

  /** The receiver has it from here on. @param {number} [pid] of the worker that has it */
  #keep (pid) {
    const { id, sender, place, parcel, reason, ledger: { copies, totals, trails } } = this
    const receiver = /** @type {WorkerHandle} */ (this.receiver)
    this.#note(pid)
    if (place === 'offered') tell(sender, id, { ok: true })
    take(receiver, id, { ok: true })
    if (parcel.isFollowed) trails.link(this, receiver)
    totals.moved++
    totals.moves[reason]++
    if (this.#noted !== null) copies.keep(receiver, { row: this.#noted, serial: id }, this.#giveSocket(), parcel)
    this.#end('here')
  }

  /**
   * The connection is this process's, also if the primary dies.
   *
   * @param {number} [pid] by default its receiver's, if there is one
   */
  #note (pid = this.receiver?.pid) {
    if (pid !== undefined && this.#fd >= 0) this.ledger.addon?.own(this.#fd, pid)
  }

  /** -1: it is closed. */
  get #fd () {
    return this.socket?.fd ?? -1
  }

  /** By another primary that has died, before it took it back. */
  get #isGiven () {
    const owner = this.#fd >= 0 ? this.ledger.addon?.owner(this.#fd) : undefined
    return owner === undefined || owner === process.pid || owner === this.receiver?.pid
  }

  /** The receiver has answered, or is not waited for. */
  #answered () {
    if (this.#deadline) clearTimeout(this.#deadline)
    this.#deadline = null
  }

  /** @returns {Unread} our copy, which is the caller's from here on */
  #giveSocket () {
    const socket = /** @type {Unread} */ (this.socket)
    this.socket = null
    return socket
  }

  /** @param {Place} place */
  #become (place) {
    this.place = move(this.place, place)
  }

  /** @param {'here' | 'gone'} place */
  #end (place) {
    if (this.parcel.isFollowed) this.ledger.trails.close(this)
    this.#become(place)
    this.#answered()
    if (this.#waitDeadline) clearTimeout(this.#waitDeadline)
    this.socket?.close()
    this.ledger.ended(this)
  }
}

/** @param {WorkerHandle} handle @param {number} id @param {Omit<FromPrimary['moved'], 'id'>} outcome */
function tell (handle, id, outcome) {
  handle.send('moved', { id, ...outcome })
}

/** The connection is this worker's from here on, or again. @type {typeof tell} */
function take (handle, id, outcome) {
  handle.gains?.()
  tell(handle, id, outcome)
}

module.exports = { Entry, tell }
