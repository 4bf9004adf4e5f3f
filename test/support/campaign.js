'use strict'

/**
 * Tests for races repeat, or use many clients: in the suite a few; with RECYCLE_LONG=1, which
 * `npm run test:long` sets, many.
 */

/** How many, how much, or how long. @template Value @param {{ short: Value, long: Value }} how @returns {Value} */
const extent = ({ short, long }) => process.env.RECYCLE_LONG === '1' ? long : short

/**
 * Why a test is not in the suite; false: this run has it.
 *
 * @param {string} seconds that it takes @param {string} script that has it
 * @returns {string | false}
 */
const longAlone = (seconds, script = 'npm run test:long') => extent({ short: `it takes ${seconds} s: ${script}`, long: false })

module.exports = { extent, longAlone }
