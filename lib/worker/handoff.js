'use strict'

/**
 * Moves an idle connection to a sibling.
 *
 *     this worker             primary (switchboard)             sibling (lobby)
 *     idle? stop reading
 *     detach ── offer+socket ──▶ ledger
 *                                  ├──── adopt+socket ────────▶ held, unread
 *                                  ◀──── adopted ──────────────┤
 *                                  ├──── keep ────────────────▶ waiting: it reads
 *     close ◀────── moved ─────────┤
 *
 * Three processes hold the same TCP connection for a moment, and it ends only when the last copy is closed, so whoever
 * dies on the way does not take it along. Only one of them reads: we stop before the offer, the primary never starts,
 * the sibling starts on `keep`. Bytes that arrive meanwhile wait in the kernel.
 *
 * For the app the socket closes at the offer, as if its client had left: the server's count goes down and the app hears
 * `close`. What is left is a bare handle, which no timer and no sweep of the server's can reach. An offer that comes
 * back goes to our own lobby, and is served here to its end.
 *
 * From its offer until `keep` nobody reads a connection, and a request on it waits. One handle at a time is under way on
 * an IPC channel (Node waits for the other side to have it), so more offers at once move nothing sooner: they only wait
 * longer, all of them for as long as the receiver's first, cold request takes. Two keep both channels busy; whoever is not
 * offered yet is still being served.
 */

const { performance } = require('node:perf_hooks')
const { detachHandle } = require('../core/internals')

const WINDOW = 2

/**
 * @typedef {object} Offer
 * @property {any} handle
 * @property {import('./gate').Gate} gate
 * @property {number | null} leftMs
 */

class Handoff {
  /** Offers of which we have not heard. @type {Map<number, Offer>} */
  outstanding = new Map()
  #lastId = 0

  /**
   * @param {import('./link').Link} link
   * @param {import('./lobby').Lobby} lobby
   * @param {{ onMoved: () => void, onBack: (guest: import('./lobby').Guest, isStalled: boolean) => void, onUnacked: () => void }} outcome
   */
  constructor (link, lobby, outcome) {
    this.link = link
    this.lobby = lobby
    this.outcome = outcome
    link.on({
      moved: ({ id }) => {
        if (this.#settle(id)) outcome.onMoved()
      },
      back: ({ id, isStalled }) => this.#back(id, isStalled)
    })
  }

  get hasRoom () {
    return this.outstanding.size < WINDOW && this.link.isUp
  }

  /** @param {import('./connection').Connection} connection an idle one */
  offer (connection) {
    connection.fate = 'moved'
    const leftMs = timeLeft(connection)
    this.#send({ handle: detachHandle(connection.socket), gate: connection.gate, leftMs })
  }

  /** @param {import('./lobby').Guest} guest */
  offerGuest (guest) {
    const leftMs = guest.until === null ? null : Math.max(1, guest.until - performance.now())
    this.#send({ handle: this.lobby.release(guest), gate: guest.gate, leftMs })
  }

  /**
   * The primary is gone, and nobody can say what became of these. A sibling may be reading them by now, so our copies
   * are closed: two readers would be worse than a lost idle connection.
   */
  relinquish () {
    for (const id of [...this.outstanding.keys()]) {
      this.#settle(id)
      this.outcome.onUnacked()
    }
  }

  /** @param {Offer} offer */
  #send (offer) {
    const id = ++this.#lastId
    this.outstanding.set(id, offer)
    this.link.send('offer', { id, key: offer.gate.key, leftMs: offer.leftMs }, offer.handle, error => {
      if (error) this.#back(id, false)
    })
  }

  /** @param {number} id */
  #settle (id) {
    const offer = this.outstanding.get(id)
    this.outstanding.delete(id)
    offer?.handle.close()
    return offer
  }

  /** @param {number} id @param {boolean} isStalled */
  #back (id, isStalled) {
    const offer = this.outstanding.get(id)
    if (!offer) return
    this.outstanding.delete(id)
    const guest = this.lobby.takeBack(offer.handle, offer.gate, offer.leftMs)
    this.outcome.onBack(guest, isStalled)
  }
}

/**
 * How long the server would still let this idle connection live.
 *
 * @param {import('./connection').Connection} connection
 * @returns {number | null} milliseconds, at least 1; null: for ever
 */
function timeLeft ({ idleSince, since, gate }) {
  const server = /** @type {import('node:http').Server & { keepAliveTimeoutBuffer?: number }} */ (gate.server)
  const limits = idleSince === null
    ? [server.headersTimeout, server.requestTimeout].filter(limit => limit > 0)
    : [server.keepAliveTimeout && server.keepAliveTimeout + (server.keepAliveTimeoutBuffer ?? 1000)].filter(Boolean)
  if (limits.length === 0) return null
  const limit = Math.min(...limits)
  const left = Math.round(limit - (performance.now() - (idleSince ?? since)))
  if (left > 0) return left
  return idleSince === null ? 1 : limit // it lives on: the rest of a request's body came behind its response, and Node counts anew
}

module.exports = { Handoff, timeLeft }
