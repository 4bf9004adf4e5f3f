'use strict'

/**
 * Two ends of one TCP connection: one for this process, and one for a worker. A worker's app sees a client at 127.0.0.1, as it
 * sees a probe on its own machine. The listener is this process's own; a connection that another process opens to it is closed.
 */

const net = require('node:net')
const { detachHandle } = require('../../core/internals')

const HOST = '127.0.0.1'
const STRANGER_MS = 1000
const MOST = 256

class LoopbackPairs {
  /** @type {Promise<net.Server> | null} */
  #server = null
  /** Accepted, by the port at its other end; not asked for yet. @type {Map<number, net.Socket>} */
  #accepted = new Map()
  /** Asked for, by the same. @type {Map<number, (socket: net.Socket) => void>} */
  #wanted = new Map()

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<{ near: net.Socket, far: any }>} `far`: a TCP handle, of which nothing is read
   * @throws {Error} for want of a descriptor, say
   */
  async open (signal) {
    const server = await (this.#server ??= this.#listen())
    signal.throwIfAborted()
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    const near = net.connect({ port, host: HOST, noDelay: true })
    try {
      await settled(near, signal)
      signal.throwIfAborted()
      const far = await this.#other(/** @type {number} */ (near.localPort), signal)
      return { near, far: detachHandle(far) }
    } catch (error) {
      near.destroy()
      throw error
    }
  }

  close () {
    this.#server?.then(server => server.close(), () => {})
    this.#server = null
    for (const socket of this.#accepted.values()) socket.destroy()
    this.#accepted.clear()
  }

  /** @returns {Promise<net.Server>} */
  #listen () {
    return new Promise((resolve, reject) => {
      const server = net.createServer({ pauseOnConnect: true, noDelay: true }, socket => this.#accept(socket))
      server.maxConnections = MOST
      server.once('error', error => {
        this.#server = null
        reject(error)
      })
      server.listen(0, HOST, () => {
        server.removeAllListeners('error').on('error', () => {}) // accept() failed for want of descriptors
        server.unref()
        resolve(server)
      })
    })
  }

  /** @param {net.Socket} socket */
  #accept (socket) {
    socket.on('error', () => {})
    const port = Number(socket.remotePort)
    const wanted = this.#wanted.get(port)
    if (wanted) return wanted(socket)
    this.#accepted.set(port, socket)
    setTimeout(() => {
      if (this.#accepted.get(port) !== socket) return
      this.#accepted.delete(port)
      socket.destroy()
    }, STRANGER_MS).unref()
  }

  /** @param {number} port @param {AbortSignal} signal @returns {Promise<net.Socket>} */
  async #other (port, signal) {
    const accepted = this.#accepted.get(port)
    this.#accepted.delete(port)
    if (accepted) return accepted
    try {
      return await new Promise((resolve, reject) => {
        this.#wanted.set(port, resolve)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    } finally {
      this.#wanted.delete(port)
    }
  }
}

/** @param {net.Socket} socket @param {AbortSignal} signal @returns {Promise<void>} resolves when it is connected */
function settled (socket, signal) {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.on('error', reject)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

module.exports = { LoopbackPairs }
