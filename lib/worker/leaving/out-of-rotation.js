'use strict'

/**
 * Out of rotation for a task that would block every request here: a collection, a heap snapshot.
 *
 *     serving ──leave──▶ leaving ──nothing is left──▶ out ──return──▶ serving
 *        ▲                  │                          collect, heapdump
 *        └──time is up──────┘
 *
 * Leaving is like a drain (sender.js, close-notice.js), but nothing is cut, and the app is not notified. A connection that
 * cannot be moved or closed (a WebSocket) is reported at once, before any close is announced to a client. A worker that is
 * out gets no connection: its acceptors are shut, and it adopts nothing.
 */

const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')
const { CloseNotice } = require('./close-notice')
const { Sender } = require('../handoff/sender')

/**
 * @typedef {object} Order
 * @property {number} id
 * @property {number} deadlineMs from now
 * @property {boolean} handoff
 */

class OutOfRotation {
  /** @type {'serving' | 'leaving' | 'out' | 'gone'} gone: for good; the rest is the drain's */
  stage = 'serving'
  #id = 0
  #moved = 0
  #since = 0
  /** @type {NodeJS.Timeout | undefined} */
  #deadline

  /**
   * @param {object} deps
   * @param {import('../channel').Channel} deps.channel
   * @param {import('../connections/tracker').ConnectionTracker} deps.tracker
   * @param {Set<import('../accepting/acceptor').Acceptor>} deps.acceptors
   * @param {import('../handoff/inbox').Inbox} deps.inbox
   * @param {import('../handoff/handoff').Handoff} deps.handoff
   * @param {import('../accepting/admission').Admission} deps.admission
   * @param {import('../handoff/rebalance').Rebalance} deps.rebalance
   */
  constructor (deps) {
    const { channel, tracker, acceptors, inbox, admission, rebalance } = deps
    this.channel = channel
    this.tracker = tracker
    this.acceptors = acceptors
    this.inbox = inbox
    this.admission = admission
    this.rebalance = rebalance
    this.sender = new Sender(deps, () => this.#onLook())
    this.closeNotice = new CloseNotice(tracker, connection => this.sender.isMovable(connection))
    channel.on({
      'leave-rotation': order => this.#begin(order),
      collect: ({ id }) => this.#do(id, () => require('../health/memory').collect()),
      heapdump: ({ id, file }) => this.#do(id, () => require('../health/memory').dumpHeap(file)),
      rejoin: () => this.isUnderWay ? this.#giveUp('it was called back') : this.#return()
    })
  }

  get isUnderWay () {
    return this.stage === 'leaving'
  }

  /** The drain takes over. */
  cancel () {
    if (this.isUnderWay) {
      this.#halt()
      this.closeNotice.end()
    }
    this.stage = 'gone'
  }

  onMoved () {
    this.#moved++
    this.sender.pump()
    this.#checkOut()
  }

  /** @param {import('../handoff/inbox').Entry} entry */
  onBack (entry) {
    this.sender.retry(entry)
  }

  onUnacked () {}

  /** @param {Order} order */
  #begin ({ id, deadlineMs, handoff }) {
    const why = this.stage === 'serving' ? this.#whyNot() : `it is ${this.stage} already`
    if (why) return this.#answer(id, { why, moved: 0 })
    this.#id = id
    this.#moved = 0
    this.#since = performance.now()
    this.stage = 'leaving'
    this.#deadline = setTimeout(() => this.#giveUp(this.#whatIsLeft()), deadlineMs)
    this.admission.leave()
    this.rebalance.stop()
    this.sender.quota = handoff ? Infinity : 0
    this.closeNotice.begin()
    this.closeNotice.announce()
    this.sender.begin()
    this.sender.look()
  }

  #onLook () {
    this.closeNotice.step()
    const why = this.#whyNot()
    if (why) this.#giveUp(why)
    else this.#checkOut()
  }

  #checkOut () {
    if (!this.isUnderWay || this.sender.left > 0 || this.tracker.inFlight > 0) return
    if ([...this.acceptors].some(acceptor => acceptor.isOpen)) return
    this.#halt()
    this.closeNotice.end()
    this.stage = 'out'
    this.#answer(this.#id, { why: null, moved: this.#moved, tookMs: performance.now() - this.#since })
  }

  /** @param {string} why */
  #giveUp (why) {
    if (!this.isUnderWay) return
    this.#return()
    this.#answer(this.#id, { why, moved: this.#moved })
  }

  #halt () {
    clearTimeout(this.#deadline)
    this.sender.end()
    this.sender.quota = 0
  }

  /** Back into rotation. */
  #return () {
    if (this.stage === 'gone') return
    if (this.isUnderWay) {
      this.#halt()
      this.closeNotice.retract()
    }
    this.stage = 'serving'
    this.admission.enter()
  }

  /** @param {number} id @param {() => Record<string, any>} task holds this thread until it is done */
  #do (id, task) {
    if (this.stage !== 'out') return this.#answer(id, { why: 'it is in rotation' })
    try {
      this.#answer(id, { why: null, ...task() })
    } catch (error) {
      this.#answer(id, { why: /** @type {Error} */ (error).message })
    }
  }

  /** @returns {string | null} what cannot be emptied, whatever the time */
  #whyNot () {
    const foreign = [...this.tracker.connections].filter(isForeign).length
    return foreign > 0 ? `${foreign} of its connections are upgraded or raw, and cannot be moved` : null
  }

  #whatIsLeft () {
    return `${this.sender.left} of its connections are left, with ${this.tracker.inFlight} requests in flight`
  }

  /** @param {number} id @param {Record<string, any>} fields */
  #answer (id, fields) {
    this.channel.send('answer', { id, ...fields })
  }
}

/** A connection without a parser, except during its TLS handshake. @param {import('../connections/connection').Connection} connection */
function isForeign (connection) {
  return connection.isForeign && !connection.socket.destroyed && !(connection.secure === null && 'setSecureContext' in connection.acceptor.server)
}

module.exports = { OutOfRotation }
