'use strict'

/**
 * Rows as an aligned table: the first column to the left, the others to the right.
 *
 * @param {string[][]} rows the first holds the titles
 */
function alignTable (rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map(row => row[i].length)))
  return rows.map(row => row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join('  ').trimEnd()).join('\n')
}

/** The same in Markdown. @param {string[][]} rows */
function markdownTable (rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  return [line(rows[0]), `|${rows[0].map((_, i) => i === 0 ? '---' : '--:').join('|')}|`, ...rows.slice(1).map(line)].join('\n')
}

module.exports = { alignTable, markdownTable }
