'use strict'

/**
 * Opens and shuts this worker's acceptors.
 *
 * They are shut at two marks: the level, which the primary raises when everybody has reached it (core/level.js), and the
 * ceiling, where this process would run out of descriptors (core/ceiling.js). libuv accepts and closes a connection it has
 * no descriptor for; with the acceptor shut in time, it waits in the kernel's queue instead, for us or for a sibling.
 *
 * The kernel gives out the lowest descriptor that is free, so all below one that has just been opened are taken: each
 * accepted connection tells that, and one that is opened with each beat. Where they are many, they are counted.
 */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { ceilingOf } = require('../../core/ceiling')

const NONE_LEFT = new Set(['EMFILE', 'ENFILE'])
const COUNT_FROM = 0.5 // of the limit: below, nothing is counted
const REOPEN = 0.95 // of the mark that shut it

class Admission {
  /** The primary's; Infinity until it speaks. */
  level = Infinity
  /** Connections that this process has descriptors for. */
  ceiling = Infinity
  #limit = descriptorLimit()
  /** Descriptors that were open when they were last counted, or more. */
  #open = 0
  /** Connections live for less than a second on average: they are even by themselves, and no level is worth its price. */
  #isChurning = false
  #gone = 0
  #measuredAt = performance.now()
  #isShut = false
  /** With its acceptors shut, and no connection left, an app may have nothing else to do: this process is kept alive. */
  #isHeld = false
  #isClosed = false
  /** Out of rotation: it takes nothing new, and may come back. */
  isOut = false

  /**
   * @param {import('../channel').Channel} channel
   * @param {Set<import('./acceptor').Acceptor>} acceptors
   * @param {() => number} connections
   * @param {import('../boot/slot').SlotAssignment} assignment
   */
  constructor (channel, acceptors, connections, assignment) {
    this.channel = channel
    this.acceptors = acceptors
    this.connections = connections
    if (assignment.slot === null) this.leave()
    channel.on({
      level: ({ level }) => {
        this.level = level
        if (this.#isShut && !this.isOut && !this.#reopen(this.#mark)) this.#sayFull()
        this.consider()
      },
      shut: () => {
        channel.expect(1) // the order to drain follows
        this.close()
        for (const acceptor of acceptors) acceptor.shut()
        channel.send('shut')
      },
      serve: ({ slot }) => {
        try {
          assignment.take(slot)
        } finally { // also where a listener of the app's throws
          this.enter(() => channel.send('serving'))
        }
      },
      accept: ({ key }, client) => {
        const acceptor = [...acceptors].find(g => g.key === key)
        if (acceptor && client) acceptor.accept(client)
        else client?.close()
      }
    })
  }

  /** A server listens, perhaps when it should not any more. @param {import('./acceptor').Acceptor} acceptor */
  welcome (acceptor) {
    if (this.ceiling === Infinity) this.#countDescriptors()
    if (this.#isClosed || this.#isShut || this.isOut) acceptor.shut()
  }

  /** Goes out of rotation: the queue is the siblings'. */
  leave () {
    if (!this.isOut) this.channel.expect(1) // with its acceptors shut an app may have nothing else to do
    this.isOut = true
    for (const acceptor of this.acceptors) acceptor.shut()
  }

  /** Comes back. @param {() => void} [entered] every acceptor is open */
  enter (entered = () => {}) {
    if (!this.isOut || this.#isClosed) return
    this.isOut = false
    this.#isShut = false
    let left = this.acceptors.size + 1
    const opened = () => {
      if (--left > 0) return
      this.channel.expect(-1)
      entered()
    }
    for (const acceptor of this.acceptors) acceptor.open(opened)
    opened()
    this.letGo()
    this.consider()
  }

  /** The primary is gone. @param {() => void} done every acceptor is shut, and who was in the queue has been let in */
  shutEmpty (done) {
    this.close()
    const open = [...this.acceptors].filter(acceptor => acceptor.isOpen)
    let left = open.length
    if (left === 0) return done()
    for (const acceptor of open) acceptor.shutEmpty(() => { if (--left === 0) done() })
  }

  get isAtCeiling () {
    return this.connections() >= this.ceiling
  }

  get #mark () {
    return this.#isChurning ? this.ceiling : Math.min(this.level, this.ceiling)
  }

  /** A connection has come. @param {number | undefined} fd its descriptor, where it has one */
  gain (fd = -1) {
    if (fd >= COUNT_FROM * this.#limit) {
      this.#open = fd + 1
      this.ceiling = Math.min(this.ceiling, ceilingOf(this.#limit, this.#open, this.connections()))
    }
    this.consider()
  }

  /** A connection could not be accepted: no descriptor is left. */
  exhaust () {
    const count = this.connections()
    this.#open = this.#limit
    this.ceiling = ceilingOf(count, count, count)
    this.consider()
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
      if (this.#reopen(this.#mark * REOPEN)) this.channel.send('room')
    } else if (this.connections() >= this.#mark) {
      this.#isShut = true
      if (!this.#isHeld) this.channel.expect(1)
      this.#isHeld = true
      for (const acceptor of this.acceptors) acceptor.shut()
      this.#sayFull()
    }
  }

  /** @param {number} mark */
  #reopen (mark) {
    if (this.connections() >= mark || this.#isClosed || this.isOut) return false
    this.#isShut = false
    this.#openGates()
    return true
  }

  #openGates () {
    for (const acceptor of this.acceptors) acceptor.open(() => this.letGo())
  }

  /** A acceptor has opened, or its server has been closed: this process lives as long as they let it. */
  letGo () {
    if (!this.#isHeld || [...this.acceptors].some(acceptor => !acceptor.isClosed && (this.#isShut || !acceptor.isOpen))) return
    this.#isHeld = false
    this.channel.expect(-1)
  }

  #sayFull () {
    this.channel.send('full', { isAtCeiling: this.isAtCeiling })
  }

  /** With every beat: how fast connections come and go, and how many descriptors there are, where that may matter. */
  measure () {
    const count = this.connections()
    const seconds = (performance.now() - this.#measuredAt) / 1000
    this.#isChurning = this.#gone / seconds > count
    this.#gone = 0
    this.#measuredAt = performance.now()
    if (this.ceiling === Infinity || Math.max(lowestFree() ?? this.#limit, this.#open) >= COUNT_FROM * this.#limit) this.#countDescriptors()
    this.consider()
    // A listening socket that came when no descriptor was left for it is lost.
    if (!this.#isShut && !this.#isClosed && !this.isOut) this.#openGates()
  }

  #countDescriptors () {
    this.#open = (this.#limit === Infinity ? 0 : openDescriptors()) ?? this.#limit
    this.ceiling = this.#limit === Infinity ? Infinity : ceilingOf(this.#limit, this.#open, this.connections())
  }

  /** This worker drains: the acceptors are the drain's from now on. */
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

/** @returns {number | null} null: none is left to look with */
function openDescriptors () {
  return unlessNoneIsLeft(() => fs.readdirSync('/proc/self/fd').length)
}

/** @returns {number | null} null: none is */
function lowestFree () {
  return unlessNoneIsLeft(() => {
    const fd = fs.openSync('/dev/null', 'r')
    fs.closeSync(fd)
    return fd
  })
}

/** @param {() => number} look @returns {number | null} 0 where it cannot be looked at for another reason */
function unlessNoneIsLeft (look) {
  try {
    return look()
  } catch (error) {
    return NONE_LEFT.has(/** @type {any} */ (error).code) ? null : 0
  }
}

module.exports = { Admission }
