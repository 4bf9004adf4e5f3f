'use strict'

/**
 * Ms since the epoch, fractional. Monotonic within a process, by whose start it is told: the same in all processes of a
 * machine whose clock has not been set since, so that what a client saw can be laid beside what the supervisor's journal says.
 */
function now () {
  return performance.timeOrigin + performance.now()
}

module.exports = { now }
