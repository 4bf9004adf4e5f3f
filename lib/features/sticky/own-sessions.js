'use strict'

/**
 * The sessions that this worker owns, as far as it remembers; the primary alone knows the owner of each (owners.js). A
 * worker that drains keeps each of its own until the app has transferred it (transfers.js), or until the app's
 * onDrain() functions are done and no transfer of it is pending; from then on it handles no request of that session, so
 * that what was transferred is not outdated later.
 */

const { setTimeout } = require('node:timers')
const { SecondChanceSet } = require('./second-chance')
const { bounded } = require('./session')
const { Transfers } = require('./transfers')
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { WorkerKernel } from '../interface' */

const MOST_REMEMBERED = 50_000
const LEAVING_MS = 5000

class OwnSessions {
  #own = new SecondChanceSet(MOST_REMEMBERED)
  /** Of own(): those that wait for the primary. @type {Set<() => void>} */
  #unanswered = new Set()
  /** Sessions that are no longer its own, as long as it leaves. @type {Set<string>} */
  #transferred = new Set()
  /**
   * The sessions that it keeps as it leaves: all, but for those transferred; these alone, whose transfer is pending;
   * none.
   * @type {'all' | Set<string> | null}
   */
  #kept = null
  /** The time of this worker is up. */
  #isLate = false

  /** @param {WorkerKernel} kernel */
  constructor ({ channel, state, tracker, handoff, sender, emptying, callApp }) {
    this.channel = channel
    this.state = state
    this.sender = sender
    this.emptying = emptying
    this.transfers = new Transfers({ channel, tracker, sender, callApp }, session =>
      this.#onTransferred(session), session => this.#onFailed(session))
    emptying.holds.push({
      isActive: () => this.#kept !== null,
      release: () => {
        this.#isLate = true
        this.#release()
      }
    })
    handoff.sessions = this
    channel.on({
      forget: ({ session, ifUnused }) => {
        if (session === null) this.#own.clear()
        else if (!ifUnused) this.#own.delete(session)
        else if (this.#own.forgetUnused(session)) channel.send('forget', { session })
      }
    })
  }

  /** Of the worker API. */
  get api () {
    return {
      own: (/** @type {string} */ session) => this.own(session),
      transfer: (/** @type {string} */ session, /** @type {unknown} */ value) =>
        this.transfers.transfer(session, value),
      onTransfer: (/** @type {(session: string, value: unknown) => void} */ fn) => this.transfers.onTransfer(fn)
    }
  }

  /** @param {string} session */
  has (session) {
    return this.#own.has(session)
  }

  /** @param {string} session this worker's, as the primary has said */
  add (session) {
    this.#own.add(session)
  }

  /** @param {string} session this worker's from here on @returns {Promise<void>} resolves when the primary knows it */
  own (session) {
    const id = bounded(session)
    if (id === null || this.#own.has(id)) return Promise.resolve()
    this.#own.add(id)
    if (!this.channel.isUp) return Promise.resolve() // the next primary is told
    return new Promise(resolve => {
      this.#unanswered.add(resolve)
      this.channel.call('own', { session: id }, () => {
        this.#unanswered.delete(resolve)
        resolve()
      })
    })
  }

  /** The primary has exited, and answers no more. */
  endCalls () {
    for (const resolve of this.#unanswered) resolve()
    this.#unanswered.clear()
  }

  /** Another primary has this worker. */
  adopted () {
    for (const session of this.#own.keys) this.channel.call('own', { session }, () => {})
    if (this.state.current === 'draining' && this.#kept !== 'all') {
      this.channel.send('transferred', { except: [...this.#kept ?? []] })
    }
  }

  /**
   * This worker drains.
   * @param {number} deadlineMs @param {Promise<unknown>} released the app's work in onDrain() is done
   */
  leave (deadlineMs, released) {
    if (!this.state.canBecome('draining')) return // it hurries
    this.#kept = 'all'
    released.then(() => this.#release())
    setTimeout(() => this.#release(), Math.min(deadlineMs, LEAVING_MS)).unref()
  }

  /**
   * The app's work in onDrain() is done, or has had its time: only what waits for a transfer is still this worker's.
   */
  #release () {
    if (this.#kept !== 'all') return
    const { pending } = this.transfers
    this.#kept = new Set(pending)
    this.channel.send('transferred', { except: pending })
    this.#look()
  }

  /** @param {string} session */
  #onTransferred (session) {
    this.#own.delete(session)
    if (this.state.isServing) return
    this.#transferred.add(session)
    if (this.#kept === null || this.#kept === 'all') return
    this.#kept.delete(session)
    this.#look()
  }

  /** The state of the session is not to be had, and does not keep it here. @param {string} session */
  #onFailed (session) {
    if (this.#kept === null || this.#kept === 'all') return
    this.#kept.delete(session)
    this.channel.send('transferred', { except: [...this.#kept] })
    this.#look()
  }

  /** This worker may have no session left to keep, or connections that may leave now. */
  #look () {
    if (this.#kept !== 'all' && this.#kept?.size === 0) this.#kept = null
    this.sender.lookSoon()
    this.emptying.check()
  }

  /** A session of this worker's own, although it leaves. @param {string} session */
  isKept (session) {
    return this.#kept === 'all' ? !this.#transferred.has(session) : this.#kept?.has(session) === true
  }

  /**
   * @param {Connection} connection one that is idle, or whose request can move
   * @returns {boolean} its session is not tied to this worker
   */
  mayLeave ({ sessionId, exchanges }) {
    if (sessionId === null || !this.isKept(sessionId) || !this.#own.has(sessionId)) return true
    return exchanges.length > 0 && (this.#isLate || this.transfers.areMovable(sessionId))
  }

  onClosed () {
    this.transfers.sendIdle()
  }
}

module.exports = { OwnSessions }
