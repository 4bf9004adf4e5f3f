'use strict'

/** Formats values of any type and length for messages. */

const { attempt } = require('./attempt')

const MAX_CHARS = 200

/** @param {unknown} value @returns {string} */
function formatValue (value) {
  if (typeof value === 'string') return JSON.stringify(shorten(value))
  if (typeof value === 'object' && value !== null) return shorten(jsonOf(value))
  return shorten(String(value))
}

/** Replaces the middle of a text that is too long. @param {string} text @param {number} [maxChars] */
function shorten (text, maxChars = MAX_CHARS) {
  if (text.length <= maxChars) return text
  const half = Math.floor((maxChars - 1) / 2)
  return `${text.slice(0, half)}…${text.slice(-half)}`
}

/** @param {object} value */
function jsonOf (value) {
  return attempt(() => JSON.stringify(value), undefined) ?? 'an object' // circular, or its toJSON() throws
}

module.exports = { formatValue, shorten }
