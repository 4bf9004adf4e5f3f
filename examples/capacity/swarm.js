'use strict'

/** The clients, in several processes, as one. */

const path = require('node:path')
const { EventEmitter, once } = require('node:events')
const { fork } = require('node:child_process')

class Swarm extends EventEmitter {
  /** Clients that are logged in now. */
  loggedIn = 0
  /** Round trips. @type {number[]} */
  loginsMs = []
  /** @type {number[]} */
  pingsMs = []
  /** Clients that were refused or closed, by the error's code. @type {Record<string, number>} */
  lost = {}

  /**
   * @param {number} port
   * @param {{ address: string, clients: number }[]} processes
   * @param {{ firstPort: number, window?: number }} how `firstPort` of the clients; `window`: logins that each process
   *   has under way at once
   */
  constructor (port, processes, { firstPort, window = Infinity }) {
    super()
    this.count = processes.reduce((sum, { clients }) => sum + clients, 0)
    this.children = processes.map(({ address, clients }) => {
      const child = fork(path.join(__dirname, 'clients.js'), [address, String(port), String(firstPort), String(clients), String(window)])
      child.on('message', report => this.#add(/** @type {any} */ (report)))
      return child
    })
  }

  get lostCount () {
    return Object.values(this.lost).reduce((sum, count) => sum + count, 0)
  }

  async start () {
    await Promise.all(this.children.map(child => once(child, 'message')))
    for (const child of this.children) child.send({ what: 'login' })
  }

  /** Each client sends one ping within this time. @param {number} overMs */
  ping (overMs) {
    for (const child of this.children) child.send({ what: 'ping', overMs })
  }

  /**
   * Waits for reports until it is so.
   *
   * @param {() => unknown} isSo
   * @param {number} [idleMs] ends when nothing has changed for so long
   * @returns {Promise<boolean>} false: it ended otherwise
   */
  async until (isSo, idleMs = 15_000) {
    let changedAt = performance.now()
    let before = ''
    while (!isSo()) {
      const now = `${this.loggedIn} ${this.lostCount} ${this.pingsMs.length}`
      if (now !== before) changedAt = performance.now()
      before = now
      if (performance.now() - changedAt > idleMs) return false
      await once(this, 'report')
    }
    return true
  }

  async stop () {
    await Promise.all(this.children.map(child => {
      if (child.exitCode !== null || child.signalCode !== null) return null
      const exited = once(child, 'exit')
      child.send({ what: 'stop' })
      child.disconnect()
      return exited
    }))
  }

  /** @param {import('./clients').Report} report */
  #add ({ loggedIn, loginsMs, pingsMs, lost }) {
    this.loggedIn += loggedIn
    this.loginsMs.push(...loginsMs)
    this.pingsMs.push(...pingsMs)
    for (const [why, count] of Object.entries(lost)) this.lost[why] = (this.lost[why] ?? 0) + count
    this.emit('report')
  }
}

module.exports = { Swarm }
