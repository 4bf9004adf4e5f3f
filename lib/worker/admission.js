'use strict'

/**
 * Opens and shuts this worker's gates.
 *
 * They are shut at two marks: the level, which the primary raises when everybody has reached it (core/level.js), and the
 * ceiling, where this process would run out of descriptors. libuv accepts and closes a connection it has no descriptor
 * for; with the gate shut in time, it waits in the kernel's queue instead, for us or for a sibling.
 */

const fs = require('node:fs')

const RESERVE = 0.1 // of the descriptors, at least …
const RESERVE_MIN = 64 // … for what the app opens between two counts
const COUNT_FROM = 0.5 // of the limit: below, nothing is counted
const REOPEN = 0.95 // of the mark that shut it

class Admission {
  /** The primary's; Infinity until it speaks. */
  level = Infinity
  /** Connections that this process has descriptors for. */
  ceiling = Infinity
  #limit = descriptorLimit()
  /** Connections live for less than a second on average: they are even by themselves, and no level is worth its price. */
  #isChurning = false
  #gone = 0
  #measuredAt = performance.now()
  #isShut = false
  #isClosed = false
  /** Out of rotation: it takes nothing new, and may come back. */
  isOut = false

  /**
   * @param {import('./link').Link} link
   * @param {Set<import('./gate').Gate>} gates
   * @param {() => number} connections
   * @param {import('./post').Post} post
   */
  constructor (link, gates, connections, post) {
    this.link = link
    this.gates = gates
    this.connections = connections
    if (post.slot === null) this.leave()
    link.on({
      level: ({ level }) => {
        this.level = level
        if (this.#isShut && !this.isOut && !this.#reopen(this.#mark)) this.#sayFull()
        this.consider()
      },
      shut: () => {
        link.expect(1) // the order to drain follows
        this.close()
        for (const gate of gates) gate.shut()
        link.send('shut')
      },
      serve: ({ slot }) => {
        post.take(slot)
        this.enter(() => link.send('serving'))
      },
      accept: ({ key }, client) => {
        const gate = [...gates].find(g => g.key === key)
        if (gate) gate.accept(client)
        else client?.close()
      }
    })
  }

  /** A server begins to listen, perhaps when it should not any more. @param {import('./gate').Gate} gate */
  welcome (gate) {
    gate.server.once('listening', () => { if (this.#isClosed || this.#isShut || this.isOut) gate.shut() })
  }

  /** Goes out of rotation: the queue is the siblings'. */
  leave () {
    if (!this.isOut) this.link.expect(1) // with its gates shut an app may have nothing else to do
    this.isOut = true
    for (const gate of this.gates) gate.shut()
  }

  /** Comes back. @param {() => void} [entered] every gate is open */
  enter (entered = () => {}) {
    if (!this.isOut || this.#isClosed) return
    this.isOut = false
    this.#isShut = false
    let left = this.gates.size + 1
    const opened = () => {
      if (--left > 0) return
      this.link.expect(-1)
      entered()
    }
    for (const gate of this.gates) gate.open(opened)
    opened()
    this.consider()
  }

  /** The primary is gone. @param {() => void} done every gate is shut, and who was in the queue has been let in */
  shutEmpty (done) {
    this.close()
    const open = [...this.gates].filter(gate => gate.isOpen)
    let left = open.length
    if (left === 0) return done()
    for (const gate of open) gate.shutEmpty(() => { if (--left === 0) done() })
  }

  get isAtCeiling () {
    return this.connections() >= this.ceiling
  }

  get #mark () {
    return this.#isChurning ? this.ceiling : Math.min(this.level, this.ceiling)
  }

  /** A connection has gone. */
  lose () {
    this.#gone++
    this.consider()
  }

  /** A connection has come, or gone. */
  consider () {
    if (this.#isClosed || this.isOut) return
    if (this.#isShut) {
      if (this.#reopen(this.#mark * REOPEN)) this.link.send('room')
    } else if (this.connections() >= this.#mark) {
      this.#isShut = true
      for (const gate of this.gates) gate.shut()
      this.#sayFull()
    }
  }

  /** @param {number} mark */
  #reopen (mark) {
    if (this.connections() >= mark || this.#isClosed || this.isOut) return false
    this.#isShut = false
    for (const gate of this.gates) gate.open()
    return true
  }

  #sayFull () {
    this.link.send('full', { isAtCeiling: this.isAtCeiling })
  }

  /** With every beat: how fast connections come and go, and how many descriptors there are, where that may matter. */
  measure () {
    const count = this.connections()
    const seconds = (performance.now() - this.#measuredAt) / 1000
    this.#isChurning = this.#gone / seconds > count
    this.#gone = 0
    this.#measuredAt = performance.now()
    this.#countDescriptors(count)
    this.consider()
  }

  /** @param {number} count */
  #countDescriptors (count) {
    if (this.#limit === Infinity) return
    if (count >= COUNT_FROM * this.#limit || this.ceiling === Infinity) {
      const others = Math.max(0, openDescriptors() - count)
      this.ceiling = Math.max(1, this.#limit - others - Math.max(RESERVE_MIN, Math.ceil(RESERVE * this.#limit)))
    }
  }

  /** This worker drains: the gates are the drain's from now on. */
  close () {
    this.#isClosed = true
  }
}

/** @returns {number} descriptors that this process may have; Node has raised the soft limit to the hard one */
function descriptorLimit () {
  try {
    const [, soft] = /** @type {RegExpExecArray} */ (/^Max open files +(\d+|unlimited)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1')))
    return soft === 'unlimited' ? Infinity : Number(soft)
  } catch {
    return Infinity // no /proc: nothing to go by
  }
}

function openDescriptors () {
  return fs.readdirSync('/proc/self/fd').length
}

module.exports = { Admission }
