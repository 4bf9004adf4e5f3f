'use strict'

/**
 * A connection as its worker sees it, from accept or adoption to its end in this process.
 *
 *     accepted ──▶ (queued, seldom) ────────▶ served ──┐
 *     adopted ──▶ held ──▶ waiting ──bytes──▶ served ──┼──▶ offered ──▶ gone: a sibling has it
 *                             ▲    └──────────────────┘       │
 *                             └──────── no sibling took it ───┘
 *
 * A connection of any stage is gone when its handle is closed here.
 *
 * @typedef {'queued' | 'held' | 'waiting' | 'served' | 'offered' | 'gone'} Stage
 *   queued    accepted last, as the fleet stops, for a server that has its `maxConnections`: net would close it
 *   held      unread, until the primary says that it is ours; see handoff/inbox.js
 *   waiting   in the inbox, for the bytes of its next request
 *   served    one of the app's server
 *   offered   unread, until the primary says what became of it; see handoff/handoff.js
 *
 * @typedef {object} Exchange a request and its response, from the request's head to the response's `close`
 * @property {import('../../core/request-replay').Head} head as the client sent it: the app may overwrite what its
 *   request says
 * @property {import('node:http').ServerResponse} response
 * @property {number} number of this worker's, in turn
 * @property {number | null} since ms, performance.now(), or up to a heartbeat later; null: since the last look
 * @property {number} written bytes that had been written to the connection by then
 * @property {Connection} connection
 * @property {boolean} isMarked the app says that its handler may run once more, in another worker
 * @property {boolean} isSuspect it may have thrown an exception of which the request is not known
 * @property {{ exchange: Exchange | null } | null} current how code that runs for it finds it; emptied at its end
 * @property {boolean} [isSwept] it had ended when it was last looked at; see requests.js
 *
 * @typedef {object} Packed what a connection of the app's own protocol goes with
 * @property {string} kind which function of the app's takes it in the other worker
 * @property {Buffer} state serialised
 * @property {Buffer} unread received from the client, and of no use to the app here
 * @property {import('../../features/migration/trails').Departed | null} [trail] the app's object stays open, and what
 *   the app sends to it follows
 *
 * @typedef {'moved' | 'unacked' | 'closedAfterResponse' | 'closedByClient' | 'closedIdle' | 'cut'} Fate
 */

const { performance } = require('node:perf_hooks')
const { countAway, isEventStream, mostFieldsOf } = require('../../core/internals')
const { move } = require('../../core/place')
const { isReplaySafe } = require('../../core/request-replay')
/** @import { Socket } from 'node:net' */

/** @type {Readonly<Record<Stage, import('../../core/place').Place>>} */
const PLACES = Object.freeze({
  queued: 'here', held: 'held', waiting: 'here', served: 'here', offered: 'offered', gone: 'gone'
})
const NOTHING = Buffer.alloc(0)
const OF_PROCESS = 2 ** 31 // numbers
const LASTING_MS = 1000
const SETTLED_MS = 10_000 // for the app a move is a new connection

let lastId = 0

/** @returns {number} of a connection that this process accepts: no other one of the machine gives it */
function nextId () {
  if (Math.floor(lastId / OF_PROCESS) !== process.pid) lastId = process.pid * OF_PROCESS // it may be a copy of another
  return ++lastId
}

class Connection {
  /** For a connection that is offered its server is to have room as it comes back. */
  #keepsPlace = false

  /**
   * @param {Socket | null} socket null: it comes from a sibling
   * @param {import('../accepting/acceptor').Acceptor} acceptor
   * @param {number} [id] its number, which it keeps wherever it goes
   */
  constructor (socket, acceptor, id = nextId()) {
    this.id = id
    /** Null while it is held. */
    this.socket = /** @type {Socket} */ (socket)
    this.acceptor = acceptor
    this.stage = /** @type {Stage} */ (socket ? 'served' : null)
    /**
     * The parcel with which the connection came or goes; null: it was accepted, or its server has it.
     * @type {import('../../tables/message').ParcelFields | null}
     */
    this.parcel = null
    /** The same, of one with a parcel. @type {import('../../core/internals').Handle | null} */
    this.handle = null
    /** Bytes of the client's that came or go with it. */
    this.bytes = /** @type {Buffer} */ (NOTHING)
    /** The first bytes, where the app reads them before http: see preface.js. */
    this.preface = /** @type {Buffer} */ (NOTHING)
    /** When its time in the inbox ends, ms, performance.now(); null: never. @type {number | null} */
    this.until = null
    /** Requests in flight, oldest first; more than one where they are pipelined. @type {Exchange[]} */
    this.exchanges = []
    /** The TLS socket on top, where the app's server speaks TLS. @type {Socket | null} */
    this.secure = null
    /** @type {import('node:http2').Http2Session | null} */
    this.session = null
    /** The connection stays in this worker: the app has asked for it, or it is none of its server's own. */
    this.isPinned = false
    /**
     * Of one whose protocol is the app's: what it can go with now, null if not now.
     * @type {(() => Packed | null) | null}
     */
    this.pack = null
    /** Of one with `pack`: a sibling may get it while this worker serves. */
    this.mayRebalance = false
    /** Of one that has been offered, and that the app sees as open. @type {Packed['trail']} */
    this.trail = null
    /** No sibling takes it, or can. */
    this.isUnwanted = false
    /** Of one with `pack`: ends it where it has to stay. @type {(() => void) | null} */
    this.onKept = null
    /** Of one whose protocol is the app's: for what it cannot move. @type {import('../../core/why-stayed').Why} */
    this.stays = 'not-told'
    /** A service restart has been told to its client, for this reason. @type {string | null} */
    this.restartedFor = null
    /** The connection came from a sibling, or back from an offer. */
    this.isAdopted = false
    /** With `--sticky`: the session of its latest request. @type {string | null} */
    this.sessionId = null
    /** The primary has sent it here with a request: this worker handles that one, and owns its session if `isOwned`. */
    this.isSettled = false
    this.isOwned = false
    /** How many workers had its latest request before this one, and did not answer it. */
    this.replayed = 0
    /** How many of these have died meanwhile, or have not caught an exception that may be its. */
    this.deaths = 0
    /** Of one of http's, as long as its parser reads it. @type {import('./head-bytes').HeadBytes | null} */
    this.head = null
    /** A response with `Connection: close` is on its way. */
    this.isAnnounced = false
    /** How this worker ended it; the first cause is kept. @type {Fate | null} */
    this.fate = null
    /** A response has ended. */
    this.hasResponded = false
    /**
     * When its last response ended, or up to a heartbeat later, ms, performance.now(); null: since the last look, or it
     * has not had one.
     * @type {number | null}
     */
    this.idleSince = null
    /** The bytes that had been read when its parser was last seen between two requests. @type {number | null} */
    this.idleBytes = null
    this.since = performance.now()
    /** Requests since the last heartbeat. */
    this.requests = 0
    /**
     * The part of this worker's event loop that its requests take, 0 to 1; as of the last heartbeats, the latest of
     * which counts half.
     */
    this.load = 0
    /** The neighbours in the list. @type {Connection | null} */
    this.before = null
    /** @type {Connection | null} */
    this.after = null
    /**
     * Where another process finds it if this one dies; see tracker.js, Witness.
     * @type {import('./parcel').Noted | null}
     */
    this.copy = null
    /** How far the current chunk of bytes is parsed; see leaving/close-notice.js. */
    this.parsed = 0
  }

  /**
   * The socket that its server has got: the TLS socket, or the socket.
   * @returns {Socket & { errored: NodeJS.ErrnoException | null }}
   */
  get top () {
    return this.secure ?? this.socket
  }

  get isInInbox () {
    return this.stage === 'held' || this.stage === 'waiting'
  }

  /** In the inbox it counts as one of its server's; net counts it when it is served. @param {Stage} stage */
  become (stage) {
    const { server } = this.acceptor
    const { isInInbox } = this
    const [from, to] = [PLACES[this.stage], PLACES[stage]]
    if (from && from !== to) move(from, to)
    const keepsPlace = to === 'offered' && !this.parcel?.isFollowed // whose socket net counts all along
    if (keepsPlace !== this.#keepsPlace) countAway(server, keepsPlace ? 1 : -1)
    this.#keepsPlace = keepsPlace
    this.stage = stage
    if (this.isInInbox === isInInbox) return
    server._connections += this.isInInbox ? 1 : -1
    if (!this.isInInbox && stage !== 'served') server._emitCloseIfDrained?.()
  }

  /** Gives a connection of a parcel to its server. */
  serve () {
    this.become('served') // its server counts it
    this.acceptor.accept(/** @type {import('../../core/internals').Handle} */ (this.handle))
  }

  /**
   * Plain HTTP/1 or HTTP/1 over TLS, and nothing is under way in either direction: no partly received head, no response
   * still to be flushed, no request in flight. As of the last ConnectionTracker.noteIdle().
   */
  get isIdle () {
    if (this.stage === 'waiting') return !this.socket.destroyed
    if (!this.isUnseen) return false
    return this.socket.bytesRead === this.idleBytes || (this.top.bytesRead === 0 && !this.isAdopted) ||
      this.head?.part?.length === 0
  }

  /** Idle, or the app has not seen what has come: a part of a head, or of a TLS handshake. */
  get isUnseen () {
    return this.stage === 'served' && this.session === null && this.isQuiet && !this.isForeign && !this.isEnding
  }

  /** Of the next request a part of the head has come, which another worker can go on with. */
  get isBegun () {
    return this.isUnseen && (this.head?.part?.length ?? 0) > 0
  }

  /**
   * The one request here can be handled by another worker instead: nothing of the response has been sent, nothing
   * follows the request, and handling it twice does no harm. As of the last ConnectionTracker.noteIdle().
   */
  get isReplayable () {
    if (this.stage !== 'served' || this.exchanges.length !== 1 || this.session !== null || this.isEnding) return false
    const [{ head, response, written, isMarked, isSuspect }] = this.exchanges
    if (isSuspect && this.deaths > 0) return false // the second worker of it
    const socket = this.socket
    const isUnanswered = !response.headersSent && socket._handle?.bytesWritten === written &&
      socket.writableLength === 0
    return isUnanswered && socket.bytesRead === this.idleBytes &&
      isReplaySafe(head, { isMarked, mostFields: mostFieldsOf(socket) })
  }

  /** Neither request nor stream is in flight. HTTP/1 alone: half a head may have been received. */
  get isQuiet () {
    return this.exchanges.length === 0 && !this.socket?.writableLength
  }

  /** Of what began since the last look this is the time. @param {number} now ms, performance.now() */
  looked (now) {
    if (this.hasResponded) this.idleSince ??= now
    for (const exchange of this.exchanges) exchange.since ??= now
  }

  /** The connection has been in this worker for a second. @param {number} now ms, performance.now() */
  hasStayed (now) {
    return now - this.since >= LASTING_MS
  }

  /** The connection has been open for a second, here or in a sibling. @param {number} now ms, performance.now() */
  isLasting (now) {
    return this.isAdopted || this.hasStayed(now)
  }

  /** The connection stays here to its end, and is closed now where it can be. @param {Connection['stays']} why */
  keep (why) {
    this.isUnwanted = true
    this.stays = why
    this.onKept?.()
    this.onKept = null
  }

  /** A sibling can go on with it: the protocol has no state between two requests, or nothing has come of it. */
  get isPortable () {
    const { isMovable, isMovableUnread } = this.acceptor
    return isMovable ||
      (isMovableUnread && (this.stage === 'waiting' || (this.isInHandshake && this.socket.bytesRead === 0)))
  }

  /** The connection can go to a sibling while this worker serves, at a moment at which it is idle. */
  get isMovable () {
    return this.acceptor.isMovable && !this.isPinned && !this.isUnwanted && this.session === null && !this.isStream
  }

  /** The same of one whose protocol is the app's, when the app gives its state; not soon after a move. */
  get isSharable () {
    if (!this.mayRebalance || this.pack === null || this.isPinned || this.isUnwanted) return false
    return performance.now() - this.since >= (this.isAdopted ? SETTLED_MS : LASTING_MS)
  }

  /** The connection closes: a response has been sent with `Connection: close`, or the socket has ended. */
  get isEnding () {
    return this.isAnnounced || this.socket?.writableEnded === true || this.socket?.destroyed === true
  }

  /** Of TLS, before the app's server has it. */
  get isInHandshake () {
    return this.acceptor.isTls && this.stage === 'served' && this.secure === null && this.session === null
  }

  /** The protocol is the app's: a WebSocket, for example, or a raw TCP server. */
  get isForeign () {
    return this.stage === 'served' && this.session === null && !this.isInHandshake && !this.top.parser &&
      !this.isUntouched
  }

  /** Nothing has passed in either direction, and http does not have it yet. */
  get isUntouched () {
    const { acceptor, head, socket, stage } = this
    return stage === 'served' && acceptor.isMovable && head === null && socket.bytesRead === 0 &&
      socket.bytesWritten === 0
  }

  /** The protocol is the app's, which has said how it moves to another worker. */
  get isMigrating () {
    return this.pack !== null && this.stage === 'served' && !this.isEnding && this.socket.writableLength === 0
  }

  /**
   * The connection lasts as long as the app wants: it is upgraded or raw, or each of its responses is a stream of
   * events.
   */
  get isStream () {
    if (this.stage !== 'served' || this.isForeign) return this.isForeign
    return this.exchanges.length > 0 && this.exchanges.every(({ response }) => isEventStream(response))
  }

  /** Destroys its topmost layer, which closes the layers beneath it in its own order. @param {Fate} fate */
  close (fate) {
    this.fate ??= fate
    const outermost = this.session ?? this.top
    outermost.destroy()
  }
}

module.exports = { Connection }
