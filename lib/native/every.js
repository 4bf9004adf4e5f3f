'use strict'

/** Work at multiples of its interval: an idle process wakes once for all of it. None of it keeps the process. */

const SOON_MS = 1 // timers are of whole milliseconds

/** @typedef {{ ms: number, fn: () => void, at: number }} Recurring */

/** @type {Set<Recurring>} */
const all = new Set()
/** @type {NodeJS.Timeout | undefined} */
let timer
/** ms, performance.now() */
let wakesAt = Infinity

/** @param {number} ms @returns {number} when the next interval begins: ms, performance.now() */
const nextAt = ms => (Math.floor((performance.now() + SOON_MS) / ms) + 1) * ms

/** @param {number} ms @returns {number} ms from now on to the next one's beginning */
const untilNext = ms => nextAt(ms) - performance.now()

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
