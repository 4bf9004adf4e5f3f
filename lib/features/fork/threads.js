'use strict'

const { createHook } = require('node:async_hooks')

/**
 * The threads (worker_threads) that the app has started: a copy has none of them, and would wait for their answers for
 * ever.
 */
class LiveThreads {
  /** Node's handles of them. @type {Set<any>} */
  #handles = new Set()
  // Without `destroy`, for which Node would watch the end of each promise.
  #hook = createHook({ init: (_id, type, _trigger, handle) => { if (type === 'WORKER') this.#handles.add(handle) } })

  /** Before the app is loaded. */
  watch () {
    this.#hook.enable()
    return this
  }

  /** How many there are now. */
  get count () {
    // It has been joined
    for (const handle of this.#handles) if (handle.messagePort === undefined) this.#handles.delete(handle)
    return this.#handles.size
  }

  unwatch () {
    this.#hook.disable()
  }
}

module.exports = { LiveThreads }
