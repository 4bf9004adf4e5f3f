'use strict'

const LEVELS = [...'▁▂▃▄▅▆▇█']

/**
 * Values from 0 to `highest` as a line of block characters; blank where there is no value.
 *
 * @param {readonly (number | null)[]} values
 * @param {number} highest
 * @returns {string} one character for each value
 */
function sparkline (values, highest) {
  return values.map(value => value === null
    ? ' '
    : LEVELS[Math.max(0, Math.min(LEVELS.length - 1, Math.ceil(value / (highest || 1) * LEVELS.length) - 1))]).join('')
}

module.exports = { sparkline }
