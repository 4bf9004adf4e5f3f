'use strict'

/**
 * Moves connections to siblings when they are idle: all of them, for a worker that is emptied (leaving/emptying.js), or
 * some, for one with more than its share. A worker that is emptied also moves those of which a part of a head has come,
 * and may move requests that it has not begun to answer, for a sibling to handle. There is one sender, and it has one
 * task at a time.
 *
 * It looks for idle connections at an interval and when responses end. Then it passes over the list, oldest first, and
 * offers as many as there is room for; each answer continues the pass. The other connections are served meanwhile. A
 * look visits every connection, so with many of them it is rarer: with 15,000 it takes 20 ms and more, and at each
 * interval it would take most of the time of a worker that shares its CPU.
 */

const { performance } = require('node:perf_hooks')
const { clearInterval, setInterval } = require('node:timers')
/** @import { Connection, Packed } from '../connections/connection' */

const RETRY_MS = 250
const LOOK_MS = 50
const LOOK_SHARE = 0.1 // of the worker's time, at the most
const LONGEST_REST_MS = 1000 // between two looks, all the same

/**
 * @typedef {object} Task
 * @property {number} quota how many connections may be offered
 * @property {() => void} onLook called after each look
 * @property {boolean} [isEmptying] connections whose protocol is the app's move, too
 * @property {ReadonlyMap<Connection, boolean>} [chosen] where not: which connections move, of these too, and whether
 *   for their load
 * @property {(isStalled: boolean) => boolean} [onBack] whether a connection that no sibling took is offered again; else
 *   it stays in this worker
 */

class Sender {
  /** @type {Task | null} */
  #task = null
  #quota = 0
  #isReplaying = false
  #lookScheduled = false
  #lookedAt = 0
  /** The time that the last look took for each connection, ms. */
  #msEach = 0
  #offerNotBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** @param {Pick<import('../enter').Parts, 'tracker' | 'handoff'>} parts */
  constructor ({ tracker, handoff }) {
    this.tracker = tracker
    this.handoff = handoff
    handoff.onMoved = () => this.#pump()
    handoff.onBack = (connection, isStalled) => this.#back(connection, isStalled)
  }

  /** @param {Task} task takes the place of the one before */
  begin (task) {
    this.end()
    this.#task = task
    this.#quota = task.quota
    this.#isReplaying = false
    this.#offerNotBefore = 0
    this.tracker.on('rest', this.lookSoon)
    this.#timer = setInterval(() => this.#lookIfDue(), LOOK_MS)
  }

  end () {
    this.#task = null
    this.#quota = 0
    this.tracker.removeListener('rest', this.lookSoon)
    clearInterval(this.#timer)
  }

  /** From here on unanswered requests move too. */
  replay () {
    this.#isReplaying = true
    this.look()
  }

  get isSpent () {
    return this.#quota <= 0
  }

  /** @param {Connection} connection */
  isMovable (connection) {
    return this.#quota > 0 && connection.isPortable && !connection.isPinned && !connection.isUnwanted &&
      (this.#task?.chosen?.has(connection) ?? true)
  }

  /** A sibling can take it now. @param {Connection} connection */
  canOffer (connection) {
    return this.isMovable(connection) && this.#mayLeave(connection) &&
      (connection.isIdle || (this.#task?.isEmptying === true && connection.isBegun) ||
        (this.#isReplaying && connection.isReplayable))
  }

  /** @param {Connection} connection */
  #mayLeave (connection) {
    return this.handoff.sessions?.mayLeave(connection) ?? true
  }

  /** Looks for connections that are idle now. */
  look () {
    const { connections } = this.tracker
    const count = Math.max(1, connections.size)
    const began = this.#lookedAt = performance.now()
    this.#lookScheduled = false
    this.tracker.noteIdle()
    connections.rewind()
    const ms = performance.now() - began
    this.#pump()
    const pumpedAt = performance.now()
    this.handoff.channel.flush() // the siblings take these meanwhile
    this.#task?.onLook() // it visits every connection, too
    this.#msEach = (ms + performance.now() - pumpedAt) / count
  }

  /** By the connections that there are now: with the last ones it looks at each interval again. */
  get #isLookDue () {
    const restMs = Math.min(this.#msEach * this.tracker.connections.size / LOOK_SHARE, LONGEST_REST_MS)
    return performance.now() >= this.#lookedAt + restMs
  }

  #lookIfDue () {
    if (this.#isLookDue) this.look()
    else this.#pump()
  }

  /** @param {Connection} connection @returns {Packed | null} null: it is the server's, or does not move now */
  #packed (connection) {
    const isWanted = this.#task?.isEmptying || this.#task?.chosen?.has(connection)
    if (!isWanted || connection.isUnwanted || !connection.isMigrating || !this.#mayLeave(connection)) return null
    return connection.pack?.() ?? null
  }

  /** Goes on with the pass, as long as there is room for offers. */
  #pump () {
    if (performance.now() < this.#offerNotBefore) return
    while (this.#quota > 0 && this.handoff.hasRoom) {
      const connection = this.tracker.connections.next()
      if (connection === null) return
      const packed = this.#packed(connection)
      if (packed === null && !this.canOffer(connection)) continue
      this.#quota--
      const part = packed === null && !connection.isIdle ? connection.head?.part : null
      this.handoff.offer(connection, part ?? undefined, packed, this.#task?.chosen?.get(connection))
    }
  }

  /**
   * No sibling took it. A sibling that is asked again at once would refuse again.
   * @param {Connection} connection @param {boolean} isStalled
   */
  #back (connection, isStalled) {
    const isOfferedAgain = this.#task?.onBack?.(isStalled) ?? true
    if (isOfferedAgain) this.#offerNotBefore = performance.now() + RETRY_MS
    else connection.keep('refused')
    this.#pump()
  }

  lookSoon = () => {
    if (this.#lookScheduled || !this.#isLookDue) return
    this.#lookScheduled = true
    process.nextTick(() => {
      if (this.#task) this.look()
      else this.#lookScheduled = false
    })
  }
}

module.exports = { Sender }
