'use strict'

/**
 * Throws sprites at a rate, for the desktops of this process in turn, over some keep-alive connections of its own. A
 * sprite is timed from when it is due: where all connections are taken, it waits, and that counts. What gets no answer
 * is thrown again under its number, of which the hub takes one.
 */

const http = require('node:http')
const { nowMs } = require('./now')

const STEP_MS = 20
const CONNECTIONS = 8
const RETRY_MS = 100

class Thrower {
  /** Due, and not answered yet. */
  waiting = 0
  #due = 0
  #last = 0
  #next = 0
  /** By desktop: the number of its latest sprite. @type {Map<string, number>} */
  #numbers = new Map()

  /** @param {{ host: string, port: number }} server @param {import('./desktop').Desktop[]} desktops */
  constructor (server, desktops) {
    this.server = server
    this.desktops = desktops
    this.rate = 0
    this.agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS })
    this.timer = setInterval(() => this.#step(), STEP_MS)
  }

  /** @param {number} perSecond */
  setRate (perSecond) {
    this.rate = perSecond
    this.#due = 0
    this.#last = nowMs()
  }

  #step () {
    const now = nowMs()
    this.#due += (now - this.#last) / 1000 * this.rate
    this.#last = now
    for (; this.#due >= 1; this.#due--) {
      const { id } = this.desktops[this.#next++ % this.desktops.length]
      if (id === '') continue
      const number = (this.#numbers.get(id) ?? 0) + 1
      this.#numbers.set(id, number)
      this.waiting++
      this.#throw(id, number, JSON.stringify({ at: now }))
    }
  }

  /** @param {string} id @param {number} number @param {string} sprite */
  #throw (id, number, sprite) {
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      setTimeout(() => this.#throw(id, number, sprite), RETRY_MS)
    }
    const request = http.request({ ...this.server, method: 'POST', path: `/sprite?id=${id}&edge=any&number=${number}`, agent: this.agent, headers: { 'Content-Length': sprite.length } }, response => {
      response.resume()
      response.on('error', again)
      response.on('end', () => {
        if (isOver) return
        if (response.statusCode !== 202) return again()
        isOver = true
        this.waiting--
      })
      response.on('aborted', again)
    })
    request.on('error', again)
    request.end(sprite)
  }

  stop () {
    clearInterval(this.timer)
    this.agent.destroy()
  }
}

module.exports = { Thrower }
