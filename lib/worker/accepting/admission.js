'use strict'

/**
 * Opens and shuts this worker's acceptors.
 *
 * They are shut at two limits: the accept limit, which the primary raises when all workers have reached it
 * (core/accept-limit.js), and the ceiling, where this process would run out of descriptors (core/ceiling.js): the
 * connection waits in the kernel's queue for a worker with room. So does one above a server's maxConnections, whose
 * acceptor alone is shut. An app may take the last descriptors all the same; then nothing is accepted until the next
 * beat (native/addon/queue.c), and without the addon libuv closes what waits.
 */

const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
const { OpenDescriptors } = require('./open-descriptors')
/** @import { Handle } from '../../core/internals' */
/** @import { Connection } from '../connections/connection' */
/** @import { Acceptor } from './acceptor' */

const REOPEN = 0.95 // of the limit that shut it

class Admission {
  /** As the primary has set it. */
  acceptLimit = Infinity
  #descriptors = new OpenDescriptors()
  /**
   * Connections live for less than a second on average: they are even by themselves, and the accept limit is not
   * applied.
   */
  #isChurning = false
  #gone = 0
  #measuredAt = performance.now()
  /** At the limit: the acceptors are shut until connections have gone. */
  #isFull = false
  /** Acceptors that are shut because their servers have their maxConnections. @type {Set<Acceptor>} */
  #filled = new Set()
  /** Connections for which there is no room in their servers. @type {Connection[]} */
  #queued = []
  /** With its acceptors shut and no connection, nothing else may keep the process alive. */
  #isKeptAlive = false

  /** @param {Pick<import('../enter').Parts, 'channel' | 'state' | 'acceptors' | 'tracker'>} parts */
  constructor ({ channel, state, acceptors, tracker }) {
    this.channel = channel
    this.state = state
    this.acceptors = acceptors
    this.tracker = tracker
    channel.on({
      acceptLimit: ({ limit }) => {
        this.acceptLimit = limit
        if (this.#isFull && state.isServing && !this.#reopen(this.#limit)) this.#sendFull()
        this.consider()
      },
      accept: ({ key }, client) => {
        const acceptor = [...acceptors].find(acceptor => acceptor.key === key)
        const handle = acceptor && client ? acceptor.handleOf(client) : null
        if (acceptor && handle) this.#take(acceptor, handle)
        else client?.close()
      }
    })
    tracker.on('connection', (_, handle) => {
      this.#descriptors.opened(handle?.fd, tracker.connections.size)
      this.consider()
    })
    tracker.on('gone', () => {
      this.#gone++
      this.consider()
      if (this.#queued.length > 0) setImmediate(() => this.#passOn())
    })
  }

  /** A server listens, possibly after its acceptor should be shut. @param {Acceptor} acceptor */
  onListen (acceptor) {
    if (this.ceiling === Infinity) this.#descriptors.count(this.tracker.connections.size)
    if (this.state.isServing && !this.#isFull) return acceptor.open()
    this.#hold()
    if (acceptor.isOpen || this.state.current !== 'held') acceptor.listening.shut()
  }

  /** Stops accepting; the siblings accept from the queue. */
  shut () {
    this.#hold()
    for (const acceptor of this.acceptors) acceptor.listening.shut()
  }

  /** As shut(), for a while. */
  pause () {
    this.#hold()
    for (const acceptor of this.acceptors) acceptor.listening.pause()
  }

  /** This worker serves: it accepts. @param {() => void} [opened] called when every acceptor is open */
  open (opened = () => {}) {
    this.#isFull = false
    let left = this.acceptors.size + 1
    const step = () => { if (--left === 0) opened() }
    this.#openAcceptors(step)
    step()
    this.unhold()
    this.consider()
  }

  /**
   * No other process accepts from the queue.
   * @param {() => void} done called as each open acceptor is shut, its queue emptied
   */
  shutEmpty (done) {
    this.#hold()
    for (const acceptor of this.acceptors) {
      if (!acceptor.isOpen) acceptor.listening.shut()
      else {
        acceptor.shutEmpty(held => {
          for (const client of held) this.#take(acceptor, client)
          done()
        })
      }
    }
  }

  /** @param {Acceptor} acceptor @param {Handle} client accepted, as the fleet stops */
  #take (acceptor, client) {
    if (acceptor.isFull) this.#queued.push(this.tracker.queue(acceptor, client))
    else acceptor.accept(client)
  }

  #passOn () {
    for (const connection of this.#queued) {
      if (connection.stage === 'queued' && !connection.acceptor.isFull) connection.serve()
    }
    this.#queued = this.#queued.filter(({ stage }) => stage === 'queued')
  }

  /** No primary evens out any more: this worker accepts what it has room for. */
  standAlone () {
    this.acceptLimit = Infinity
    if (this.#isFull) this.#reopen(this.#limit)
  }

  /** Connections that this process has descriptors for. */
  get ceiling () {
    return this.#descriptors.ceiling
  }

  get isAtCeiling () {
    return this.tracker.connections.size >= this.ceiling
  }

  /** This worker lacks neither descriptors nor room in a server that has a limit of its own. */
  get hasRoom () {
    return !this.isAtCeiling && this.#filled.size === 0
  }

  get #limit () {
    return this.#isChurning && this.acceptLimit > 0 ? this.ceiling : Math.min(this.acceptLimit, this.ceiling)
  }

  /** The count of connections, or a limit, has changed. */
  consider () {
    if (!this.state.isServing) return
    if (this.#isFull) {
      if (this.#reopen(this.#limit * REOPEN)) this.#sendFull(true)
    } else if (this.tracker.connections.size >= this.#limit) {
      this.#isFull = true
      this.pause()
      this.#sendFull()
    } else {
      for (const acceptor of this.acceptors) this.#considerServer(acceptor)
    }
  }

  /** @param {Acceptor} acceptor */
  #considerServer (acceptor) {
    if (acceptor.isFull) {
      if (!acceptor.isOpen) return
      this.#hold()
      acceptor.listening.pause()
      this.#filled.add(acceptor)
    } else if (this.#filled.delete(acceptor)) {
      acceptor.open(() => this.unhold())
    }
  }

  /** @param {number} limit */
  #reopen (limit) {
    if (this.tracker.connections.size >= limit) return false
    this.#isFull = false
    this.#openAcceptors()
    return true
  }

  #openAcceptors (opened = () => {}) {
    for (const acceptor of this.acceptors) {
      acceptor.open(() => {
        this.unhold()
        opened()
      })
    }
  }

  #hold () {
    if (!this.#isKeptAlive) this.channel.expect(1)
    this.#isKeptAlive = true
  }

  /** An acceptor has opened, or its server has been closed: when all have, they keep the process alive themselves. */
  unhold () {
    if (!this.#isKeptAlive || this.#isFull || !(this.state.isServing || this.state.current === 'held')) return
    if ([...this.acceptors].some(acceptor => !acceptor.isClosed && !acceptor.isOpen)) return
    this.letGo()
  }

  /** A gate that is shut for good does not keep this process alive any longer. */
  letGo () {
    if (!this.#isKeptAlive) return
    this.#isKeptAlive = false
    this.channel.expect(-1)
  }

  #sendFull (isOver = false) {
    this.channel.send('full', { isAtCeiling: this.isAtCeiling, ...isOver && { isOver } })
  }

  /** With every heartbeat: whether connections are short-lived, and how many descriptors are open. */
  measure () {
    const count = this.tracker.connections.size
    const seconds = (performance.now() - this.#measuredAt) / 1000
    this.#isChurning = this.#gone / seconds > count
    this.#gone = 0
    this.#measuredAt = performance.now()
    this.#descriptors.measure(count)
    this.consider()
    // A listening socket for which no descriptor was left has been lost.
    if (!this.#isFull && this.state.isServing) this.#openAcceptors()
  }
}

module.exports = { Admission }
