'use strict'

/**
 * Drains this worker. The acceptors are shut, and then it depends on the connection:
 *
 *   movable     handed to a sibling the moment it is idle; the client notices nothing
 *   HTTP/1      its next response says `Connection: close`; until then it is served
 *   HTTP/2      GOAWAY, and streams finish; see goaway.js
 *   stream      upgraded or raw, or a stream of events: `recycle:drain` is emitted, and the app ends them by their
 *               protocol. An app that does so on SIGTERM is told when nothing else is left, or at the deadline: its
 *               handler may exit at once
 *
 * An idle connection is not closed before the deadline, because a request may be on its way; one whose client has begun
 * and does not go on is (stalled.js). What is still in flight at the deadline is cut, and named in the account; but a
 * request that a sibling can handle instead moves there, before the deadline if the order says so
 * (core/request-replay.js). What is closed before the app has seen a request is no cut.
 */

const { performance } = require('node:perf_hooks')
const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { ENDS, addCuts, addRestarted, openAccount } = require('../../core/account')
const { REPLAY_MS } = require('../../core/request-replay')
const { nameCuts } = require('./name-cuts')
const { closeIfSilent } = require('./stalled')
/** @import { Account } from '../../core/account' */
/** @import { Order } from '../../tables/message' */
/** @import { Connection, Exchange, Fate } from '../connections/connection' */

const SETTLE_MS = 1000 // after the deadline; also for an app to end its streams that is told only then
const STALLED_MS = 3000

class Drain {
  account = openAccount(0, 0)
  /** @type {Order | null} */
  #order = null
  /**
   * Idle connections are closed when they have been so for this long, ms; null: not yet at all.
   * @type {number | null}
   */
  #closeAfterMs = null
  /** Since when every offer has come back. @type {number | null} */
  #stalledAt = null
  /** @type {NodeJS.Timeout | undefined} */
  #linger
  /** @type {NodeJS.Timeout | undefined} */
  #lastCall
  /** The app has just been told to end its streams. */
  #sparesStreams = false

  /**
   * @param {Pick<import('../enter').Parts, 'state' | 'tracker' | 'acceptors' | 'inbox' | 'handoff' | 'sender' |
   *   'admission' | 'emptying'> & Pick<import('../prepare').Prepared, 'signals' | 'api'>} parts
   * @param {(account: Account) => void} done
   */
  constructor (parts, done) {
    this.parts = parts
    this.done = done
  }

  /** Connections that are offered go to another primary's workers. */
  get isSucceeded () {
    return this.#order?.isSucceeded === true
  }

  /** @param {Order} order a second one replaces the deadlines of the first, and can end the hand-off */
  begin (order) {
    if (this.parts.state.current === 'drained') return
    this.parts.handoff.isHeld = false
    const isFirst = this.#order === null
    const hadSiblings = this.#order?.handoff === true
    this.#order = { ...order, handoff: order.handoff && this.#order?.handoff !== false }
    if (isFirst) this.#open()
    clearTimeout(this.#linger)
    clearTimeout(this.#lastCall)
    this.#lastCall = undefined
    if (order.lingerMs !== null) this.#linger = setTimeout(() => this.#pastLinger(order.lingerMs), order.lingerMs)
    this.parts.emptying.begin(this.#order, this)
    const { reason, deadlineMs, handoff } = order
    if (isFirst) this.parts.api.leave({ reason, deadlineMs, handoff })
    else if (hadSiblings && !this.#order.handoff) this.parts.api.alone({ deadlineMs, handoff: false })
    this.parts.emptying.look() // with nothing left the drain is over
  }

  /** The primary has died: what is here stays until the next one orders. @param {number} forMs at most */
  wait (forMs) {
    this.#stalledAt = null
    this.begin({ .../** @type {Order} */(this.#order), deadlineMs: forMs, lingerMs: null, replayAfterMs: null })
    this.parts.handoff.isHeld = true
  }

  onEmpty () {
    this.#settle()
    this.done(this.account)
  }

  #settle () {
    for (const timer of [this.#linger, this.#lastCall]) clearTimeout(timer)
    this.parts.state.become('drained')
  }

  /** The app exits by itself, having been told ahead. @returns {Account | null} null: there is none */
  closeAccount () {
    if (this.parts.state.current === 'drained') return this.account
    if (this.parts.state.current !== 'draining') return null
    for (const connection of this.parts.tracker.connections) {
      if (!connection.isInInbox && !connection.socket.writableEnded && !connection.socket.destroyed) {
        connection.fate ??= connection.isUnseen ? 'closedIdle' : 'cut'
        if (connection.fate === 'cut') addCuts(this.account, this.#cutsOf(connection))
      }
      this.#tally(connection)
    }
    this.account.unacked += this.account.connections - ENDS.reduce((sum, end) => sum + this.account[end], 0)
    this.#settle()
    return this.account
  }

  #open () {
    this.parts.state.become('draining')
    this.account = openAccount(this.parts.tracker.total, this.parts.tracker.requests.inFlight)
    this.parts.tracker.on('connection', () => this.account.connections++)
    this.parts.tracker.on('rest', (connection, exchange) => this.#rest(connection, exchange))
    this.parts.tracker.on('gone', connection => this.#tally(connection))
    // The siblings, the replacement or the primary accept what is in the queue; without any of them, this worker does.
    if (this.#order?.lingerMs === null || this.#order?.handoff) this.parts.admission.shut()
    else this.parts.admission.shutEmpty(() => this.parts.emptying.check())
  }

  /** @param {Connection} connection @param {Exchange} exchange */
  #rest (connection, { response }) {
    if (response.writableFinished) this.account.finished++
    else if (connection.fate !== 'cut') this.account.aborted++
  }

  /** @param {Connection} connection */
  #tally (connection) {
    const fate = connection.fate ?? fateOf(connection)
    this.account[fate]++
    if (fate === 'moved') {
      this.#stalledAt = null
      if ((connection.parcel?.replayed ?? 0) > connection.replayed) this.account.replayed++
    }
    if (connection.restartedFor !== null) addRestarted(this.account, connection.restartedFor)
  }

  /**
   * No sibling took a connection. If one is only busy, or none is there yet, it is offered again, for up to three
   * seconds; if all refused, it is served here to its end.
   * @param {boolean} isStalled
   */
  onBack (isStalled) {
    this.account.refused++
    const now = performance.now()
    this.#stalledAt ??= now
    if (isStalled && now - this.#stalledAt < STALLED_MS) return true
    this.account.takenBack++
    return false
  }

  /** @param {number | null} lingerMs */
  #pastLinger (lingerMs) {
    this.#closeAfterMs = lingerMs
    this.parts.emptying.look()
  }

  /**
   * To be called after a poll for I/O, so that requests that wait in the kernel are read first. A response without
   * `close` may have ended just now, so its client is given the full idle time to send the next request.
   */
  #closeIdle () {
    const idleMs = this.#closeAfterMs ?? 0
    this.parts.inbox.close(idleMs)
    this.parts.tracker.noteIdle()
    const latest = performance.now() - idleMs
    for (const connection of this.parts.tracker.connections) {
      const isQuietSession = connection.secure && connection.session && connection.isQuiet
      const isIdle = connection.stage === 'served' && (connection.isIdle || isQuietSession)
      if (isIdle && (connection.idleSince ?? connection.since) <= latest) connection.close('closedIdle')
    }
  }

  onLook () {
    const { sender, signals, tracker } = this.parts
    if (this.#onlyStreamsAreLeft) signals.tell()
    for (const connection of tracker.connections) {
      if (connection.stays === 'threw' && connection.onKept) connection.keep('threw') // and would again
      const isStuck = connection.isUnseen && !connection.isIdle && !sender.canOffer(connection)
      if (isStuck) closeIfSilent(connection)
    }
    if (this.#lastCall && !this.#isHandingOver) this.#cut()
    else if (this.#closeAfterMs !== null) setImmediate(() => this.#closeIdle())
  }

  get #onlyStreamsAreLeft () {
    const { handoff, tracker, acceptors, emptying } = this.parts
    if (tracker.connections.size === 0 || handoff.isBusy || emptying.isHeld ||
      [...acceptors].some(({ isOpen }) => isOpen)) return false
    for (const connection of tracker.connections) if (!connection.isStream || connection.pack !== null) return false
    return true
  }

  get #isHandingOver () {
    const { sender, handoff, tracker, emptying } = this.parts
    if (handoff.isBusy || emptying.isHeld) return true
    for (const connection of tracker.connections) if (sender.canOffer(connection)) return true
    return false
  }

  /** The time is up. What siblings can handle instead has some more, to move there. */
  onDeadline () {
    const { sender, tracker, emptying, signals } = this.parts
    const hasTime = Number(this.#order?.deadlineMs) > 0
    this.#sparesStreams = hasTime && [...tracker.connections].some(({ isStream }) => isStream) && signals.tell()
    emptying.release()
    if (!this.#order?.handoff) return this.#cut()
    if (this.#order.replayAfterMs === null) sender.look()
    else sender.replay()
    for (const connection of tracker.connections) {
      if (connection.onKept === null) continue
      connection.keep(connection.stays)
      this.#sparesStreams = hasTime
    }
    for (const connection of tracker.connections) {
      if (connection.exchanges.length > 0 && !sender.canOffer(connection)) this.#cutOff(connection)
    }
    this.#lastCall = setTimeout(() => this.#cut(), REPLAY_MS)
    this.onLook()
  }

  #cut () {
    clearTimeout(this.#lastCall)
    this.#closeAfterMs = 0
    this.#cutAll()
    setTimeout(() => {
      this.#sparesStreams = false
      this.parts.handoff.relinquish()
      this.#cutAll() // what had not been sent is here again
    }, SETTLE_MS)
  }

  #cutAll () {
    this.#closeIdle()
    for (const connection of this.parts.tracker.connections) this.#cutOff(connection)
  }

  /** @param {Connection} connection */
  #cutsOf (connection) {
    return nameCuts(connection, this.#order?.handoff === true)
  }

  /** @param {Connection} connection */
  #cutOff (connection) {
    if (this.#sparesStreams && connection.isStream) return
    // A destroyed one leaves the list in a later tick
    if (!['queued', 'served'].includes(connection.stage) || connection.socket.destroyed) return
    const isOver = connection.session?.closed && connection.exchanges.length === 0
    if (connection.isUnseen || isOver) return connection.close('closedIdle')
    addCuts(this.account, this.#cutsOf(connection))
    connection.close('cut')
  }
}

/** @param {Connection} connection @returns {Fate} */
function fateOf ({ isAnnounced, socket }) {
  if (isAnnounced) return 'closedAfterResponse'
  return socket?.readableEnded || socket?.errored ? 'closedByClient' : 'closedIdle'
}

module.exports = { Drain }
