'use strict'

/** Texts of the terminal's report: figures as its cells have them, clipped and wrapped. */

const { formatTime } = require('../../core/units')

const WIDTH = 80

/** @param {string} text @param {number} width @param {boolean} [keepsEnd] */
function clip (text, width, keepsEnd = false) {
  if (text.length <= width) return text
  return keepsEnd ? `…${text.slice(1 - width)}` : `${text.slice(0, width - 1)}…`
}

/** @param {string} text @returns {string[]} */
function wrap (text) {
  if (text.length <= WIDTH) return [text]
  const space = text.lastIndexOf(' ', WIDTH)
  return space > 0
    ? [text.slice(0, space), ...wrap(text.slice(space + 1))]
    : [text.slice(0, WIDTH), ...wrap(text.slice(WIDTH))] // a word that is longer than a line
}

/** @param {number | null} value */
function orDash (value) {
  return value === null ? '–' : clip(`${value}`, 8)
}

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

module.exports = { WIDTH, clip, wrap, orDash, time, milliseconds, percent, clockOf }
