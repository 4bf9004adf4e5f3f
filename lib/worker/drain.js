'use strict'

/**
 * Leaving, as a worker does it. The gates shut, and then every connection goes its way:
 *
 *   movable     handed to a sibling the moment it is idle; the client notices nothing
 *   HTTP/1      its next response says `Connection: close`; until then it is served
 *   HTTP/2      GOAWAY, and streams finish; see goaway.js
 *   foreign     upgraded or raw: the app hears `recycle:drain` and ends them as their protocol wants
 *
 * An idle connection is not closed before the deadline, for a request may be on its way. What is still in flight at the
 * deadline is cut, and named. Whatever happens, the account says so.
 */

const { isFollowed } = require('./traffic')
const { openAccount } = require('../core/account')
const { nameCuts } = require('./connection')
const { Goaway } = require('./goaway')

const SWEEP_MS = 50
const SWEEP_SHARE = 0.1 // of the worker's time, at the most
const SETTLE_MS = 1000

/**
 * @typedef {object} Order
 * @property {string} reason
 * @property {number} deadlineMs from now
 * @property {number | null} lingerMs idle connections are closed after this, without waiting for the deadline; null: not
 * @property {boolean} handoff
 */

class Drain {
  /** @type {Order | null} */
  order = null
  account = openAccount(0, 0)
  /** Idle when we last looked, with the bytes that had been read by then. @type {Map<import('./connection').Connection, number>} */
  #idle = new Map()
  #sweepScheduled = false
  #sweepNotBefore = 0
  #isPastLinger = false
  /** @type {Set<Goaway>} */
  #goaways = new Set()
  /** @type {NodeJS.Timeout[]} */
  #deadlines = []
  /** @type {NodeJS.Timeout | undefined} */
  #sweeper

  /**
   * @param {object} rooms
   * @param {import('./traffic').Traffic} rooms.traffic
   * @param {Set<import('./gate').Gate>} rooms.gates
   * @param {import('./lobby').Lobby} rooms.lobby
   * @param {import('./handoff').Handoff} rooms.handoff
   * @param {import('./admission').Admission} rooms.admission
   * @param {import('./sharing').Sharing} rooms.sharing
   * @param {(account: import('../core/account').Account) => void} done
   */
  constructor ({ traffic, gates, lobby, handoff, admission, sharing }, done) {
    this.traffic = traffic
    this.gates = gates
    this.lobby = lobby
    this.handoff = handoff
    this.admission = admission
    this.sharing = sharing
    this.done = done
  }

  /** @param {Order} order a second one hurries the first: its deadlines count, and nothing is handed over where it says so */
  begin (order) {
    const isFirst = this.order === null
    this.order = isFirst ? order : { ...order, handoff: order.handoff && this.order?.handoff === true }
    for (const timer of this.#deadlines) clearTimeout(timer)
    this.#deadlines = [setTimeout(() => this.#cut(), order.deadlineMs)]
    if (order.lingerMs !== null) this.#deadlines.push(setTimeout(() => this.#pastLinger(), order.lingerMs))
    if (isFirst) this.#open(order)
    for (const connection of this.traffic.connections) this.#leave(connection)
    this.#sweep()
  }

  /** @param {Order} order */
  #open ({ reason, deadlineMs }) {
    this.lobby.isClosed = true
    this.admission.close()
    this.sharing.stop()
    const connections = this.traffic.connections.size + this.lobby.guests.size + this.handoff.outstanding.size
    this.account = openAccount(connections, this.traffic.inFlight)
    this.#listen()
    this.#shutGates()
    for (const connection of this.traffic.connections) if (connection.session) this.#goaway(connection)
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)
    process.emit(/** @type {any} */ ('recycle:drain'), /** @type {any} */ ({ reason, deadlineMs }))
  }

  onMoved () {
    this.account.moved++
    this.#pump()
    this.#checkDone()
  }

  onBack () {
    this.account.refused++
    this.account.takenBack++
    this.#pump()
  }

  onUnacked () {
    this.account.unacked++
    this.#checkDone()
  }

  #listen () {
    const { traffic, lobby } = this
    traffic.on('connection', connection => {
      if (!connection.gate.arriving) this.account.connections++
      this.#leave(connection)
    })
    traffic.on('session', connection => this.#goaway(connection))
    traffic.on('request', (connection, exchange) => this.#announce(connection, exchange))
    traffic.on('rest', (connection, exchange) => this.#rest(connection, exchange))
    traffic.on('gone', connection => this.#tally(connection))
    lobby.on('gone', (guest, /** @type {import('./connection').Fate} */ fate) => {
      this.account[fate]++
      this.#checkDone()
    })
  }

  /** Who is in the queue is the siblings' to accept, or the primary's; where there is neither, it is ours. */
  #shutGates () {
    if (this.order?.lingerMs === null) this.gates.forEach(gate => gate.shut())
    else this.admission.shutEmpty(() => this.#checkDone())
  }

  /** @param {import('./connection').Connection} connection */
  #isMovable (connection) {
    return this.order?.handoff === true && connection.gate.isMovable && !connection.isPinned
  }

  /** @param {import('./connection').Connection} connection */
  #leave (connection) {
    const exchange = connection.exchanges.at(-1)
    if (exchange && !this.#isMovable(connection)) announceClose(connection, exchange)
  }

  /** @param {import('./connection').Connection} connection */
  #goaway (connection) {
    const goaway = new Goaway(connection)
    this.#goaways.add(goaway)
    setImmediate(() => goaway.step()) // a session that has just begun says its SETTINGS first
  }

  /** @param {import('./connection').Connection} connection @param {import('./connection').Exchange} exchange */
  #announce (connection, exchange) {
    if (this.#isMovable(connection)) return
    for (const earlier of connection.exchanges.slice(0, -1)) retractClose(connection, earlier)
    if (!isFollowed(connection, exchange.request)) announceClose(connection, exchange)
  }

  /** @param {import('./connection').Connection} connection @param {import('./connection').Exchange} exchange */
  #rest (connection, { response }) {
    if (connection.session === null && (response.shouldKeepAlive === false || connection.socket.writableEnded)) connection.isAnnounced = true
    if (response.writableFinished) this.account.finished++
    else if (connection.fate !== 'cut') this.account.aborted++
    if (this.#sweepScheduled || performance.now() < this.#sweepNotBefore) return
    this.#sweepScheduled = true
    process.nextTick(() => this.#sweep())
  }

  /** Looks for connections that are idle now. The more there are, the longer a look takes, and the rarer it is. */
  #sweep () {
    const began = performance.now()
    this.#sweepScheduled = false
    for (const gate of this.gates) {
      if (!gate.isPlainHttp) continue
      for (const connection of this.traffic.idle(gate)) {
        if (this.#isMovable(connection)) this.#idle.set(connection, connection.socket.bytesRead)
      }
    }
    if (this.#isPastLinger) this.#closeIdle()
    for (const goaway of this.#goaways) goaway.step()
    this.#pump()
    this.#checkDone()
    this.#sweepNotBefore = began + (performance.now() - began) / SWEEP_SHARE
  }

  /** Offers what is idle, as long as there is room. */
  #pump () {
    if (!this.order?.handoff) return
    for (const [connection, bytesRead] of this.#idle) {
      if (!this.handoff.hasRoom) return
      this.#idle.delete(connection)
      const { socket } = connection
      // Nothing has been read since it was seen idle: it still is.
      if (!connection.isEnding && socket.bytesRead === bytesRead && connection.isQuiet) this.handoff.offer(connection)
    }
    for (const guest of this.lobby.movable) {
      if (!this.handoff.hasRoom) return
      this.handoff.offerGuest(guest)
    }
  }

  /** @param {import('./connection').Connection} connection */
  #tally (connection) {
    this.#idle.delete(connection)
    const fate = connection.fate ?? fateOf(connection)
    if (fate !== 'moved') this.account[fate]++ // an offer is counted when we know what became of it
    this.#checkDone()
  }

  #pastLinger () {
    this.#isPastLinger = true
    this.#sweep()
  }

  #closeIdle () {
    this.lobby.close()
    for (const gate of this.gates) {
      if (gate.isPlainHttp) for (const connection of this.traffic.idle(gate)) connection.close('closedIdle')
    }
    for (const connection of this.traffic.connections) {
      if (connection.secure && connection.isQuiet && !connection.isForeign) connection.close('closedIdle')
    }
  }

  /** The time is up. */
  #cut () {
    this.#closeIdle()
    for (const connection of this.traffic.connections) {
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
    if (this.order === null) return // connections move while this worker serves, too; see sharing.js
    if (this.traffic.connections.size || this.lobby.guests.size || this.handoff.outstanding.size) return
    if ([...this.gates].some(gate => gate.isOpen)) return
    for (const timer of this.#deadlines) clearTimeout(timer)
    clearInterval(this.#sweeper)
    const { done } = this
    this.done = () => {}
    done(this.account)
  }
}

/**
 * @param {import('./connection').Connection} connection
 * @param {import('./connection').Exchange} exchange the newest on this connection
 */
function announceClose (connection, { response }) {
  if (connection.session || response.headersSent || !response.shouldKeepAlive) return
  response.shouldKeepAlive = false
  connection.isAnnounced = true
}

/**
 * Another request has come behind this one on the same connection: had it said `close`, the other would be lost.
 *
 * @param {import('./connection').Connection} connection
 * @param {import('./connection').Exchange} exchange
 */
function retractClose (connection, { response }) {
  if (!connection.isAnnounced || response.headersSent) return
  response.shouldKeepAlive = true
  connection.isAnnounced = false
}

/** @param {import('./connection').Connection} connection @returns {import('./connection').Fate} */
function fateOf ({ isAnnounced, socket }) {
  if (isAnnounced) return 'closedAfterResponse'
  return socket.readableEnded || socket.errored ? 'closedByClient' : 'closedIdle'
}

module.exports = { Drain }
