'use strict'

/**
 * Drains this worker. The acceptors are shut, and then it depends on the connection:
 *
 *   movable     handed to a sibling the moment it is idle; the client notices nothing
 *   HTTP/1      its next response says `Connection: close`; until then it is served
 *   HTTP/2      GOAWAY, and streams finish; see goaway.js
 *   foreign     upgraded or raw: `recycle:drain` is emitted, and the app ends them by their protocol
 *
 * An idle connection is not closed before the deadline, because a request may be on its way. What is still in flight at the
 * deadline is cut, and named in the account.
 */

const { performance } = require('node:perf_hooks')
const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { openAccount } = require('../../core/account')
const { nameCuts } = require('../connections/connection')
const { CloseNotice } = require('./close-notice')
const { Sender } = require('../handoff/sender')

const SETTLE_MS = 1000
const STALLED_MS = 3000

/**
 * @typedef {object} Order
 * @property {string} reason
 * @property {number} deadlineMs from now
 * @property {number | null} lingerMs connections that have been idle for so long are closed, without waiting for the
 *   deadline; null: not
 * @property {boolean} handoff
 */

class Drain {
  /** @type {Order | null} */
  order = null
  account = openAccount(0, 0)
  /** Idle connections are closed when they have been so for this long, ms; null: not yet at all. @type {number | null} */
  #closeAfterMs = null
  /** Since when every offer has come back. @type {number | null} */
  #stalledAt = null
  /** @type {NodeJS.Timeout[]} */
  #deadlines = []

  /**
   * @param {object} deps
   * @param {import('../connections/tracker').ConnectionTracker} deps.tracker
   * @param {Set<import('../accepting/acceptor').Acceptor>} deps.acceptors
   * @param {import('../handoff/inbox').Inbox} deps.inbox
   * @param {import('../handoff/handoff').Handoff} deps.handoff
   * @param {import('../accepting/admission').Admission} deps.admission
   * @param {import('../handoff/rebalance').Rebalance} deps.rebalance
   * @param {(account: import('../../core/account').Account) => void} done
   */
  constructor (deps, done) {
    const { tracker, acceptors, inbox, handoff, admission, rebalance } = deps
    this.tracker = tracker
    this.acceptors = acceptors
    this.inbox = inbox
    this.handoff = handoff
    this.admission = admission
    this.rebalance = rebalance
    this.sender = new Sender(deps, () => this.#onLook())
    this.closeNotice = new CloseNotice(tracker, connection => this.sender.isMovable(connection))
    this.done = done
  }

  /** @param {Order} order a second one hurries the first: its deadlines count, and nothing is handed over where it says so */
  begin (order) {
    const isFirst = this.order === null
    this.order = isFirst ? order : { ...order, handoff: order.handoff && this.order?.handoff === true }
    this.sender.quota = this.order.handoff ? Infinity : 0
    for (const timer of this.#deadlines) clearTimeout(timer)
    this.#deadlines = [setTimeout(() => setImmediate(() => this.#cut()), order.deadlineMs)]
    if (order.lingerMs !== null) this.#deadlines.push(setTimeout(() => this.#pastLinger(order.lingerMs), order.lingerMs))
    if (isFirst) this.#open()
    this.closeNotice.announce()
    if (isFirst) process.emit(/** @type {any} */ ('recycle:drain'), /** @type {any} */ ({ reason: order.reason, deadlineMs: order.deadlineMs }))
    this.sender.look() // with nothing left the drain is over
  }

  #open () {
    this.inbox.isClosed = true
    this.admission.close()
    this.rebalance.stop()
    this.account = openAccount(this.sender.left, this.tracker.inFlight)
    this.#listen()
    this.closeNotice.begin()
    this.sender.begin()
    this.#shutAcceptors()
  }

  onMoved () {
    this.account.moved++
    this.#stalledAt = null
    this.sender.pump()
    this.#checkDone()
  }

  /**
   * No sibling took it. If one is only busy, it is offered again, for up to three seconds; if all refused, it is served here
   * to its end.
   *
   * @param {import('../handoff/inbox').Entry} entry
   * @param {boolean} isStalled
   */
  onBack (entry, isStalled) {
    this.account.refused++
    this.account.takenBack++
    const now = performance.now()
    this.#stalledAt ??= now
    if (isStalled && now - this.#stalledAt < STALLED_MS) this.sender.retry(entry)
    else this.sender.pump()
  }

  onUnacked () {
    this.account.unacked++
    this.#checkDone()
  }

  #listen () {
    const { tracker, inbox } = this
    tracker.on('connection', connection => { if (!connection.acceptor.arriving) this.account.connections++ })
    tracker.on('rest', (connection, exchange) => this.#rest(connection, exchange))
    tracker.on('gone', connection => this.#tally(connection))
    inbox.on('gone', (entry, /** @type {import('../connections/connection').Fate} */ fate) => {
      this.account[fate]++
      this.#checkDone()
    })
  }

  /** The siblings or the primary accept what is in the queue; without either, this worker does. */
  #shutAcceptors () {
    if (this.order?.lingerMs === null) this.acceptors.forEach(acceptor => acceptor.shut())
    else this.admission.shutEmpty(() => this.#checkDone())
  }

  /** @param {import('../connections/connection').Connection} connection @param {import('../connections/connection').Exchange} exchange */
  #rest (connection, { response }) {
    if (response.writableFinished) this.account.finished++
    else if (connection.fate !== 'cut') this.account.aborted++
  }

  #onLook () {
    if (this.#closeAfterMs !== null) setImmediate(() => this.#closeIdle())
    this.closeNotice.step()
    this.#checkDone()
  }

  /** @param {import('../connections/connection').Connection} connection */
  #tally (connection) {
    const fate = connection.fate ?? fateOf(connection)
    if (fate !== 'moved') this.account[fate]++ // an offer is counted when its outcome is known
    this.#checkDone()
  }

  /** @param {number | null} lingerMs */
  #pastLinger (lingerMs) {
    this.#closeAfterMs = lingerMs
    this.sender.look()
  }

  /**
   * To be called after a poll for I/O, so that requests that wait in the kernel are read first. A response without `close`
   * may have ended just now, so its client is given the full idle time to send the next request.
   */
  #closeIdle () {
    const idleMs = this.#closeAfterMs ?? 0
    const latest = performance.now() - idleMs
    this.inbox.close(idleMs)
    const { connections } = this.tracker
    const acceptors = new Set([...connections].map(connection => connection.acceptor)) // also of servers that the app has closed
    const idle = [...acceptors].flatMap(acceptor => this.tracker.idle(acceptor))
    const quiet = [...connections].filter(({ secure, session, isQuiet }) => secure && session && isQuiet)
    for (const connection of [...idle, ...quiet]) {
      if ((connection.idleSince ?? connection.since) <= latest) connection.close('closedIdle')
    }
  }

  /** The time is up. */
  #cut () {
    this.#closeAfterMs = 0
    this.#closeIdle()
    for (const connection of this.tracker.connections) {
      if (connection.socket.destroyed) continue // by closeIdle(): it leaves the list in a later tick
      if (connection.session?.closed && connection.exchanges.length === 0) {
        connection.close('closedIdle')
        continue
      }
      this.account.cuts.push(...nameCuts(connection))
      connection.close('cut')
    }
    setTimeout(() => this.handoff.relinquish(), SETTLE_MS)
    this.#checkDone()
  }

  #checkDone () {
    if (this.order === null) return // connections move while this worker serves, too; see rebalance.js
    if (this.sender.left > 0) return
    if ([...this.acceptors].some(acceptor => acceptor.isOpen)) return
    for (const timer of this.#deadlines) clearTimeout(timer)
    this.sender.end()
    const { done } = this
    this.done = () => {}
    done(this.account)
  }
}

/** @param {import('../connections/connection').Connection} connection @returns {import('../connections/connection').Fate} */
function fateOf ({ isAnnounced, socket }) {
  if (isAnnounced) return 'closedAfterResponse'
  return socket.readableEnded || socket.errored ? 'closedByClient' : 'closedIdle'
}

module.exports = { Drain }
