'use strict'

/** A connection on its way from one worker to another, of which this process has a copy; ledger.js moves it. */

const { now } = require('../clock')
/** @import { Copy } from '../../worker/connections/parcel' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * @typedef {object} Offered
 * @property {number} id the ledger's
 * @property {WorkerHandle} sender
 * @property {number} offerId the sender's
 * @property {import('../../tables/message').ParcelFields} parcel as the sender gave it
 * @property {any} socket our copy
 * @property {import('../../core/moves').Move} reason why it moves
 * @property {Copy | null} [origin] where its sender has noted it
 * @property {Claim} claim
 * @property {ReadonlySet<WorkerHandle>} [apart] workers that get it only if no other one takes it
 * @property {(socket: any) => void} [lost] takes our copy if no worker takes it; else it is closed
 *
 * @typedef {'own' | 'lent' | 'asked' | 'given'} Claim own: a worker's; lent: the old primary still holds
 *   it; asked: that has been asked for it; given: its sender has given it away, and this process alone has it
 */

/** @type {ReadonlySet<WorkerHandle>} */
const NONE = new Set()

class Entry {
  since = now()
  /** Null: it is queued. @type {WorkerHandle | null} */
  receiver = null
  /** The receiver has adopted it, and waits for `keep`. */
  isAdopted = false
  /** Where its receiver has noted it. @type {Copy | null} */
  copy = null
  /** The session has no owner that takes it. */
  isAnyones = false
  /** The time for its owner is over. */
  hasWaited = false
  /** When its receiver is to have answered. @type {NodeJS.Timeout | null} */
  deadline = null
  /**
   * When it is not waited for any longer, for its session's owner, or for any worker that takes it.
   *
   * @type {NodeJS.Timeout | null}
   */
  waitDeadline = null

  /** @param {Offered} offered */
  constructor ({ id, sender, offerId, parcel, socket, reason, origin = null, claim, apart = NONE, lost }) {
    this.id = id
    this.sender = sender
    this.offerId = offerId
    this.parcel = parcel
    this.socket = socket
    this.reason = reason
    this.origin = origin
    this.claim = claim
    this.apart = apart
    this.lost = lost
    this.tried = new Set([sender])
  }

  /** The sender may say that it has it again. */
  get isLent () {
    return this.claim === 'lent' || this.claim === 'asked'
  }

  /** No worker has been asked for it, and any may be. */
  get isFresh () {
    return this.tried.size === 1 && this.parcel.session === undefined
  }

  /** How long it may still be idle, ms; below zero: it is too late. @returns {number | null} null: for ever */
  get leftMs () {
    return this.parcel.leftMs === null ? null : this.parcel.leftMs - (now() - this.since)
  }

  /** @param {number} ms unless it waits already @param {() => void} expired called if it has no receiver then */
  waitFor (ms, expired) {
    this.waitDeadline ??= setTimeout(() => {
      this.waitDeadline = null
      this.hasWaited = true
      expired()
    }, ms)
  }

  /** The connection has no receiver any more. */
  takeBack () {
    if (this.deadline) clearTimeout(this.deadline)
    this.deadline = null
    this.receiver = null
    this.isAdopted = false
    this.copy = null
  }

  /** @returns {any} our copy, which is the caller's from here on */
  giveSocket () {
    const { socket } = this
    this.socket = null
    return socket
  }

  close () {
    if (this.deadline) clearTimeout(this.deadline)
    if (this.waitDeadline) clearTimeout(this.waitDeadline)
    this.socket?.close()
  }
}

module.exports = { Entry }
