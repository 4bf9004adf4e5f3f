'use strict'

/**
 * Readings of smaps_rollup, one or two at a time. A fleet's readings fall due together; begun in one turn of the loop, each
 * would wake a thread that takes the processor away from the primary, and hold one of libuv's four, which file access
 * and name look-ups need too. On two CPUs one thread leaves the primary the other (its loop is held for 0.4 ms, not
 * 0.9), and gets four fifths of what two would get done.
 */

const os = require('node:os')

const AT_ONCE = os.availableParallelism() > 2 ? 2 : 1

let free = AT_ONCE
/** @type {(() => void)[]} */
const waiting = []

/**
 * @template T
 * @param {() => Promise<T>} read
 * @returns {Promise<T>} what it gives, when its turn has come
 */
async function inTurn (read) {
  if (free > 0) free--
  else await new Promise(resolve => waiting.push(() => resolve(undefined)))
  try {
    return await read()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
}

module.exports = { inTurn }
