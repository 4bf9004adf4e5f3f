'use strict'

/**
 * Work that the app has to do in a copy by itself: its own generator's seed, a connection, a file. In the order it was
 * given.
 */

/** @type {(() => unknown)[]} */
const callbacks = []

/** @param {() => unknown} callback called in each worker that is forked, before it listens; may return a promise */
function onFork (callback) {
  if (typeof callback !== 'function') throw new TypeError(`onFork takes a function, not ${typeof callback}`)
  callbacks.push(callback)
}

/** In a copy. */
async function forked () {
  for (const callback of callbacks) await callback()
}

module.exports = { onFork, forked }
