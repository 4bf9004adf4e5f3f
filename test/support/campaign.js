'use strict'

/**
 * Tests that hunt for races try again and again, or with many at once: in the suite a few times; with RECYCLE_LONG=1, which
 * `npm run test:long` sets, as often as it takes to believe them.
 */

/** How many, or how much. @param {{ short: number, long: number }} how @returns {number} */
const tries = ({ short, long }) => process.env.RECYCLE_LONG === '1' ? long : short

module.exports = { tries }
