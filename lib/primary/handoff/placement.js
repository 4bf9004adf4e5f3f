'use strict'

/**
 * Which worker gets a connection, of those that take it and have not been asked for it before: the least connected;
 * where it has a load of its own, the least busy. One with a request of a session, the session's owner. An idle one of
 * a session goes to its owner where that takes it now. Counts what is under way to each: a receiver has no more
 * than its window.
 */

const { LIGHT, receiverOf } = require('../../core/sharing')
const { Loads } = require('./loads')
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * @typedef {Pick<import('./entry').Entry, 'id' | 'sender' | 'parcel' | 'tried' | 'isAnyones'> &
 *   Partial<Pick<import('./entry').Entry, 'apart' | 'place'>>} Placed of a connection that is to be moved
 *
 * @typedef {{ to: WorkerHandle | null, isOwned: boolean, why: Why | null }} Place `isOwned`: it owns the session; `why`
 *   there is none
 * @typedef {'full' | 'silent' | 'ownerless' | 'refused' | 'sender' | 'none'} Why
 *   full       the receiver has as much under way as it may: it waits
 *   silent     a worker that would handle its request does not answer at the moment: it waits
 *   ownerless  no worker has its session at the moment: it waits
 *   refused    its session's owner does not take it, or has gone for good: any worker may handle it
 *   sender     its session is its sender's, which has it still
 *   none       no worker takes it
 */

class Placement {
  /** Connections that a receiver has been asked for, unanswered. @type {Map<WorkerHandle, Set<number>>} */
  #underWay = new Map()
  /** Receivers that have not answered in time: until they do, they are given nothing else. @type {Set<WorkerHandle>} */
  #silent = new Set()

  /**
   * @param {() => WorkerHandle[]} serving @param {(sender: WorkerHandle) => WorkerHandle | null} successorOf
   * @param {import('../features').RunningFeatures['owners']} owners @param {Loads} [loads]
   */
  constructor (serving, successorOf, owners, loads = new Loads()) {
    this.loads = loads
    this.serving = serving
    this.successorOf = successorOf
    this.owners = owners
  }

  /** @param {Placed} placed @returns {Place} */
  find (placed) {
    const { id, sender, parcel: { session, key, bytes, kind, load }, tried, isAnyones } = placed
    if (session !== undefined && !isAnyones) {
      const place = this.#atOwner(placed, session)
      if (bytes !== undefined || place.to || place.why === 'full' || place.why === 'sender') return place
    }
    const able = this.serving().filter(handle =>
      !handle.isGone && handle.addresses.has(key) && !tried.has(handle) && !this.#isSilent(handle, id))
    if (able.length > 0) {
      const others = able.filter(handle => !placed.apart?.has(handle))
      const some = others.length > 0 ? others : able
      return this.#ifRoom(this.#leastLoaded(sender, kind === undefined ? some : thatStay(some), load), false)
    }
    // The sender would offer it again at once
    const isAwaited = session !== undefined && bytes !== undefined && this.isSilenceInTheWay(placed)
    return none(isAwaited ? 'silent' : 'none')
  }

  /** @param {Placed} placed @param {string} session @returns {Place} */
  #atOwner ({ id, sender, parcel: { key }, tried, place }, session) {
    const owner = this.owners?.find(session) ?? null
    if (owner === null) return none(this.owners && !this.owners.isOver ? 'ownerless' : 'refused')
    if (owner === sender && tried.has(sender) && place !== 'held') return none('sender')
    if (tried.has(owner) || !owner.addresses.has(key)) return none('refused')
    return this.#isSilent(owner, id) ? none('silent') : this.#ifRoom(owner, true)
  }

  /** @param {WorkerHandle} to @param {boolean} isOwned @returns {Place} */
  #ifRoom (to, isOwned) {
    const hasRoom = this.#countOf(to) < to.window
    return hasRoom ? { to, isOwned, why: null } : none('full')
  }

  /**
   * Among equals the sender's successor, which has none.
   *
   * @param {WorkerHandle} sender @param {WorkerHandle[]} able @param {number} [own] of the connection
   */
  #leastLoaded (sender, able, own = 0) {
    const successor = this.successorOf(sender)
    const inOrder = successor && able.includes(successor) ? [successor, ...able] : able
    const isLight = own < LIGHT // how busy they are is of no matter then
    return receiverOf(inOrder.map(handle => ({
      handle,
      busy: isLight ? 0 : this.loads.of(handle),
      connections: handle.connections + this.#countOf(handle),
      isResting: !isLight && this.loads.resting.has(handle)
    })), own).handle
  }

  /** @param {WorkerHandle} receiver */
  #countOf (receiver) {
    return this.#underWay.get(receiver)?.size ?? 0
  }

  /** Whether a worker that would take it is silent. @param {Placed} placed */
  isSilenceInTheWay ({ id, sender, parcel: { key } }) {
    return this.serving().some(handle => handle !== sender && handle.addresses.has(key) && this.#isSilent(handle, id))
  }

  /**
   * Silent: a worker has not answered in time, or not yet for an earlier asking of this connection.
   *
   * @param {WorkerHandle} handle @param {number} id
   */
  #isSilent (handle, id) {
    return this.#silent.has(handle) || this.#underWay.get(handle)?.has(id) === true
  }

  /** The receiver is asked for it. @param {WorkerHandle} receiver @param {number} id @param {number} [load] */
  sent (receiver, id, load = 0) {
    if (load > 0) this.loads.give(receiver, load)
    this.#underWay.set(receiver, (this.#underWay.get(receiver) ?? new Set()).add(id))
  }

  /** @param {WorkerHandle} receiver has answered @param {number} id @returns {boolean} it had been asked for that */
  answered (receiver, id) {
    this.#silent.delete(receiver)
    return this.#underWay.get(receiver)?.delete(id) === true
  }

  /** The receiver has not answered in time. @param {WorkerHandle} receiver */
  timedOut (receiver) {
    this.#silent.add(receiver)
  }

  /** The receiver has died. @param {WorkerHandle} receiver */
  forget (receiver) {
    this.#underWay.delete(receiver)
    this.#silent.delete(receiver)
  }
}

/**
 * A WebSocket, say, moves once in a reload: not to a worker that is to be replaced next.
 *
 * @param {WorkerHandle[]} able @returns {WorkerHandle[]}
 */
function thatStay (able) {
  const staying = able.filter(({ condemnation }) => !condemnation?.reason) // those of the next primary have none
  return staying.length > 0 ? staying : able
}

/** @param {Why} why @returns {Place} */
function none (why) {
  return { to: null, isOwned: false, why }
}

module.exports = { Placement }
