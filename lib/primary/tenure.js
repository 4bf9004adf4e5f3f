'use strict'

/**
 * The time in which this primary runs the fleet. It ends with a stop, or when a successor has taken the fleet over; if
 * that one dies, it begins again. For those that act only meanwhile it looks like an AbortSignal.
 */
class Tenure extends EventTarget {
  onabort = null
  /** @type {Error | null} */
  #why = null

  get aborted () {
    return this.#why !== null
  }

  /** The cause of its end. @returns {any} */
  get reason () {
    return this.#why ?? undefined
  }

  throwIfAborted () {
    if (this.#why) throw this.#why
  }

  /** @param {Error} why */
  end (why) {
    this.#why = why
    this.dispatchEvent(new Event('abort'))
  }

  resume () {
    this.#why = null
  }
}

module.exports = { Tenure }
