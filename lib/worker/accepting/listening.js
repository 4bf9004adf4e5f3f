'use strict'

/**
 * The listening socket of an acceptor. It accepts; or it is in this worker, and nothing is accepted; or it is with the
 * primary alone, which holds the queue open all along. Cluster would close its shared handle with the last worker, and
 * reset the connections that wait in the queue.
 */

const { setImmediate } = require('node:timers')
const { attempt } = require('../../core/attempt')
const { loadAddon } = require('../../native/addon')
const { Descriptor } = require('../../native/descriptor')
/** @import { Handle } from '../../core/internals' */

// The default of listen(), 511, is soon full in a connection storm; the kernel caps this at net.core.somaxconn.
const BACKLOG = 4096
const { addon } = loadAddon() // before the app can delete it

class Listening {
  /** The handle that accepts. @type {Handle | null} */
  #accepting = null
  /** A handle that is here and not accepted from, or not yet. @type {Handle | null} */
  #unused
  #handleClass
  #backlog = BACKLOG
  #isRef = true
  /** The primary has been asked for it, to accept. */
  #isOpening = false
  #isPaused = false
  #isClosed = false

  /**
   * @param {Handle} handle @param {(error: number, client: Handle) => void} onConnection as libuv calls it
   * @param {(take: (handle: Handle | null) => void) => void} request asks the primary for it; null: not available
   */
  constructor (handle, onConnection, request) {
    this.#unused = handle
    this.#handleClass = /** @type {new (type: number) => Handle} */ (handle.constructor)
    this.onConnection = onConnection
    this.request = request
  }

  get isOpen () {
    return this.#accepting !== null
  }

  /** -1: it is not here. @returns {number} */
  get fd () {
    return this.handle?.fd ?? -1
  }

  /** To be called at an interval: there may be a descriptor for a connection again. */
  rearm () {
    if (this.#accepting) addon?.guardQueue(this.#accepting.fd)
  }

  get handle () {
    return this.#accepting ?? this.#unused
  }

  /**
   * @param {number} backlog at least @param {boolean} accepts at once
   * @returns {number} libuv's error, 0 for none
   */
  listen (backlog, accepts) {
    this.#backlog = Math.max(backlog, BACKLOG)
    return accepts ? this.#accept() : 0
  }

  /** Accepts: at once if it is here, or as soon as the primary has sent it again. @param {() => void} opened */
  open (opened) {
    if (this.isOpen || this.#isOpening) return opened()
    this.#isPaused = false
    if (this.#unused) {
      this.#accept()
      return opened()
    }
    this.#isOpening = true
    this.request(handle => {
      if (!this.#isOpening) { // shut again in the meantime
        handle?.close()
        return opened()
      }
      this.#isOpening = false
      if (this.#unused) handle?.close() // it has come for lend()
      else this.#unused = handle
      if (this.#unused) this.#accept()
      opened()
    })
  }

  /** Stops accepting. The connections in the kernel's queue stay there for the other workers. */
  shut () {
    if (this.#accepting) addon?.unguardQueue(this.#accepting.fd)
    for (const handle of [this.#accepting, this.#unused]) handle?.close()
    this.#accepting = this.#unused = null
    this.#isOpening = this.#isPaused = false
  }

  /** Stops accepting for a while: this worker can go on also if the primary dies, at any moment. */
  pause () {
    const copy = this.#copy()
    this.shut()
    this.#isPaused = true
    this.#unused = copy
    if (copy) return
    this.request(handle => {
      if (this.#isPaused && this.#unused === null) this.#unused = handle
      else handle?.close()
    })
  }

  /** For good: the app has closed its server. */
  close () {
    this.#isClosed = true
    this.shut()
  }

  /**
   * The app gives the server to another process.
   * @param {(handle: Handle) => number} use @returns {number} libuv's error, 0 for none as yet
   */
  lend (use) {
    if (this.handle) return use(this.handle)
    this.request(handle => {
      if (handle === null) return
      use(handle)
      if (this.isOpen || this.#isClosed || this.#unused) setImmediate(() => handle.close())
      else this.#unused = handle
    })
    return 0
  }

  get isRef () {
    return this.#isRef
  }

  /** @param {boolean} isRef it keeps the process alive while it accepts */
  refer (isRef) {
    this.#isRef = isRef
    if (isRef) this.#accepting?.ref()
    else this.#accepting?.unref()
  }

  /** @returns {number} libuv's error, 0 for none */
  #accept () {
    const handle = this.#accepting = /** @type {Handle} */ (this.#unused)
    this.#unused = null
    handle.onconnection = this.onConnection
    if (!this.#isRef) handle.unref()
    addon?.guardQueue(handle.fd)
    return handle.listen(this.#backlog)
  }

  /** @returns {Handle | null} a handle of the same socket; null: there is none, or no descriptor for it */
  #copy () {
    if (!addon || this.fd < 0) return null
    return attempt(() => new Descriptor(addon.duplicate(this.fd)).handleOf(this.#handleClass), null)
  }
}

module.exports = { Listening }
