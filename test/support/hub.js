'use strict'

/** What Redis is to a chat: each subscriber has what it publishes, in order (fixtures/pushed-websockets.js). */

const { once } = require('node:events')
const net = require('node:net')
const { clearInterval, setInterval } = require('node:timers')

class Hub {
  /** @type {Set<net.Socket>} */
  #subscribers = new Set()
  #last = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** @param {any} t tap's */
  static async open (t) {
    const hub = new Hub()
    const server = net.createServer(socket => {
      hub.#subscribers.add(socket.setNoDelay(true))
      socket.on('error', () => {}).on('close', () => hub.#subscribers.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      hub.stop()
      for (const socket of hub.#subscribers) socket.destroy()
      server.close()
    })
    hub.port = /** @type {net.AddressInfo} */ (server.address()).port
    return hub
  }

  port = 0

  /** Numbers from 1 on, each in all rooms. @param {string[]} rooms @param {number} everyMs */
  publish (rooms, everyMs) {
    this.#timer = setInterval(() => {
      this.#last++
      for (const socket of this.#subscribers) socket.write(rooms.map(room => `${room} ${this.#last}\n`).join(''))
    }, everyMs)
  }

  /** @returns {number} the last number */
  stop () {
    clearInterval(this.#timer)
    return this.#last
  }
}

module.exports = { Hub }
