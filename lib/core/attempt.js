'use strict'

/**
 * Calls a function that may fail, where it is of no matter why it does.
 * @template T, Otherwise
 * @param {() => T} get @param {Otherwise} otherwise returned where it throws @returns {T | Otherwise}
 */
function attempt (get, otherwise) {
  try {
    return get()
  } catch {
    return otherwise
  }
}

module.exports = { attempt }
