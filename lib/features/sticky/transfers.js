'use strict'

/**
 * Gives the state of sessions to the workers that own them from then on (`--sticky`). A value that is a function is
 * called when no request of its session is in flight here; where such requests move to another worker, when the app has
 * heard `close`, and before they are sent there.
 */

const { deserialize, serialize } = require('node:v8')
const { RecycleError } = require('../../core/errors')
const { bounded } = require('./session')

const LONGEST_VALUE = 1_000_000

class Transfers {
  /** A transfer that is due when no request of its session is in flight. @type {Map<string, () => unknown>} */
  #pending = new Map()
  /**
   * Of the sessions with requests in flight, whether all of these can move; null: to be found anew.
   * @type {Map<string, boolean> | null}
   */
  #inFlight = null
  /** @type {((session: string, value: unknown) => void)[]} */
  #receivers = []
  #onRest = (/** @type {{ sessionId: string | null }} */ { sessionId }) => {
    if (sessionId !== null && this.#pending.has(sessionId)) this.sendIdle()
  }

  /**
   * @param {Pick<import('../interface').WorkerKernel, 'channel' | 'tracker' | 'sender' | 'callApp'>} kernel
   * @param {(session: string) => void} onSent called for each that has been
   * @param {(session: string) => void} onFailed called for each whose function throws, or has no value that can be sent
   */
  constructor ({ channel, tracker, sender, callApp }, onSent, onFailed) {
    this.channel = channel
    this.tracker = tracker
    this.sender = sender
    this.callApp = callApp
    this.onSent = onSent
    this.onFailed = onFailed
    channel.on({
      transfer: ({ session, value }) => {
        const state = deserialize(Buffer.from(value, 'base64'))
        for (const fn of this.#receivers) callApp('onTransfer', () => fn(session, state))
      }
    })
  }

  /** @param {(session: string, value: unknown) => void} fn */
  onTransfer (fn) {
    this.#receivers.push(fn)
  }

  /** Sessions whose transfer waits for requests in flight. */
  get pending () {
    return [...this.#pending.keys()]
  }

  /**
   * @param {string} session
   * @param {unknown} value a function is called for it, once no request of the session is in flight here
   */
  transfer (session, value) {
    const id = bounded(session)
    if (id === null) return
    if (typeof value !== 'function') return this.#send(id, value)
    if (this.#pending.size === 0) this.tracker.on('rest', this.#onRest) // no sooner: it would cost each request
    this.#pending.set(id, /** @type {() => unknown} */ (value))
    if (!this.#requests().has(id)) this.#sendPending(id)
  }

  /** Transfers what no request in flight is in the way of any more. */
  sendIdle () {
    this.#inFlight = null
    const inFlight = this.#requests()
    for (const id of this.#pending.keys()) if (!inFlight.has(id)) this.#sendPending(id)
  }

  /**
   * All requests in flight of this session, whose transfer waits for them, can move to another worker.
   * @param {string} id
   */
  areMovable (id) {
    return this.#pending.has(id) && this.#requests().get(id) === true
  }

  /** Found once a tick: an app transfers all of its sessions at once. */
  #requests () {
    if (this.#inFlight) return this.#inFlight
    /** @type {Map<string, boolean>} */
    const found = this.#inFlight = new Map()
    for (const connection of this.tracker.connections) {
      const { sessionId, exchanges } = connection
      if (sessionId === null || exchanges.length === 0) continue
      found.set(
        sessionId, found.get(sessionId) !== false && this.sender.isMovable(connection) && connection.isReplayable
      )
    }
    process.nextTick(() => { this.#inFlight = null })
    return found
  }

  /** @param {string} id */
  #sendPending (id) {
    const value = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.tracker.removeListener('rest', this.#onRest)
    const isSent = this.callApp('transfer', () => {
      this.#send(id, value?.())
      return true
    })
    if (!isSent) this.onFailed(id)
  }

  /** @param {string} id @param {unknown} value */
  #send (id, value) {
    const bytes = serialize(value)
    if (bytes.length > LONGEST_VALUE) {
      throw new RecycleError('RECYCLE_SESSION_TOO_LARGE', { bytes: bytes.length, most: LONGEST_VALUE })
    }
    this.channel.send('transfer', { session: id, value: bytes.toString('base64') })
    this.onSent(id)
  }
}

module.exports = { Transfers }
