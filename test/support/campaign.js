'use strict'

/**
 * Tests for races repeat, or use many clients: in the suite a few; with RECYCLE_LONG=1, which
 * `npm run test:long` sets, many.
 */

/** How many, how much, or how long. @param {{ short: number, long: number }} how @returns {number} */
const extent = ({ short, long }) => process.env.RECYCLE_LONG === '1' ? long : short

module.exports = { extent }
