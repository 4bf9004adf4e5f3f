'use strict'

/**
 * Ms since the epoch, fractional. Monotonic within a process and the same in all processes of a machine, so that what
 * a client saw can be laid beside what the supervisor's journal says.
 */
function now () {
  return performance.timeOrigin + performance.now()
}

module.exports = { now }
