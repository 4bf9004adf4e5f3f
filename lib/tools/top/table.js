'use strict'

/** The workers as lines. All columns fit into 80 characters; a wider terminal has a longer sparkline. */

const { painter } = require('../../journal/painter')
const { colorOf } = require('../../operate/control-table')
const { TOP_BEFORE, TOP_AFTER, REASON_WIDTH } = require('../../operate/worker-columns')
const { layOut } = require('../../core/grid')
/** @import { Row, Worker } from './fleet-view' */

const LEVELS = [...'▁▂▃▄▅▆▇█']
const SPARKLINE_WIDTH = { min: 8, max: 30 }

/**
 * @param {Row[]} rows @param {{ width: number, colors: boolean, selected: Row | undefined }} how
 * @returns {string[]} the heading, then a line for each
 */
function formatRows (rows, { width, colors, selected }) {
  const paint = painter(colors)
  const lay = (/** @type {number} */ sparkWidth) => layOut(
    [...TOP_BEFORE, { title: 'last min'.padEnd(sparkWidth), left: true }, ...TOP_AFTER],
    rows.map(row => [
      ...TOP_BEFORE.map(({ cell }) => cell(row.worker)),
      historyOf(row, sparkWidth),
      ...TOP_AFTER.map(({ cell }) => cell(row.worker))
    ]),
    width - 2
  )
  const spare = width - 2 - lay(SPARKLINE_WIDTH.min)[0].length - (REASON_WIDTH - 'last'.length)
  const sparkWidth = Math.max(SPARKLINE_WIDTH.min, Math.min(SPARKLINE_WIDTH.max, SPARKLINE_WIDTH.min + spare))
  const [heading, ...lines] = lay(sparkWidth)
  return [paint('dim', `  ${heading}`), ...lines.map((line, i) => rows[i] === selected
    ? paint('inverse', `▸ ${line}`.padEnd(width))
    : `  ${painted(line, rows[i].worker, paint)}`)]
}

/**
 * The sparkline in the colour of how near the budget is.
 *
 * @param {string} line @param {Worker} worker @param {(style: any, text: string) => string} paint
 */
function painted (line, worker, paint) {
  return worker.budgetBytes === null ? line : line.replace(/[▁-█]+/g, text => paint(colorOf(worker), text))
}

/** Memory over time, scaled to the budget. @param {Row} row @param {number} width */
function historyOf ({ history, worker: { budgetBytes } }, width) {
  if (!history) return ' '.repeat(width)
  const values = history.in(width)
  return sparkline(values, Math.max(budgetBytes ?? 0, ...values.map(value => value ?? 0)))
}

/**
 * Values from 0 to `highest` as a line of block characters; blank where there is no value.
 *
 * @param {readonly (number | null)[]} values @param {number} highest @returns {string} one character for each value
 */
function sparkline (values, highest) {
  return values.map(value => value === null
    ? ' '
    : LEVELS[Math.max(0, Math.min(LEVELS.length - 1, Math.ceil(value / (highest || 1) * LEVELS.length) - 1))]).join('')
}

module.exports = { formatRows, sparkline }
