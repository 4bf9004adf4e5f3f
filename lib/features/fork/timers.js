'use strict'

/**
 * Timers that are pending when the mold is frozen. The copies have them too: after an hour all of them would be
 * overdue, and fire in every copy at once. In a copy each begins anew, with its whole delay, as if the copy had loaded
 * the app just now.
 *
 * Node's own, which keep the time of day in `Date` headers, say, are left as they are: they are to be overdue.
 */

const { createHook } = require('node:async_hooks')

const OF_TIMERS = /\bnode:(?:internal\/)?timers\b|<anonymous>\)?$/
const OF_NODE = /\(?node:/
const DEPTH = 16
const TIDY_FROM = 1000 // timers that have been asked for since those that are over were last left out

class PendingTimers {
  /** Of the app. @type {any[]} */
  #timers = []
  #tidyAt = TIDY_FROM
  // Without `destroy`, for which Node would watch the end of each promise.
  #hook = createHook(
    { init: (_id, type, _trigger, resource) => { if (type === 'Timeout' || type === 'Immediate') this.#add(resource) } }
  )

  /** In the mold, before the app is loaded. */
  watch () {
    this.#hook.enable()
  }

  /** An immediate of the app's waits for its turn. */
  get hasImmediates () {
    return this.#pending().some(timer => !('_idleTimeout' in timer))
  }

  /** In a copy. */
  restart () {
    this.#hook.disable()
    for (const timer of this.#pending()) timer.refresh?.()
    this.#timers = []
  }

  #pending () {
    return this.#timers.filter(timer => !timer._destroyed)
  }

  /** @param {unknown} timer */
  #add (timer) {
    if (isByApp()) this.#timers.push(timer)
    if (this.#timers.length < this.#tidyAt) return
    this.#timers = this.#pending()
    this.#tidyAt = TIDY_FROM + 2 * this.#timers.length
  }
}

/** The timer that has just been made was asked for by the app, and is none of Node's own. */
function isByApp () {
  const { stackTraceLimit, prepareStackTrace } = Error
  Object.assign(Error, { stackTraceLimit: DEPTH, prepareStackTrace: undefined })
  const frames = String(new Error().stack).split('\n')
  Object.assign(Error, { stackTraceLimit, prepareStackTrace })
  const made = frames.findIndex(frame => OF_TIMERS.test(frame))
  const caller = frames.slice(made).find(frame => !OF_TIMERS.test(frame))
  return made >= 0 && caller !== undefined && !OF_NODE.test(caller)
}

module.exports = { PendingTimers }
