'use strict'

/**
 * Readings of smaps_rollup, one or two at a time. A fleet's readings fall due together; begun in one turn of the loop,
 * each would wake a thread that takes the processor away from the primary, and hold one of libuv's four, which file
 * access and name look-ups need too. On two CPUs one thread leaves the primary the other (its loop is held for 0.4 ms,
 * not 0.9), and gets four fifths of what two would get done.
 *
 * One that does not return in time loses its turn, and keeps its thread; with two such threads no further reading
 * begins, so that half of the pool is left.
 */

const os = require('node:os')
const { inTime } = require('./in-time')

const AT_ONCE = os.availableParallelism() > 2 ? 2 : 1

const MOST_HELD = 2

let free = AT_ONCE
let held = 0
/** @type {(() => void)[]} */
const waiting = []

/**
 * @template T
 * @param {() => Promise<T>} read
 * @returns {Promise<T | null>} what it gives, when its turn has come; null: it has not returned, or could not begin
 */
async function inTurn (read) {
  if (free > 0) free--
  else await new Promise(resolve => waiting.push(() => resolve(undefined)))
  try {
    if (held >= MOST_HELD) return null
    const reading = read()
    const given = await inTime(reading)
    if (given === null) hold(reading)
    return given
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
}

/** @param {Promise<unknown>} reading that has not returned */
function hold (reading) {
  held++
  const release = () => { held-- }
  reading.then(release, release)
}

module.exports = { inTurn }
