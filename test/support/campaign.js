'use strict'

/**
 * Tests that hunt for races try again and again, or with many at once: in the suite a few times; with RECYCLE_LONG=1, which
 * `npm run test:long` sets, as often as it takes to believe them.
 */

/** How many, how much, or how long. @param {{ short: number, long: number }} how @returns {number} */
const extent = ({ short, long }) => process.env.RECYCLE_LONG === '1' ? long : short

module.exports = { extent }
