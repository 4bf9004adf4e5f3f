'use strict'

/**
 * The clock that everything in the primary is timed by: ages, deadlines, backoffs, durations. It only goes forward,
 * whereas the wall clock (Date.now) is set, by NTP or by hand, back as well as forward. Its readings mean nothing to
 * another process, which is told durations.
 *
 * While it is watched, it stands still when this process does not run: the machine was suspended, the container paused,
 * the process stopped. No worker could be heard or seen meanwhile, so that time proves nothing of any worker.
 */

const { every } = require('../native/every')

const TICK_MS = 500
const LATE_MS = 1000

let sleptMs = 0
let seenAt = 0
let lateMs = LATE_MS
/** @type {(() => void) | null} */
let end = null
/** @type {Set<(ms: number) => void>} */
const watchers = new Set()

/** @returns {number} whole milliseconds */
function now () {
  const at = performance.now()
  if (end !== null) look(at)
  return Math.floor(at - sleptMs)
}

/** @param {number} at */
function look (at) {
  const ms = at - seenAt - TICK_MS
  seenAt = at
  if (ms <= lateMs) return
  sleptMs += ms
  for (const onSlept of watchers) onSlept(Math.round(ms))
}

/**
 * @param {number} silenceMs after which something is done about a worker that is silent: half of that is noticed
 * @param {(ms: number) => void} onSlept called when this process has not run for a while, before any reading of this
 *   clock
 * @returns {() => void} ends it
 */
function watchClock (silenceMs, onSlept) {
  watchers.add(onSlept)
  lateMs = Math.min(lateMs, silenceMs / 2)
  seenAt = performance.now()
  end ??= every(TICK_MS, now)
  return () => {
    watchers.delete(onSlept)
    if (watchers.size > 0) return
    end?.()
    end = null
    lateMs = LATE_MS
  }
}

module.exports = { now, watchClock }
