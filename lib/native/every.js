'use strict'

/**
 * Work at intervals. It is done at multiples of its interval, by the clock that all processes of the machine have, so
 * that an idle process wakes once for all of it, and for what others send at such a time. None of it keeps the process.
 */

const { performance } = require('node:perf_hooks')

const SOON_MS = 1 // timers are of whole milliseconds
/** When performance.now() began, by that clock. */
const BEGAN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** @typedef {{ ms: number, fn: () => void, at: number }} Recurring */

/** @type {Set<Recurring>} */
const all = new Set()
/** @type {NodeJS.Timeout | undefined} */
let timer
/** ms, performance.now() */
let wakesAt = Infinity

/**
 * @param {number} ms @param {number} [afterMs] behind the multiples
 * @returns {number} when the next interval begins: ms, performance.now()
 */
function nextAt (ms, afterMs = 0) {
  const began = BEGAN_MS - afterMs
  return (Math.floor((began + performance.now() + SOON_MS) / ms) + 1) * ms - began
}

/** @param {number} ms @param {number} [afterMs] @returns {number} ms from now on to the next one's beginning */
function untilNext (ms, afterMs) {
  return Math.max(0, nextAt(ms, afterMs) - performance.now()) // below 0 Node writes a warning
}

/** @param {number} ms @param {() => void} fn @returns {() => void} ends it */
function every (ms, fn) {
  const recurring = { ms, fn, at: nextAt(ms) }
  all.add(recurring)
  wake()
  return () => {
    all.delete(recurring)
    wake()
  }
}

/** At the earliest of what is due. */
function wake () {
  let at = Infinity
  for (const recurring of all) at = Math.min(at, recurring.at)
  if (at === wakesAt) return
  wakesAt = at
  clearTimeout(timer)
  timer = at === Infinity ? undefined : setTimeout(run, Math.max(0, at - performance.now())).unref()
}

function run () {
  const due = performance.now() + SOON_MS
  wakesAt = Infinity
  try {
    for (const recurring of all) {
      if (recurring.at > due) continue
      recurring.at = nextAt(recurring.ms)
      recurring.fn()
    }
  } finally {
    wake() // also where one throws: what was due then is so at once
  }
}

module.exports = { every, untilNext }
