'use strict'

/**
 * Clocks that jump forward by a second at random, as they seem to a process that gets no CPU meanwhile: the tests
 * of the core always run with them, the other bundles with `CLOCK_SEED=7`, say, which also repeats a run's jumps.
 * Timers are those of Node.js.
 */

const { randomInt } = require('node:crypto')
const { seeded } = require('./random')

const JUMP_MS = 1000
const SHARE = 0.01 // of the readings

/** From now on, in this process. @returns {number} the seed */
function letClocksJump () {
  const seed = Number(process.env.CLOCK_SEED ?? randomInt(2 ** 31))
  const random = seeded(seed)
  let offsetMs = 0
  for (const clock of [performance, Date]) {
    const { now } = clock
    clock.now = () => {
      if (random() < SHARE) offsetMs += JUMP_MS
      return now.call(clock) + offsetMs
    }
  }
  return seed
}

module.exports = { letClocksJump }
