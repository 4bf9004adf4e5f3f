'use strict'

/**
 * Opens and shuts this worker's acceptors.
 *
 * They are shut at two limits: the level, which the primary raises when all workers have reached it (core/accept-limit.js),
 * and the ceiling, where this process would run out of descriptors (core/ceiling.js). libuv accepts and closes a connection
 * for which there is no descriptor; with the acceptor shut in time, it waits in the kernel's queue for a worker with room.
 *
 * The kernel assigns the lowest free descriptor, so all below one that has just been opened are in use: the descriptor of
 * each accepted connection shows that, and one that is opened with each heartbeat. From half of the limit on, they are
 * counted.
 */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { ceilingOf } = require('../../core/ceiling')

const NONE_LEFT = new Set(['EMFILE', 'ENFILE'])
const COUNT_FROM = 0.5 // of the limit: below, nothing is counted
const REOPEN = 0.95 // of the mark that shut it

class Admission {
  /** As the primary has set it. */
  level = Infinity
  /** Connections that this process has descriptors for. */
  ceiling = Infinity
  #limit = descriptorLimit()
  /** Descriptors that were open when they were last counted, or more. */
  #open = 0
  /** Connections live for less than a second on average: they are even by themselves, and the level is not applied. */
  #isChurning = false
  #gone = 0
  #measuredAt = performance.now()
  #isShut = false
  /** With its acceptors shut and no connection, nothing else may keep the process alive. */
  #isHeld = false
  #isClosed = false
  /** It accepts and adopts nothing, and may return. */
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

  /** A server listens, possibly after its acceptor should be shut. @param {import('./acceptor').Acceptor} acceptor */
  onListen (acceptor) {
    if (this.ceiling === Infinity) this.#countDescriptors()
    if (this.#isClosed || this.#isShut || this.isOut) acceptor.shut()
  }

  /** Stops accepting; the siblings accept from the queue. */
  leave () {
    if (!this.isOut) this.channel.expect(1) // nothing else may keep the process alive
    this.isOut = true
    for (const acceptor of this.acceptors) acceptor.shut()
  }

  /** Accepts again. @param {() => void} [entered] every acceptor is open */
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
    this.unhold()
    this.consider()
  }

  /** No other process accepts from the queue. @param {() => void} done every acceptor is shut, and the queue was emptied */
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

  /** A connection was opened. @param {number | undefined} fd its descriptor, where it has one */
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

  /** A connection was closed or moved. */
  lose () {
    this.#gone++
    this.consider()
  }

  /** The count of connections, or a limit, has changed. */
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
    this.#openAcceptors()
    return true
  }

  #openAcceptors () {
    for (const acceptor of this.acceptors) acceptor.open(() => this.unhold())
  }

  /** An acceptor has opened, or its server has been closed: they keep the process alive themselves from here on. */
  unhold () {
    if (!this.#isHeld || [...this.acceptors].some(acceptor => !acceptor.isClosed && (this.#isShut || !acceptor.isOpen))) return
    this.#isHeld = false
    this.channel.expect(-1)
  }

  #sayFull () {
    this.channel.send('full', { isAtCeiling: this.isAtCeiling })
  }

  /** With every heartbeat: whether connections are short-lived, and how many descriptors are open where the limit is near. */
  measure () {
    const count = this.connections()
    const seconds = (performance.now() - this.#measuredAt) / 1000
    this.#isChurning = this.#gone / seconds > count
    this.#gone = 0
    this.#measuredAt = performance.now()
    if (this.ceiling === Infinity || Math.max(lowestFree() ?? this.#limit, this.#open) >= COUNT_FROM * this.#limit) this.#countDescriptors()
    this.consider()
    // A listening socket for which no descriptor was left has been lost.
    if (!this.#isShut && !this.#isClosed && !this.isOut) this.#openAcceptors()
  }

  #countDescriptors () {
    this.#open = (this.#limit === Infinity ? 0 : openDescriptors()) ?? this.#limit
    this.ceiling = this.#limit === Infinity ? Infinity : ceilingOf(this.#limit, this.#open, this.connections())
  }

  /** This worker drains: from here on drain.js shuts the acceptors. */
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
    return Infinity // no /proc
  }
}

/** @returns {number | null} null: there is no free descriptor to read with */
function openDescriptors () {
  return orNullAtLimit(() => fs.readdirSync('/proc/self/fd').length)
}

/** @returns {number | null} null: there is none */
function lowestFree () {
  return orNullAtLimit(() => {
    const fd = fs.openSync('/dev/null', 'r')
    fs.closeSync(fd)
    return fd
  })
}

/** @param {() => number} look @returns {number | null} null where no descriptor is free; 0 on any other error */
function orNullAtLimit (look) {
  try {
    return look()
  } catch (error) {
    return NONE_LEFT.has(/** @type {any} */ (error).code) ? null : 0
  }
}

module.exports = { Admission }
