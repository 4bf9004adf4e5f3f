'use strict'

/** Reads fields of a journal, which may come from anywhere. A value of the wrong type counts as absent. */

/** @import { LineHandlers, ReadLine } from '../lines' */

const MAX_TEXT_CHARS = 1000

/** @param {unknown} value @returns {number | null} */
const asNumber = value => typeof value === 'number' && Number.isFinite(value) ? value : null

/** @typedef {number} Count 0 or more @typedef {number} Share 0 to 1 */

/** @param {unknown} value @returns {Count} 0 if the value is not a positive number */
const asCount = value => typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : 0

/** @param {unknown} value @returns {string | null} */
const asText = value => typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : null

/** @param {unknown} value @returns {Record<string, unknown>} */
function asObject (value) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {}
}

/** Does what is to be done with a line of this event. @param {LineHandlers} handlers @param {ReadLine} line */
function handleLine (handlers, line) {
  const event = String(line.event)
  if (!Object.hasOwn(handlers, event)) return
  /** @type {Readonly<Record<string, (line: ReadLine) => void>>} */ (handlers)[event](line)
}

module.exports = { asNumber, asCount, asText, asObject, handleLine }
