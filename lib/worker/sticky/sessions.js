'use strict'

/**
 * Keeps the requests of a session at one worker (`--sticky`).
 *
 *     request's head ──▶ no session, or one of this worker's ──▶ the app
 *                   └──▶ any other ──▶ its connection is offered with the head, unread ──▶ the primary knows the owner
 *                                                                    ├─ this worker: it comes back, and the app gets it
 *                                                                    └─ another: the connection moves there
 *
 * The primary alone knows the owner of a session (lib/primary/handoff/session-owners.js); a worker remembers those that are its
 * own. A session that this worker begins, by its response or by the app's own(), is its own from then on. A worker that drains
 * begins none, and keeps each of its own until the app has transferred it, or until the app's onDrain() functions are done; from
 * then on it handles no request of that session, so that what was transferred is not outdated later.
 *
 * The parser stops behind a head when `onIncoming` returns 2, as it does for CONNECT. Node takes it off the connection then and
 * emits `connect`, and the app sees no request. The connection moves with the bytes that the client has sent since the head began
 * (head-bytes.js), those behind it among them; where they are not known, the request is handled here.
 */

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { deserialize, serialize } = require('node:v8')
const { RecycleError } = require('../../core/errors')
const { bounded, sessionBegunIn, sessionOf } = require('../../core/session')
const { callApp } = require('../call-app')
const { HeadBytes } = require('./head-bytes')
const { holdWrites } = require('./hold-writes')

const MOST_REMEMBERED = 50_000
const LONGEST_VALUE = 1_000_000
const LEAVING_MS = 5000
const STOP_BEHIND_HEAD = 2

/** @typedef {import('../connections/connection').Connection} Connection */

class Sessions {
  /** This worker's, the oldest first. @type {Set<string>} */
  #own = new Set()
  /** The requests that move, as they were sent, until Node has taken its parser off their connection. @type {WeakMap<object, { connection: Connection, bytes: Buffer }>} */
  #moving = new WeakMap()
  /** @type {WeakSet<object>} */
  #watched = new WeakSet()
  /** @type {((session: string, value: any) => void)[]} */
  #receivers = []
  /** Of own(): those that wait for the primary. @type {Set<() => void>} */
  #unanswered = new Set()
  #onRest = (/** @type {Connection} */ { sessionId }) => { if (sessionId !== null && this.#pending.has(sessionId)) callApp('transfer', () => this.#transferIdle(sessionId)) }
  /** What is to be transferred when no request of its session is in flight. @type {Map<string, () => unknown>} */
  #pending = new Map()
  #onSent = () => {}
  /** @type {Set<string>} */
  #transferred = new Set()
  /** It drains, and has sessions that are still its own. */
  #isLeaving = false

  /**
   * @param {import('../../core/session').SessionKey} key
   * @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'tracker' | 'inbox' | 'handoff' | 'sender' | 'emptying'>} parts
   */
  constructor (key, { channel, state, tracker, inbox, handoff, sender, emptying }) {
    this.key = key
    this.channel = channel
    this.state = state
    this.tracker = tracker
    this.handoff = handoff
    this.sender = sender
    this.emptying = emptying
    emptying.isHeld = () => this.#isLeaving
    inbox.isExpected = session => this.#isLeaving && !this.#transferred.has(session)
    sender.mayLeave = ({ sessionId }) => sessionId === null || !this.#isLeaving || !this.#own.has(sessionId)
    tracker.on('request', (connection, { response }) => this.#watchResponse(connection, response))
    channel.on({
      forget: ({ session }) => {
        if (session === null) this.#own.clear()
        else this.#own.delete(session)
      },
      'session-state': ({ session, value }) => {
        const state = deserialize(Buffer.from(value, 'base64'))
        for (const fn of this.#receivers) callApp('onTransfer', () => fn(session, state))
      }
    })
  }

  /** @param {import('../accepting/acceptor').Acceptor} acceptor whose server is about to listen */
  watch ({ server }) {
    if (!(server instanceof http.Server) || this.#watched.has(server)) return
    this.#watched.add(server)
    server.on('connection', socket => this.#watchParser(socket)) // behind http's own listener, which gives it its parser
    server.prependListener('connect', (request, socket) => this.#onHeadEnd(request, socket))
  }

  /** @param {string} session it is this worker's from here on @returns {Promise<void>} resolves when the primary knows it */
  own (session) {
    const id = bounded(session)
    if (id === null || this.#own.has(id) || !this.channel.isUp) return Promise.resolve()
    this.#remember(id)
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

  /**
   * Gives the state of a session to the worker that is to own it.
   *
   * @param {string} session
   * @param {unknown} value a function is called for it, once no request of the session is in flight here
   */
  transfer (session, value) {
    const id = bounded(session)
    if (id === null) return
    if (typeof value !== 'function') return this.#send(id, value)
    if (this.#pending.size === 0) this.tracker.on('rest', this.#onRest) // no sooner: it would cost each request
    this.#pending.set(id, /** @type {() => unknown} */ (value))
    this.#transferIdle(id)
  }

  /** @param {string} id of a session with a pending transfer */
  #transferIdle (id) {
    for (const { sessionId, exchanges } of this.tracker.connections) if (sessionId === id && exchanges.length > 0) return
    const value = this.#pending.get(id)
    this.#pending.delete(id)
    try {
      this.#send(id, value?.())
    } finally {
      if (this.#pending.size === 0) {
        this.tracker.removeListener('rest', this.#onRest)
        this.#onSent()
      }
    }
  }

  /** @param {string} id @param {unknown} value */
  #send (id, value) {
    const bytes = serialize(value)
    if (bytes.length > LONGEST_VALUE) throw new RecycleError('RECYCLE_SESSION_TOO_LARGE', { bytes: bytes.length, most: LONGEST_VALUE })
    this.#own.delete(id)
    this.#transferred.add(id)
    this.channel.send('transfer', { session: id, value: bytes.toString('base64') })
  }

  /** @param {(session: string, value: any) => void} fn */
  onTransfer (fn) {
    this.#receivers.push(fn)
  }

  /** This worker drains. @param {Promise<unknown>} done settles when the app's onDrain() functions are @param {number} deadlineMs */
  leave (done, deadlineMs) {
    this.#isLeaving = true
    const deadline = new Promise(resolve => setTimeout(resolve, Math.min(deadlineMs, LEAVING_MS)).unref())
    const sent = done.then(() => this.#pending.size === 0 || new Promise(resolve => { this.#onSent = () => resolve(true) }))
    Promise.race([sent, deadline]).then(() => {
      if (!this.#isLeaving) return
      this.#isLeaving = false
      this.#own.clear()
      this.channel.send('transferred')
      this.emptying.check()
    })
  }

  /** @param {any} socket */
  #watchParser (socket) {
    const { parser } = socket
    const connection = this.tracker.of(socket)
    if (!parser || !connection) return
    const { onIncoming } = parser
    const head = new HeadBytes(socket)
    parser.onIncoming = (/** @type {any} */ request, /** @type {boolean} */ keepAlive) => {
      const bytes = this.#isHere(connection, request) ? null : head.take()
      head.next(request)
      if (bytes !== null) {
        this.#moving.set(request, { connection, bytes })
        request.method = 'CONNECT'
        request.upgrade = true
        return STOP_BEHIND_HEAD
      }
      const next = onIncoming(request, keepAlive)
      if (next === STOP_BEHIND_HEAD) head.end()
      return next
    }
  }

  /** @param {Connection} connection @param {any} request @returns {boolean} this worker handles it */
  #isHere (connection, request) {
    const session = connection.sessionId = sessionOf(this.key, { url: request.url, headers: request.headers, socket: connection.socket })
    const { isSettled, isOwned } = connection
    connection.isSettled = false
    const isLeft = !this.state.isServing && (!this.#isLeaving || session === null || this.#transferred.has(session))
    if (isSettled && isOwned && session !== null && !isLeft) this.#remember(session)
    const isMine = isSettled || (session === null ? this.state.isServing : this.#own.has(session))
    return (isMine && !isLeft) || !this.#canMove(connection)
  }

  /** @param {Connection} connection */
  #canMove (connection) {
    const { acceptor, exchanges, isPinned } = connection
    if (!this.state.isServing && !this.sender.isMovable(connection)) return false // no sibling is left, or it is the last resort
    // A pipelined request, and one to a server that handles CONNECT itself, are handled where they are.
    return this.channel.isUp && acceptor.isMovable && !isPinned && exchanges.length === 0 && acceptor.server.listenerCount('connect') === 1
  }

  /** @param {any} request @param {any} socket */
  #onHeadEnd (request, socket) {
    const moving = this.#moving.get(request)
    if (moving) this.handoff.offer(moving.connection, moving.bytes)
    else if (socket.server?.listenerCount('connect') === 1) socket.destroy() // as Node does without a listener
  }

  /** @param {Connection} connection @param {any} response */
  #watchResponse (connection, response) {
    if (connection.session !== null || this.key.by === 'ip') return
    const learn = (/** @type {string | null} */ session) => {
      if (session === null) return
      connection.sessionId = session
      if (this.#own.has(session)) return
      // The client may send its next request to another worker at once, so nothing leaves before the primary knows.
      this.own(session).then(holdWrites(connection.socket))
    }
    if (this.key.by === 'query') return connection.sessionId === null ? this.#watchBody(response, learn) : undefined
    const { writeHead } = response
    response.writeHead = (/** @type {any[]} */ ...args) => { // nothing has left before it returns
      const result = writeHead.apply(response, args)
      learn(sessionBegunIn(this.key, response._header, ''))
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
        if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) learn(sessionBegunIn(this.key, '', chunk.toString('latin1', 0, 4000)))
        return original.apply(response, args)
      }
    }
  }

  /** @param {string} session */
  #remember (session) {
    this.#own.add(session)
    if (this.#own.size <= MOST_REMEMBERED) return
    const [oldest] = this.#own
    this.#own.delete(oldest)
  }
}

module.exports = { Sessions }
