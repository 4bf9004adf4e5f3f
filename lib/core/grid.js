'use strict'

const { escapeControls } = require('./escape-controls')

const WIDTH = 80 // of a report in a terminal
const SPARE = 2 // columns behind a table of which a column is clipped

/**
 * A table of text, as narrow as its content. Columns are two spaces apart, or one if the terminal is narrow.
 *
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [left] aligned left, for text; figures are aligned right
 * @property {boolean} [isClipped] it has what the other columns leave of the width
 */

/**
 * @param {(Column | string)[]} titled columns, or their titles: with `<` at the end of those that are aligned left, and
 *   `<…` of that of them that is clipped
 * @param {string[][]} cells of each row @param {number} width @returns {string[]} the heading, then a line for each row
 */
function layOut (titled, cells, width) {
  const columns = titled.map(column => typeof column === 'string'
    ? { title: column.replace(/<…?$/, ''), left: /<…?$/.test(column), isClipped: column.endsWith('…') }
    : column)
  const rows = cells.map(row => row.map(escapeControls))
  const widths = columns.map(({ title }, i) =>
    rows.reduce((widest, row) => Math.max(widest, row[i].length), title.length))
  const gaps = 2 * (columns.length - 1)
  const sum = () => widths.reduce((sum, one) => sum + one, 0)
  columns.forEach(({ title, isClipped }, i) => {
    if (isClipped) widths[i] = Math.max(title.length, Math.min(widths[i], width - SPARE - gaps - sum() + widths[i]))
  })
  const gap = sum() + gaps <= width ? '  ' : ' '
  return [columns.map(({ title }) => title), ...rows].map(row => row
    .map((cell, i) => columns[i].left ? clip(cell, widths[i]).padEnd(widths[i]) : cell.padStart(widths[i]))
    .join(gap)
    .trimEnd())
}

/** A count in at most five characters. @param {number | null} value */
function short (value) {
  if (value === null) return '–'
  return value < 100_000
    ? `${value}`
    : Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 0 }).format(value)
}

/** @param {number | null} bytes */
const mib = bytes => bytes === null ? '–' : `${Math.round(bytes / 1024 ** 2)}`

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

/** @param {number} share 0 to 1 @param {number} width @returns {string} a bar that is filled by so much */
function bar (share, width) {
  const filled = Math.round(share * width)
  return '█'.repeat(filled) + '░'.repeat(width - filled)
}

/** @param {number | null} value */
const orDash = value => value === null ? '–' : clip(`${value}`, 8)

module.exports = { WIDTH, bar, layOut, short, mib, clip, wrap, orDash }
