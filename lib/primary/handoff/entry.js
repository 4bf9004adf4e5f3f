'use strict'

/** A connection on its way from one worker to another, of which this process has a copy; ledger.js moves it. */

const { move } = require('../../core/place')
const { now } = require('../clock')
/** @import { Place } from '../../core/place' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * @typedef {object} Offered
 * @property {number} id of the connection, given where it was accepted
 * @property {Place} place offered, lent or held; a held one cannot go back to its sender
 * @property {WorkerHandle} sender a worker, or another primary that lends it
 * @property {import('../../tables/message').ParcelFields} parcel as the sender gave it
 * @property {any} socket our copy
 * @property {import('../../core/moves').Move} reason why it moves
 * @property {number | null} [row] where its sender has noted it
 * @property {ReadonlySet<WorkerHandle>} [apart] workers that get it only if no other one takes it
 * @property {(socket: any) => void} [lost] takes our copy if no worker takes it; else it is closed
 */

/** @type {ReadonlySet<WorkerHandle>} */
const NONE = new Set()

class Entry {
  since = now()
  /** Null: it waits for one. @type {WorkerHandle | null} */
  receiver = null
  /** Where its receiver has noted it. @type {number | null} */
  noted = null
  /** The session has no owner that takes it. */
  isAnyones = false
  /** The time for its owner is over. */
  hasWaited = false
  /** When its receiver is to have answered; null: it has, or there is none. @type {NodeJS.Timeout | null} */
  deadline = null
  /**
   * When it is not waited for any longer, for its session's owner, or for any worker that takes it.
   *
   * @type {NodeJS.Timeout | null}
   */
  waitDeadline = null

  /** @param {Offered} offered */
  constructor ({ id, place, sender, parcel, socket, reason, row = null, apart = NONE, lost }) {
    this.id = id
    this.place = place
    this.sender = sender
    this.parcel = parcel
    this.socket = socket
    this.reason = reason
    this.row = row
    this.apart = apart
    this.lost = lost
    /** The workers that have been asked for it, and the sender where it has it still. */
    this.tried = new Set([sender])
  }

  /** @param {Place} place */
  become (place) {
    this.place = move(this.place, place)
  }

  /** The sender is another primary, which decides. */
  get isLent () {
    return this.place === 'lent' || this.place === 'adopted'
  }

  /** The receiver has it, unread, until that is told to read it. */
  get isAdopted () {
    return this.receiver !== null && this.deadline === null
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

  /** @param {WorkerHandle} receiver @param {number} ms in which it is to answer @param {() => void} expired */
  ask (receiver, ms, expired) {
    this.receiver = receiver
    this.tried.add(receiver)
    this.deadline = setTimeout(expired, ms)
  }

  /** The receiver has answered, or is not waited for. */
  answered () {
    if (this.deadline) clearTimeout(this.deadline)
    this.deadline = null
  }

  /** The connection has no receiver any more. */
  takeBack () {
    this.answered()
    this.receiver = this.noted = null
  }

  /** @returns {any} our copy, which is the caller's from here on */
  giveSocket () {
    const { socket } = this
    this.socket = null
    return socket
  }

  /** @param {'here' | 'gone'} place */
  end (place) {
    this.become(place)
    this.answered()
    if (this.waitDeadline) clearTimeout(this.waitDeadline)
    this.socket?.close()
  }
}

module.exports = { Entry }
