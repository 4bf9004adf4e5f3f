'use strict'

/**
 * In a worker: keeps the requests of a session at one worker.
 *
 *     request's head ──▶ no session, or one of this worker's ──▶ the app
 *                   └──▶ any other ──▶ its connection is offered with the head, unread ──▶ the primary knows the owner
 *                                                                    ├─ this worker: it comes back, and the app gets it
 *                                                                    └─ another: the connection moves there
 *
 * The primary alone knows the owner of a session; a worker remembers those that are its own (own-sessions.js). A
 * session that this worker begins, by its response or by the app's own(), is its own from then on. A worker that drains
 * begins none.
 *
 * The parser stops behind a head when `onIncoming` returns 2, as it does for CONNECT. Node takes it off the connection
 * then and emits `connect`, and the app sees no request. The connection moves with the bytes that the client has sent
 * since the head began, those behind it among them (connections/head-bytes.js); where they are not known, the request
 * is handled here.
 */

const http = require('node:http')
const { holdWrites } = require('./hold-writes')
const { OwnSessions } = require('./own-sessions')
const { sessionBegunIn, sessionOf } = require('./session')
const { Tally } = require('./tally')
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { Socket } from 'node:net' */
/** @import { WorkerKernel } from '../interface' */

const STOP_BEHIND_HEAD = 2

class Routing {
  /**
   * Requests that move, as sent, until Node has taken its parser off their connection.
   * @type {WeakMap<object, { connection: Connection, bytes: Buffer }>}
   */
  #moving = new WeakMap()
  /** @type {WeakSet<object>} */
  #watched = new WeakSet()

  /** @param {import('./session').SessionKey} key @param {WorkerKernel} kernel @param {OwnSessions} sessions */
  constructor (key, { channel, state, tracker, handoff, sender }, sessions) {
    this.key = key
    this.channel = channel
    this.state = state
    this.tracker = tracker
    this.handoff = handoff
    this.sender = sender
    this.sessions = sessions
    this.tally = new Tally(counts => channel.send('tally', counts))
    tracker.on('request', (connection, { response }) => this.#watchResponse(connection, response))
  }

  /** @param {import('../../worker/accepting/acceptor').Acceptor} acceptor whose server is about to listen */
  watch ({ server }) {
    if (!(server instanceof http.Server) || this.#watched.has(server)) return
    this.#watched.add(server)
    // Behind http's own listener, which gives it its parser
    server.on('connection', socket => this.#watchParser(socket))
    server.prependListener('connect', (request, socket) => this.#onHeadEnd(request, socket))
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
    const isLeft = !this.state.isServing && (session === null || !this.sessions.isKept(session))
    if (isSettled && isOwned && session !== null && !isLeft) this.sessions.add(session)
    const isMine = isSettled || (session === null ? this.state.isServing : this.sessions.has(session))
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

  /** @param {http.IncomingMessage} request @param {import('node:stream').Duplex} socket */
  #onHeadEnd (request, socket) {
    const moving = this.#moving.get(request)
    if (moving) this.handoff.offer(moving.connection, moving.bytes)
    else if (/** @type {Socket} */ (socket).server?.listenerCount('connect') === 1) {
      socket.destroy() // as Node does without a listener
    }
  }

  /** @param {Connection} connection @param {http.ServerResponse} response */
  #watchResponse (connection, response) {
    if (connection.session !== null || this.key.by === 'ip' || this.key.by === 'path') return
    const learn = (/** @type {string | null} */ session) => {
      if (session === null) return
      connection.sessionId = session
      if (this.sessions.has(session)) return
      this.tally.begin()
      // The client may send its next request to another worker at once, so nothing leaves before the primary knows.
      this.sessions.own(session).then(holdWrites(connection.socket))
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
      response[method] = (/** @type {unknown[]} */ ...args) => {
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
function keepSessions (kernel, { key }) {
  const sessions = new OwnSessions(kernel)
  const routing = new Routing(key, kernel, sessions)
  return {
    api: sessions.api,
    watch: (/** @type {import('../../worker/accepting/acceptor').Acceptor} */ acceptor) => routing.watch(acceptor),
    leave: (/** @type {number} */ deadlineMs, /** @type {Promise<unknown>} */ released) =>
      sessions.leave(deadlineMs, released),
    endCalls: () => sessions.endCalls(),
    adopted: () => sessions.adopted()
  }
}

module.exports = { part: keepSessions }
