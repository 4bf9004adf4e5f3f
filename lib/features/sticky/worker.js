'use strict'

/**
 * In a worker: keeps the requests of a session at one worker.
 *
 *     request's head ──▶ no session, or one of this worker's ──▶ the app
 *                   └──▶ any other ──▶ its connection is offered with the head, unread ──▶ the primary knows the owner
 *                                                                    ├─ this worker: it comes back, and the app gets it
 *                                                                    └─ another: the connection moves there
 *
 * The primary alone knows the owner of a session (owners.js); a worker remembers those that are its own. A session that
 * this worker begins, by its response or by the app's own(), is its own from then on. A worker that drains begins none,
 * and keeps each of its own until the app has transferred it (transfers.js), or until the app's onDrain() functions are
 * done and no transfer of it is pending; from then on it handles no request of that session, so that what was
 * transferred is not outdated later.
 *
 * The parser stops behind a head when `onIncoming` returns 2, as it does for CONNECT. Node takes it off the connection
 * then and emits `connect`, and the app sees no request. The connection moves with the bytes that the client has sent
 * since the head began, those behind it among them (connections/head-bytes.js); where they are not known, the request
 * is handled here.
 */

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { holdWrites } = require('./hold-writes')
const { SecondChanceSet } = require('./second-chance')
const { bounded, sessionBegunIn, sessionOf } = require('./session')
const { Tally } = require('./tally')
const { Transfers } = require('./transfers')
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { Socket } from 'node:net' */
/** @import { WorkerKernel } from '../interface' */

const MOST_REMEMBERED = 50_000
const LEAVING_MS = 5000
const STOP_BEHIND_HEAD = 2

class Sessions {
  /** Sessions that this worker owns, as far as it remembers. */
  #own = new SecondChanceSet(MOST_REMEMBERED)
  /**
   * Requests that move, as sent, until Node has taken its parser off their connection.
   * @type {WeakMap<object, { connection: Connection, bytes: Buffer }>}
   */
  #moving = new WeakMap()
  /** @type {WeakSet<object>} */
  #watched = new WeakSet()
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

  /** @param {import('./session').SessionKey} key @param {WorkerKernel} kernel */
  constructor (key, { channel, state, tracker, handoff, sender, emptying, callApp }) {
    this.key = key
    this.channel = channel
    this.state = state
    this.tracker = tracker
    this.handoff = handoff
    this.sender = sender
    this.emptying = emptying
    this.tally = new Tally(counts => channel.send('tally', counts))
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
    tracker.on('request', (connection, { response }) => this.#watchResponse(connection, response))
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
      onTransfer: (/** @type {(session: string, value: any) => void} */ fn) => this.transfers.onTransfer(fn)
    }
  }

  /** @param {import('../../worker/accepting/acceptor').Acceptor} acceptor whose server is about to listen */
  watch ({ server }) {
    if (!(server instanceof http.Server) || this.#watched.has(server)) return
    this.#watched.add(server)
    // Behind http's own listener, which gives it its parser
    server.on('connection', socket => this.#watchParser(socket))
    server.prependListener('connect', (request, socket) => this.#onHeadEnd(request, socket))
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

  /** @param {Socket} socket */
  #watchParser (socket) {
    const { parser } = socket
    const connection = this.tracker.of(socket)
    const head = connection?.head
    if (!parser || !connection || !head) return
    const { onIncoming } = parser
    head.follow() // the app may read the stream
    parser.onIncoming = (request, keepAlive) => {
      const bytes = this.#isHere(connection, request) ? null : head.take()
      head.next(request)
      if (bytes !== null) {
        this.#moving.set(request, { connection, bytes })
        request.method = 'CONNECT'
        request.upgrade = true
        return STOP_BEHIND_HEAD
      }
      return onIncoming(request, keepAlive)
    }
  }

  /** @param {Connection} connection @param {http.IncomingMessage} request @returns {boolean} this worker handles it */
  #isHere (connection, request) {
    const session = connection.sessionId = sessionOf(
      this.key, { url: String(request.url), headers: request.headers, socket: connection.socket }
    )
    const { isSettled, isOwned } = connection
    if (!isSettled) this.tally.count(session)
    connection.isSettled = false
    const isLeft = !this.state.isServing && (session === null || !this.isKept(session))
    if (isSettled && isOwned && session !== null && !isLeft) this.#own.add(session)
    const isMine = isSettled || (session === null ? this.state.isServing : this.#own.has(session))
    const isLastResort = connection.isUnwanted && (isSettled || session === null)
    return (isMine && !isLeft) || isLastResort || !this.#canMove(connection)
  }

  /** @param {Connection} connection */
  #canMove (connection) {
    const { acceptor, exchanges, isPinned } = connection
    if (!this.state.isServing && this.sender.isSpent) return false // the fleet stops
    // A pipelined request, and one to a server that handles CONNECT itself, are handled where they are.
    return (this.channel.isUp || this.handoff.isWaiting) && acceptor.isMovable && !isPinned && exchanges.length === 0 &&
      acceptor.server.listenerCount('connect') === 1
  }

  /** @param {http.IncomingMessage} request @param {any} socket */
  #onHeadEnd (request, socket) {
    const moving = this.#moving.get(request)
    if (moving) this.handoff.offer(moving.connection, moving.bytes)
    else if (socket.server?.listenerCount('connect') === 1) socket.destroy() // as Node does without a listener
  }

  /** @param {Connection} connection @param {http.ServerResponse} response */
  #watchResponse (connection, response) {
    if (connection.session !== null || this.key.by === 'ip' || this.key.by === 'path') return
    const learn = (/** @type {string | null} */ session) => {
      if (session === null) return
      connection.sessionId = session
      if (this.#own.has(session)) return
      this.tally.begin()
      // The client may send its next request to another worker at once, so nothing leaves before the primary knows.
      this.own(session).then(holdWrites(connection.socket))
    }
    if (this.key.by === 'query') return connection.sessionId === null ? this.#watchBody(response, learn) : undefined
    const { writeHead } = response
    response.writeHead = (/** @type {any} */ ...args) => { // nothing has left before it returns
      const result = writeHead.apply(response, args)
      learn(sessionBegunIn(this.key, String(response._header), ''))
      return result
    }
  }

  /** @param {any} response @param {(session: string | null) => void} learn */
  #watchBody (response, learn) {
    for (const method of ['write', 'end']) {
      const original = response[method]
      response[method] = (/** @type {any[]} */ ...args) => {
        const [chunk] = args
        delete response.write // the first chunk alone is looked at
        delete response.end
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) {
          const head = response._header ?? `content-type: ${response.getHeader?.('content-type') ?? ''}`
          learn(sessionBegunIn(this.key, head, chunk.toString('latin1', 0, 4000)))
        }
        return original.apply(response, args)
      }
    }
  }
}

/** @param {WorkerKernel} kernel @param {{ key: import('./session').SessionKey }} settings */
const keepSessions = (kernel, { key }) => new Sessions(key, kernel)

module.exports = { part: keepSessions }
