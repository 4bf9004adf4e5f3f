'use strict'

const LAST = 8.64e15 // ms: the latest time of a Date

/**
 * Words for a time that a journal does not record.
 * @param {{ from: number | null, to: number | null }} gap ms since the epoch; null: from its beginning, or to its end
 * @returns {string}
 */
function span ({ from, to }) {
  // Any number may stand in a journal
  const at = (/** @type {number} */ t) => new Date(Math.max(-LAST, Math.min(t, LAST))).toISOString()
  if (from !== null && to === from) return `at ${at(from)}`
  return `${from === null ? '' : `from ${at(from)} `}${to === null ? 'on' : `to ${at(to)}`}`
}

module.exports = { span }
