'use strict'

const { EventEmitter } = require('node:events')

/** Emits `plan` when a fact of the fleet has changed, or what is desired; several changes of one turn are one. */
class Rounds extends EventEmitter {
  #isScheduled = false

  /** @param {import('./tenure').Tenure} tenure */
  constructor (tenure) {
    super()
    this.setMaxListeners(0)
    this.tenure = tenure
    tenure.on('over', () => this.emit('round'))
  }

  changed = () => {
    if (this.#isScheduled || this.tenure.isOver) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.tenure.isOver) return
      this.emit('plan')
      this.emit('round')
    })
  }

  /**
   * Resolves when it is so, which is looked at after each change.
   * @param {() => boolean} isSo @throws {import('../core/errors').RecycleError} what stopped the fleet meanwhile
   */
  until = async isSo => {
    this.tenure.throwIfOver()
    while (!isSo()) {
      await new Promise(resolve => this.once('round', resolve))
      this.tenure.throwIfOver()
    }
  }
}

module.exports = { Rounds }
