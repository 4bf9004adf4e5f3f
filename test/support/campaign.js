'use strict'

/**
 * Tests for races repeat, or use many clients: in the suite a few; with RECYCLE_LONG=1, which
 * `npm run test:long` sets, many.
 */

/** How many, how much, or how long. @template Value @param {{ short: Value, long: Value }} how @returns {Value} */
const extent = ({ short, long }) => process.env.RECYCLE_LONG === '1' ? long : short

/** Why a test is not in the suite; false: this run has it. @param {string} seconds that it takes @param {string} script that has it @returns {string | false} */
const longAlone = (seconds, script = 'npm run test:long') => extent({ short: `it takes ${seconds} s: ${script}`, long: false })

/** A seeded generator of numbers from 0 to 1 (mulberry32). @param {number} seed */
function seeded (seed) {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

module.exports = { extent, longAlone, seeded }
