'use strict'

const { createHook } = require('node:async_hooks')
const fs = require('node:fs')
const { setTimeout } = require('node:timers/promises')
const { attempt } = require('../../core/attempt')

const TASKS = '/proc/self/task'
const LOOK_MS = 20
const MOST_LOOKS = 25 // Node.js loads root certificates in a thread that ends

/**
 * The threads that the app has started, by worker_threads or in native code: a copy has none of them, and would wait
 * for their answers for ever.
 */
class LiveThreads {
  /** Node's handles of them. @type {Set<any>} */
  #handles = new Set()
  /** Threads of Node.js, with its pool. @type {Set<string>} */
  #own = new Set()
  // Without `destroy`, for which Node would watch the end of each promise.
  #hook = createHook({ init: (_id, type, _trigger, handle) => { if (type === 'WORKER') this.#handles.add(handle) } })

  /** Before the app is loaded. */
  watch () {
    fs.access(TASKS, () => {}) // the pool starts all of its threads at once
    this.#own = new Set(fs.readdirSync(TASKS))
    this.#hook.enable()
    return this
  }

  /** How many there are now. */
  get count () {
    // The thread has been joined
    for (const handle of this.#handles) if (handle.messagePort === undefined) this.#handles.delete(handle)
    return this.#handles.size
  }

  /** @returns {Promise<string[]>} the names of native code's; where none is given it is the process's own */
  async native () {
    /** @type {string[]} */
    let found = []
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      if (looks > 0) await setTimeout(LOOK_MS)
      found = fs.readdirSync(TASKS).filter(id => !this.#own.has(id))
      if (found.length === 0) break
    }
    return [...new Set(found.flatMap(nameOf))]
  }

  unwatch () {
    this.#hook.disable()
  }
}

/** @param {string} id @returns {string[]} none where it has ended */
const nameOf = id => attempt(() => [fs.readFileSync(`${TASKS}/${id}/comm`, 'latin1').trim()], [])

module.exports = { LiveThreads }
