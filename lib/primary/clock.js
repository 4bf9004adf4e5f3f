'use strict'

/**
 * The clock that everything in the primary is timed by: ages, deadlines, backoffs, durations. It only goes forward,
 * whereas the wall clock (Date.now) is set, by NTP or by hand, back as well as forward. Its readings mean nothing to
 * another process, which is told durations.
 *
 * @returns {number} whole milliseconds
 */
function now () {
  return Math.floor(performance.now())
}

module.exports = { now }
