'use strict'

/**
 * A control socket that is there as long as its fleet: when its file or folder has been deleted (by a cleaner of /tmp,
 * by a logout) it is opened anew. One that cannot be opened by the fleet's name does not keep the fleet from starting:
 * that is told, and tried again. Only a path that the user has given, and another fleet of this name, do.
 */

const net = require('node:net')
const { every } = require('../native/every')
const { openControlSocket } = require('../control/open-socket')

const LOOK_MS = 1000
const AGAIN_MS = 2000 // after a failure

class KeptSocket {
  /** @type {{ server: net.Server, socket: Awaited<ReturnType<typeof openControlSocket>> } | null} */
  #open = null
  /** Why the last attempt has failed. @type {string | null} */
  #why = null
  #notBefore = 0
  /** @type {Promise<void> | null} */
  #attempt = null
  #isClosed = false
  /** @type {(() => void) | null} */
  #endWatch = null

  /**
   * @param {(client: net.Socket) => void} serve @param {{ name: string, control: string | null }} where
   * @param {import('../journal/events').Recording} announce
   * @param {() => boolean} [isLeft] another primary may have taken the socket's place
   */
  constructor (serve, where, announce, isLeft = () => false) {
    this.serve = serve
    this.where = where
    this.announce = announce
    this.isLeft = isLeft
  }

  get path () {
    return this.#open?.socket.path ?? null
  }

  /**
   * @param {number} [predecessor] the pid of a primary that may listen there until `publish()`
   * @throws {import('../core/errors').RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN
   */
  async open (predecessor) {
    try {
      await this.#tryOnce(predecessor)
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      if (this.where.control !== null || code !== 'RECYCLE_CONTROL') throw error
      this.#fail(/** @type {Error} */ (error))
    }
    if (predecessor === undefined) this.#watch()
  }

  /** The socket takes the predecessor's place. */
  publish () {
    this.#open?.socket.publish()
    this.#watch()
  }

  /** Clients that are connected stay. */
  async close () {
    this.#isClosed = true
    this.#endWatch?.()
    await this.#attempt
    this.#open?.socket.release()
    this.#open?.server.close()
  }

  #watch () {
    if (!this.#isClosed) this.#endWatch ??= every(LOOK_MS, () => this.#look())
  }

  #look () {
    if (this.#attempt || this.isLeft() || this.#open?.socket.isThere() || performance.now() < this.#notBefore) return
    this.#attempt = this.#tryOnce()
      .then(() => { this.announce('fleet.control', { path: this.path }) }, error => this.#fail(error))
      .finally(() => { this.#attempt = null })
  }

  /** @param {number} [predecessor] */
  async #tryOnce (predecessor) {
    const server = net.createServer(this.serve)
    server.on('error', () => {}) // accept() failed for lack of descriptors; clients wait in the queue
    const socket = await openControlSocket(server, { ...this.where, predecessor })
    this.#open?.server.close() // by a name of its own: see openControlSocket()
    this.#open = { server, socket }
    this.#why = null
  }

  /** @param {Error} error */
  #fail ({ message }) {
    this.#notBefore = performance.now() + AGAIN_MS
    if (message === this.#why) return
    this.#why = message
    this.announce('fleet.warning',
      { warning: 'not-operated', why: `${message}; the fleet runs without it, and tries again` })
  }
}

module.exports = { KeptSocket }
