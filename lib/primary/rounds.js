'use strict'

const { EventEmitter } = require('node:events')

/** Emits `plan` when a fact of the fleet has changed, or what is desired; several changes of one turn are one. */
class Rounds extends EventEmitter {
  #isScheduled = false

  /** @param {import('./tenure').Tenure} stopping */
  constructor (stopping) {
    super()
    this.setMaxListeners(0)
    this.stopping = stopping
    stopping.addEventListener('abort', () => this.emit('round'))
  }

  changed = () => {
    if (this.#isScheduled || this.stopping.aborted) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.stopping.aborted) return
      this.emit('plan')
      this.emit('round')
    })
  }

  /**
   * Resolves when it is so, which is looked at after each change.
   * @param {() => boolean} isSo @throws {import('../core/errors').RecycleError} what stopped the fleet meanwhile
   */
  until = async isSo => {
    this.stopping.throwIfAborted()
    while (!isSo()) {
      await new Promise(resolve => this.once('round', resolve))
      this.stopping.throwIfAborted()
    }
  }
}

module.exports = { Rounds }
