'use strict'

/**
 * Out of rotation for a while, for something that would hold up every request here: a collection, a heap snapshot.
 *
 *     serving ──aside──▶ leaving ──nothing is left──▶ out ──return──▶ serving
 *        ▲                  │                          collect, heapdump
 *        └──time is up──────┘
 *
 * Leaving goes as in a drain (mover.js, farewell.js), but nothing is ever cut, and the app is not told. What can be known
 * beforehand to be in the way (a WebSocket) is said at once, before any client has heard anything. Once this worker is
 * out, nothing can come: its gates are shut, and it adopts nothing.
 */

const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')
const { Farewell } = require('./farewell')
const { Mover } = require('./mover')

/**
 * @typedef {object} Order
 * @property {number} id
 * @property {number} deadlineMs from now
 * @property {boolean} handoff
 */

class Aside {
  /** @type {'serving' | 'leaving' | 'out' | 'gone'} gone: for good; the rest is the drain's */
  stage = 'serving'
  #id = 0
  #moved = 0
  #since = 0
  /** @type {NodeJS.Timeout | undefined} */
  #deadline

  /**
   * @param {object} rooms
   * @param {import('./link').Link} rooms.link
   * @param {import('./traffic').Traffic} rooms.traffic
   * @param {Set<import('./gate').Gate>} rooms.gates
   * @param {import('./lobby').Lobby} rooms.lobby
   * @param {import('./handoff').Handoff} rooms.handoff
   * @param {import('./admission').Admission} rooms.admission
   * @param {import('./sharing').Sharing} rooms.sharing
   */
  constructor (rooms) {
    const { link, traffic, gates, lobby, admission, sharing } = rooms
    this.link = link
    this.traffic = traffic
    this.gates = gates
    this.lobby = lobby
    this.admission = admission
    this.sharing = sharing
    this.mover = new Mover(rooms, () => this.#onLook())
    this.farewell = new Farewell(traffic, connection => this.mover.isMovable(connection))
    link.on({
      aside: order => this.#begin(order),
      collect: ({ id }) => this.#do(id, () => require('./memory').collect()),
      heapdump: ({ id, file }) => this.#do(id, () => require('./memory').dumpHeap(file)),
      return: () => this.isUnderWay ? this.#giveUp('it was called back') : this.#return()
    })
  }

  get isUnderWay () {
    return this.stage === 'leaving'
  }

  /** The drain takes over. */
  cancel () {
    if (this.isUnderWay) {
      this.#halt()
      this.farewell.end()
    }
    this.stage = 'gone'
  }

  onMoved () {
    this.#moved++
    this.mover.pump()
    this.#checkOut()
  }

  /** @param {import('./lobby').Guest} guest */
  onBack (guest) {
    this.mover.retry(guest)
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
    this.sharing.stop()
    this.mover.quota = handoff ? Infinity : 0
    this.farewell.begin()
    this.farewell.announce()
    this.mover.begin()
    this.mover.look()
  }

  #onLook () {
    this.farewell.step()
    const why = this.#whyNot()
    if (why) this.#giveUp(why)
    else this.#checkOut()
  }

  #checkOut () {
    if (!this.isUnderWay || this.mover.left > 0 || this.traffic.inFlight > 0) return
    if ([...this.gates].some(gate => gate.isOpen)) return
    this.#halt()
    this.farewell.end()
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
    this.mover.end()
    this.mover.quota = 0
  }

  /** Back into rotation. */
  #return () {
    if (this.stage === 'gone') return
    if (this.isUnderWay) {
      this.#halt()
      this.farewell.retract()
    }
    this.stage = 'serving'
    this.admission.enter()
  }

  /** @param {number} id @param {() => Record<string, any>} deed holds this thread until it is done */
  #do (id, deed) {
    if (this.stage !== 'out') return this.#answer(id, { why: 'it is in rotation' })
    try {
      this.#answer(id, { why: null, ...deed() })
    } catch (error) {
      this.#answer(id, { why: /** @type {Error} */ (error).message })
    }
  }

  /** @returns {string | null} what cannot be emptied, whatever the time */
  #whyNot () {
    const foreign = [...this.traffic.connections].filter(isForeign).length
    return foreign > 0 ? `${foreign} of its connections are upgraded or raw, and cannot be moved` : null
  }

  #whatIsLeft () {
    return `${this.mover.left} of its connections are left, with ${this.traffic.inFlight} requests in flight`
  }

  /** @param {number} id @param {Record<string, any>} fields */
  #answer (id, fields) {
    this.link.send('answer', { id, ...fields })
  }
}

/** A connection whose TLS handshake is under way is no foreign one, though it has no parser yet. @param {import('./connection').Connection} connection */
function isForeign (connection) {
  return connection.isForeign && !connection.socket.destroyed && !(connection.secure === null && 'setSecureContext' in connection.gate.server)
}

module.exports = { Aside }
