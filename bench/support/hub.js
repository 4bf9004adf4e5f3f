'use strict'

/** What Redis is to a chat: each subscriber has what it publishes, in order, a line `<room> <text>` each. */

const { once } = require('node:events')
const net = require('node:net')
const { clearInterval, setInterval } = require('node:timers')

class Hub {
  /** @type {Set<net.Socket>} */
  #subscribers = new Set()
  #last = 0
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  #server = net.createServer(socket => {
    this.#subscribers.add(socket.setNoDelay(true))
    socket.on('error', () => {}).on('close', () => this.#subscribers.delete(socket))
  })

  static async open () {
    const hub = new Hub()
    hub.#server.listen(0, '127.0.0.1')
    await once(hub.#server, 'listening')
    return hub
  }

  get port () {
    return /** @type {net.AddressInfo} */ (this.#server.address()).port
  }

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

  close () {
    this.stop()
    for (const socket of this.#subscribers) socket.destroy()
    this.#server.close()
  }
}

module.exports = { Hub }
