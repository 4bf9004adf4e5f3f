'use strict'

/**
 * Moves connections to siblings when they are idle: all of them, for a worker that drains (drain.js) or goes out of rotation
 * (out-of-rotation.js), or some, for one with more than its share (rebalance.js). It looks for idle ones at an interval and
 * when responses end, and offers as many as there is room for; the others are served meanwhile.
 */

const { performance } = require('node:perf_hooks')
const { clearInterval, setInterval } = require('node:timers')

const RETRY_MS = 250
const SWEEP_MS = 50
const SWEEP_SHARE = 0.1 // of the worker's time, at the most

class Sender {
  /** How many connections may still be handed over. */
  quota = 0
  /** Idle when we last looked, with the bytes that had been read by then. @type {Map<import('../connections/connection').Connection, number>} */
  #idle = new Map()
  #sweepScheduled = false
  #sweepNotBefore = 0
  #offersNotBefore = 0
  /** @type {NodeJS.Timeout | undefined} */
  #sweeper

  /**
   * @param {object} deps
   * @param {import('../connections/tracker').ConnectionTracker} deps.tracker
   * @param {Set<import('../accepting/acceptor').Acceptor>} deps.acceptors
   * @param {import('./inbox').Inbox} deps.inbox
   * @param {import('./handoff').Handoff} deps.handoff
   * @param {() => void} looked called after each look
   * @param {(connection: import('../connections/connection').Connection) => boolean} [isWorthIt]
   */
  constructor ({ tracker, acceptors, inbox, handoff }, looked, isWorthIt = () => true) {
    this.tracker = tracker
    this.acceptors = acceptors
    this.inbox = inbox
    this.handoff = handoff
    this.looked = looked
    this.isWorthIt = isWorthIt
    this.onRest = () => this.#lookSoon()
    this.onGone = (/** @type {import('../connections/connection').Connection} */ connection) => { this.#idle.delete(connection) }
  }

  begin () {
    this.tracker.on('rest', this.onRest)
    this.tracker.on('gone', this.onGone)
    this.#sweeper = setInterval(() => this.look(), SWEEP_MS)
  }

  end () {
    this.tracker.removeListener('rest', this.onRest)
    this.tracker.removeListener('gone', this.onGone)
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
    this.#idle.clear()
  }

  /** How many connections this worker is responsible for. */
  get left () {
    return this.tracker.connections.size + this.inbox.entries.size + this.handoff.outstanding.size
  }

  /** @param {import('../connections/connection').Connection} connection */
  isMovable (connection) {
    return this.quota > 0 && connection.acceptor.isMovable && !connection.isPinned && this.isWorthIt(connection)
  }

  /** Looks for connections that are idle now. The more there are, the longer a look takes, and the rarer it is. */
  look () {
    const began = performance.now()
    this.#sweepScheduled = false
    for (const acceptor of this.acceptors) {
      if (!acceptor.isPlainHttp) continue
      for (const connection of this.tracker.idle(acceptor)) {
        if (this.isMovable(connection)) this.#idle.set(connection, connection.socket.bytesRead)
      }
    }
    this.pump()
    this.looked()
    this.#sweepNotBefore = began + (performance.now() - began) / SWEEP_SHARE
  }

  /** Offers what is idle, as long as there is room. */
  pump () {
    if (performance.now() < this.#offersNotBefore) return
    for (const [connection, bytesRead] of this.#idle) {
      if (!this.#hasRoom) return
      this.#idle.delete(connection)
      const { socket } = connection
      // Nothing has been read since it was seen idle: it still is.
      if (connection.isEnding || socket.bytesRead !== bytesRead || !connection.isQuiet || connection.isPinned) continue
      this.quota--
      this.handoff.offer(connection)
      this.tracker.release(connection)
    }
    for (const entry of this.#hasRoom ? this.inbox.movable : []) {
      if (!this.#hasRoom) return
      this.quota--
      this.handoff.offerEntry(entry)
    }
  }

  /** No sibling could take it: it is offered again later. @param {import('./inbox').Entry} entry */
  retry (entry) {
    entry.isPinned = false
    this.#offersNotBefore = performance.now() + RETRY_MS
  }

  get #hasRoom () {
    return this.quota > 0 && this.handoff.hasRoom
  }

  #lookSoon () {
    if (this.#sweepScheduled || performance.now() < this.#sweepNotBefore) return
    this.#sweepScheduled = true
    process.nextTick(() => {
      if (this.#sweeper) this.look()
      else this.#sweepScheduled = false
    })
  }
}

module.exports = { Sender }
