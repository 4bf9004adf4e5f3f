'use strict'

/** Texts of the terminal's report: figures as its cells have them. */

const { formatTime } = require('../../core/units')

/** @param {number | null} ms */
function time (ms) {
  return ms === null ? '–' : formatTime(ms)
}

/** @param {number} ms */
function milliseconds (ms) {
  return ms < 10_000 ? `${Number(ms.toPrecision(3))}ms` : formatTime(ms)
}

/** @param {number} share 0 to 1 */
function percent (share) {
  return `${(100 * share).toFixed(2)}%`
}

/**
 * The local time of day; in a run of many hours with the date.
 *
 * @param {{ from: number | null, to: number | null }} report @returns {(t: number) => string}
 */
function clockOf ({ from, to }) {
  const hasDate = Number(to) - Number(from) > 20 * 3_600_000
  return t => {
    const date = new Date(t)
    if (Number.isNaN(date.getTime())) return '–'
    const time = date.toTimeString().slice(0, 8)
    return hasDate ? `${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}` : `${time}.${`${date.getMilliseconds()}`.padStart(3, '0')}`
  }
}

/** @param {number} value */
function two (value) {
  return `${value}`.padStart(2, '0')
}

module.exports = { time, milliseconds, percent, clockOf }
