'use strict'

const { EventEmitter } = require('node:events')
/** @import { Takeover } from './succession/takeover' */

/**
 * The time in which this primary runs the fleet. Where it takes another one's over, that begins late. It is over with a
 * stop, or when a successor has the fleet; if that one dies, it begins again. Emits `over`.
 */
class Tenure extends EventEmitter {
  /** Why it is over; null: it is not. @type {Error | null} */
  why = null

  /** @param {Takeover | null} takeover */
  constructor (takeover) {
    super()
    this.takeover = takeover
  }

  /** Else another primary still runs the fleet: workers stand by in their slots. */
  get hasBegun () {
    return this.takeover?.isLeading ?? true
  }

  get isOver () {
    return this.why !== null
  }

  /** Nothing is left of the primary before. */
  get isSole () {
    return this.takeover?.isSole ?? true
  }

  /** @throws {Error} why it is over */
  throwIfOver () {
    if (this.why) throw this.why
  }

  /** @param {Error} why */
  end (why) {
    this.why = why
    this.emit('over')
  }

  resume () {
    this.why = null
  }
}

module.exports = { Tenure }
