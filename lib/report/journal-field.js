'use strict'

/**
 * A journal comes from anywhere, and a field of it may be anything. What is not what it should be counts as absent.
 */

const MAX_TEXT_CHARS = 1000

/** @param {unknown} value @returns {number | null} */
function asNumber (value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** @param {unknown} value @returns {number} 0 where it is no number of things */
function asCount (value) {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0
}

/** @param {unknown} value @returns {string | null} */
function asText (value) {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : null
}

module.exports = { asNumber, asCount, asText }
