'use strict'

const { escapeControls } = require('./escape-controls')

/**
 * A table of text, as narrow as its content. Columns are two spaces apart, or one if the terminal is narrow.
 *
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [left] aligned left, for text; figures are aligned right
 */

/**
 * @param {Column[]} columns @param {string[][]} cells of each row
 * @param {number} width @returns {string[]} the heading, then a line for each row
 */
function layOut (columns, cells, width) {
  const rows = cells.map(row => row.map(escapeControls))
  const widths = columns.map(({ title }, i) =>
    rows.reduce((widest, row) => Math.max(widest, row[i].length), title.length))
  const net = widths.reduce((sum, one) => sum + one, 0)
  const gap = net + 2 * (columns.length - 1) <= width ? '  ' : ' '
  return [columns.map(({ title }) => title), ...rows].map(row => row
    .map((cell, i) => columns[i].left ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))
    .join(gap)
    .trimEnd())
}

/** A count in at most five characters. @param {number | null} value */
function short (value) {
  if (value === null) return '–'
  return value < 100_000 ? `${value}` : Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 0 }).format(value)
}

/** @param {number | null} bytes */
function mib (bytes) {
  return bytes === null ? '–' : `${Math.round(bytes / 1024 ** 2)}`
}

module.exports = { layOut, short, mib }
