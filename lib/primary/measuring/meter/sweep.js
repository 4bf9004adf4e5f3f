'use strict'

/** A look at all, some in each turn of the event loop, so that a large fleet holds none of them for long. */

const { setImmediate: nextTurn } = require('node:timers/promises')

const A_TURN = 32 // looks of 10 µs each, with cold caches

/**
 * @template T
 * @param {T[]} all @param {(one: T) => Promise<void>} look @returns {Promise<void>} once all looks have ended
 */
async function sweep (all, look) {
  let turn = Promise.resolve()
  await Promise.all(all.map((one, i) => {
    if (i > 0 && i % A_TURN === 0) turn = turn.then(() => nextTurn())
    return turn.then(() => look(one))
  }))
}

module.exports = { sweep }
