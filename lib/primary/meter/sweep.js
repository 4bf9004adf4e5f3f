'use strict'

/** A look at everybody, some in each turn of the event loop, so that a large fleet holds none of them for long. */

const { setImmediate: nextTurn } = require('node:timers/promises')

const A_TURN = 32 // looks of 10 µs each, with cold caches

/**
 * @template T
 * @param {T[]} everybody
 * @param {(one: T) => Promise<void>} look
 * @returns {Promise<void>} once all looks have ended
 */
async function sweep (everybody, look) {
  const looks = []
  for (let i = 0; i < everybody.length; i++) {
    if (i > 0 && i % A_TURN === 0) await nextTurn()
    looks.push(look(everybody[i]))
  }
  await Promise.all(looks)
}

module.exports = { sweep }
