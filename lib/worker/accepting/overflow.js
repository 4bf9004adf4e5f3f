'use strict'

const { performance } = require('node:perf_hooks')
/** @import { Handle } from '../../core/internals' */

/**
 * Connections that a worker has accepted last, as the fleet stops, for a server that has its `maxConnections`. They
 * wait for room in it: net would close them.
 */
class Overflow {
  /** @type {{ client: Handle, since: number }[]} */
  #clients = []

  /** @param {import('./acceptor').Acceptor} acceptor of the server */
  constructor (acceptor) {
    this.acceptor = acceptor
  }

  get isEmpty () {
    return this.#clients.length === 0
  }

  /** @param {Handle} client passed on as soon as the server has room */
  add (client) {
    this.#clients.push({ client, since: performance.now() })
    this.passOn()
  }

  /** Gives the server those that it has room for; to be called when a connection has gone. */
  passOn () {
    while (!this.acceptor.isFull) {
      const next = this.#clients.shift()
      if (next === undefined) return
      this.acceptor.accept(next.client)
    }
  }

  /** The time is up: they are closed. @returns {import('../../core/account').Cut[]} */
  cut () {
    const now = performance.now()
    return this.#clients.splice(0).map(({ client, since }) => {
      const peer = /** @type {{ port?: number }} */ ({})
      client.getpeername?.(peer)
      client.close()
      const ageMs = Math.round(now - since)
      return { method: null, path: null, ageMs, remotePort: peer.port ?? null, upgraded: false }
    })
  }
}

module.exports = { Overflow }
