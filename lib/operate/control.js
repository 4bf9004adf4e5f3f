'use strict'

/** The control socket of a running fleet: takes a limited number of clients, and answers them before the fleet ends. */

const { setMaxListeners } = require('node:events')
const { version } = require('../../package.json')
const { encode, writeError, Lines, readRequest } = require('../control/protocol')
const { RecycleError } = require('../core/errors')
const { isQuiet } = require('../journal/sentence')
const { KeptSocket } = require('./kept-socket')
const { VERBS, carryOut } = require('./control-verbs')
/** @import { Socket } from 'node:net' */

const MAX_CLIENTS = 32
const CLOSE_MS = 1000
const MAX_RECENT = 100 // lines

/**
 * @param {import('./control-verbs').Supervised} supervisor
 * @param {{ control: string | null, limits?: Partial<Limits> }} options
 * @returns {Promise<{ path: string | null, leave: () => Promise<void>, close: () => Promise<void> }>}
 * @throws {RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN
 */
async function openControl (supervisor, { control, limits }) {
  const { name, parts: { spawner } } = supervisor
  const recent = recentLines(supervisor)
  /** @type {Set<Connection>} */
  const connections = new Set()
  const serve = (/** @type {Socket} */ socket) => {
    if (connections.size >= MAX_CLIENTS) return refuse(socket)
    const connection = new Connection(socket, { supervisor, recent, limits })
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
    connection.say({ hello: { name, pid: process.pid, app: spawner.app, version } })
  }
  const { succession } = supervisor
  const kept = new KeptSocket(serve, { name, control }, supervisor.announce.bind(supervisor),
    () => supervisor.handover.isHandingOver)
  succession?.on('lead', () => kept.publish())
  await kept.open(succession?.takeover.pid)
  return {
    get path () {
      return kept.path
    },
    /** Another primary answers from now on; clients that are connected stay. */
    leave: () => kept.close(),
    async close () {
      await kept.close()
      await Promise.all([...connections].map(connection => connection.end(CLOSE_MS)))
    }
  }
}

/** @param {Socket} socket */
function refuse (socket) {
  socket.on('error', () => {})
  const error = writeError(new RecycleError('RECYCLE_CUT_OFF', { why: `it has ${MAX_CLIENTS} clients already` }))
  socket.end(encode({ id: null, error }), () => socket.destroy())
}

/**
 * The last lines of the journal, without samples, for `follow`; independent of a journal file.
 * @param {import('node:events').EventEmitter} supervisor @returns {import('./control-verbs').Asking['recent']}
 */
function recentLines (supervisor) {
  /** @type {import('../journal/sentence').Line[]} */
  const lines = []
  supervisor.on('event', line => {
    if (isQuiet(line)) return
    lines.push(line)
    if (lines.length > MAX_RECENT) lines.shift()
  })
  return { last: (/** @type {number} */ count) => count > 0 ? lines.slice(-count) : [] }
}

/**
 * The connection of a client to the control socket. The client gets an answer to every request, or is disconnected. It
 * can neither fill the fleet's memory nor keep a verb from ending.
 */

/**
 * @typedef {object} Limits
 * @property {number} lineBytes of a request
 * @property {number} lineMs from a line's first byte to its last
 * @property {number} idleMs without a request in progress
 * @property {number} underWay requests in progress at a time
 * @property {number} unreadBytes buffered for the client
 */

/** @type {Limits} */
const LIMITS = { lineBytes: 64 * 1024, lineMs: 5000, idleMs: 5 * 60_000, underWay: 16, unreadBytes: 1024 * 1024 }

class Connection {
  #lines
  #leaving = new AbortController()
  /** @type {Set<Promise<void>>} */
  #underWay = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  #deadline

  /**
   * @param {import('node:net').Socket} socket
   * @param {{ supervisor: import('./control-verbs').Supervised, recent: import('./control-verbs').Asking['recent'],
   *   limits?: Partial<Limits> }} fleet
   */
  constructor (socket, { supervisor, recent, limits }) {
    this.socket = socket
    this.supervisor = supervisor
    this.recent = recent
    this.limits = { ...LIMITS, ...limits }
    this.#lines = new Lines(this.limits.lineBytes)
    // A listener for each `follow`; Node warns of a leak above 10
    setMaxListeners(this.limits.underWay, this.#leaving.signal)
    socket.on('data', chunk => this.#read(/** @type {Buffer} */ (chunk)))
    socket.on('error', () => {}) // its close follows
    socket.on('close', () => {
      clearTimeout(this.#deadline)
      this.#leaving.abort()
    })
    this.#await()
  }

  /** @param {Record<string, unknown>} message */
  say (message) {
    const { socket } = this
    if (socket.destroyed || socket.writableEnded) return
    if (socket.writableLength > this.limits.unreadBytes) socket.destroy() // the client does not read
    else socket.write(encode(message))
  }

  /** Closes the connection when every answer has been read, or after `ms` at the latest. @param {number} ms */
  async end (ms) {
    const { socket } = this
    const timer = setTimeout(() => socket.destroy(), ms)
    const closed = new Promise(resolve => socket.once('close', resolve))
    await Promise.race([Promise.all(this.#underWay), closed])
    socket.end(() => socket.destroy())
    if (!socket.destroyed) await closed
    clearTimeout(timer)
  }

  /** @param {Buffer} chunk */
  #read (chunk) {
    const wasHalf = this.#lines.isHalf
    const { lines, isTooLong } = this.#lines.push(chunk)
    for (const line of lines) this.#take(line)
    if (isTooLong) this.#cutOff(`a line has more than ${this.limits.lineBytes} bytes`)
    else if (lines.length > 0 || !wasHalf) this.#await()
  }

  /** Arms the deadline for the next line. */
  #await () {
    clearTimeout(this.#deadline)
    const { lineMs, idleMs } = this.limits
    if (this.#lines.isHalf) {
      this.#deadline = setTimeout(() => this.#cutOff(`a line was incomplete for ${lineMs} ms`), lineMs)
    } else if (this.#underWay.size === 0) {
      this.#deadline = setTimeout(() => this.#cutOff(`it was idle for ${idleMs} ms`), idleMs)
    }
  }

  /** @param {string} line */
  #take (line) {
    let request
    try {
      request = readRequest(line)
      if (!Object.hasOwn(VERBS, request.verb)) {
        throw new RecycleError('RECYCLE_BAD_REQUEST',
          { why: `there is no verb ${JSON.stringify(request.verb.slice(0, 40))}`, id: request.id })
      }
      if (this.#underWay.size >= this.limits.underWay) {
        throw new RecycleError('RECYCLE_BAD_REQUEST',
          { why: `${this.limits.underWay} requests are in progress already`, id: request.id })
      }
    } catch (error) {
      return this.say({ id: /** @type {RecycleError} */ (error).details.id ?? null, error: writeError(error) })
    }
    const answered = this.#answer(request).finally(() => {
      this.#underWay.delete(answered)
      this.#await()
    })
    this.#underWay.add(answered)
  }

  /** @param {ReturnType<typeof readRequest>} request */
  async #answer ({ id, verb, args }) {
    const begun = setImmediate(() => this.say({ id, ok: true })) // a request that is refused at once gets no `ok`
    const say = (/** @type {Record<string, unknown>} */ message) => {
      if (!isBegun) this.say({ id, ok: true })
      isBegun = true
      clearImmediate(begun)
      this.say({ id, ...message })
    }
    let isBegun = false
    try {
      const result = await carryOut(verb, this.supervisor, args, progress => say({ progress }), {
        recent: this.recent,
        onEvent: event => say({ event }),
        signal: this.#leaving.signal
      })
      say({ result: result ?? null })
    } catch (error) {
      clearImmediate(begun)
      this.say({ id, error: writeError(error) })
    }
  }

  /** @param {string} why */
  #cutOff (why) {
    const { socket } = this
    this.say({ id: null, error: writeError(new RecycleError('RECYCLE_CUT_OFF', { why })) })
    socket.removeAllListeners('data').pause()
    socket.end(() => socket.destroy())
  }
}

module.exports = { openControl }
