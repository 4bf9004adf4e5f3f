'use strict'

/**
 * Moves an idle connection to a sibling.
 *
 *     this worker             primary (ledger)             sibling (inbox)
 *     idle? stop reading
 *     detach ── offer+socket ──▶ ledger
 *                                  ├──── adopt+socket ────────▶ held, unread
 *                                  ◀──── adopted ──────────────┤
 *                                  ├──── keep ────────────────▶ waiting: it reads
 *     close ◀────── moved ─────────┤
 *
 * Three processes hold the same TCP connection for a moment, and it ends only when the last copy is closed, so it survives
 * the death of any of them. Only one reads: this worker stops before the offer, the primary never starts, the sibling
 * starts on `keep`. Bytes that arrive meanwhile wait in the kernel.
 *
 * For the app the socket closes at the offer, as if its client had left: the server's count goes down and its app gets
 * `close`. What is left is a bare handle, which no timer and no sweep of the server's can reach. An offer that comes
 * back goes to our own inbox, and is served here to its end.
 *
 * From its offer until `keep` no process reads a connection, and a request on it waits. An IPC channel carries one handle
 * at a time (Node waits for its acknowledgement), so more offers at once move nothing sooner, and each waits longer. Two
 * keep both channels busy; the other connections are still served.
 */

const { performance } = require('node:perf_hooks')
const { detachHandle } = require('../../core/internals')

const WINDOW = 2

/**
 * @typedef {object} Offer
 * @property {any} handle
 * @property {import('../accepting/acceptor').Acceptor} acceptor
 * @property {number | null} leftMs
 */

class Handoff {
  /** Offers without an answer yet. @type {Map<number, Offer>} */
  outstanding = new Map()
  #lastId = 0

  /**
   * @param {import('../channel').Channel} channel
   * @param {import('./inbox').Inbox} inbox
   * @param {{ onMoved: () => void, onBack: (entry: import('./inbox').Entry, isStalled: boolean) => void, onUnacked: () => void }} outcome
   */
  constructor (channel, inbox, outcome) {
    this.channel = channel
    this.inbox = inbox
    this.outcome = outcome
    channel.on({
      moved: ({ id }) => {
        if (this.#settle(id)) outcome.onMoved()
      },
      back: ({ id, isStalled }) => this.#back(id, isStalled)
    })
  }

  get hasRoom () {
    return this.outstanding.size < WINDOW && this.channel.isUp
  }

  /** @param {import('../connections/connection').Connection} connection an idle one */
  offer (connection) {
    connection.fate = 'moved'
    const leftMs = timeLeft(connection)
    this.#send({ handle: detachHandle(connection.socket), acceptor: connection.acceptor, leftMs })
  }

  /** @param {import('./inbox').Entry} entry */
  offerEntry (entry) {
    const leftMs = entry.until === null ? null : Math.max(1, entry.until - performance.now())
    this.#send({ handle: this.inbox.release(entry), acceptor: entry.acceptor, leftMs })
  }

  /**
   * The primary has exited, and the outcome of these is unknown. A sibling may be reading them by now, so our copies are
   * closed: two readers would be worse than a lost idle connection.
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
    this.channel.send('offer', { id, key: offer.acceptor.key, leftMs: offer.leftMs }, offer.handle, error => {
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
    const entry = this.inbox.takeBack(offer.handle, offer.acceptor, offer.leftMs)
    this.outcome.onBack(entry, isStalled)
  }
}

/**
 * How long the server would still let this idle connection live.
 *
 * @param {import('../connections/connection').Connection} connection
 * @returns {number | null} milliseconds, at least 1; null: for ever
 */
function timeLeft ({ idleSince, since, acceptor }) {
  const server = /** @type {import('node:http').Server & { keepAliveTimeoutBuffer?: number }} */ (acceptor.server)
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
