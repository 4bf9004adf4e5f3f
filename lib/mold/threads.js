'use strict'

const { createHook } = require('node:async_hooks')

/** The threads (worker_threads) that the app has started: a copy has none of them, and would wait for their answers for ever. */
class LiveThreads {
  /** @type {Set<number>} by async id */
  #ids = new Set()
  #hook = createHook({
    init: (id, type) => { if (type === 'WORKER') this.#ids.add(id) },
    destroy: id => { this.#ids.delete(id) }
  })

  /** Before the app is loaded. */
  watch () {
    this.#hook.enable()
    return this
  }

  /** How many there are now. */
  get count () {
    return this.#ids.size
  }

  unwatch () {
    this.#hook.disable()
  }
}

module.exports = { LiveThreads }
