'use strict'

const LEVELS = [...'▁▂▃▄▅▆▇█']

/**
 * The course of a figure from 0 to `highest` in one line of text; blank where nothing is known.
 *
 * @param {readonly (number | null)[]} values
 * @param {number} highest
 * @returns {string} one character each
 */
function sparkline (values, highest) {
  return values.map(value => value === null
    ? ' '
    : LEVELS[Math.max(0, Math.min(LEVELS.length - 1, Math.ceil(value / (highest || 1) * LEVELS.length) - 1))]).join('')
}

module.exports = { sparkline }
