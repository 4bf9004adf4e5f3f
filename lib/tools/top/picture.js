'use strict'

const { painter } = require('../../journal/painter')
const { escapeControls } = require('../../core/escape-controls')
const { sayMoves } = require('../../core/moves')
const { count, formatSize } = require('../../core/units')
const { prettyLine } = require('../../journal/sentence')
const { headingOf, readyOf, rssOf, linesOfFeatures, colorOf } = require('../../operate/control-table')
const { TOP_BEFORE, TOP_AFTER, REASON_WIDTH } = require('../../operate/worker-columns')
const { layOut } = require('../../core/grid')
/** @import { Status } from '../../primary/supervisor' */
/** @import { FleetView, Row, Worker } from './fleet-view' */

const HEAD = 4 // two lines of facts, an empty line and the heading
const EVENTS = 5 // lines kept for events, if the terminal is high enough
const LATE_MS = 3000

/**
 * Draws the whole screen.
 * @param {FleetView} fleet
 * @param {{ columns: number, rows: number, colors: boolean, now: number, message: string }} how
 * @returns {string[]} a line for each row of the terminal; may be longer than its columns
 */
function picture (fleet, { columns, rows, colors, now, message }) {
  const paint = painter(colors)
  const status = /** @type {Status} */ (fleet.status)
  const { workers, totals } = status
  const room = Math.max(1, rows - HEAD - 2 - EVENTS)
  const from = windowOf(fleet, room)
  const shown = fleet.rows.slice(from, from + room)
  const shared = sayMoves({ load: totals.moves?.load, number: totals.moves?.number })
  const facts = [
    readyOf(status),
    `${formatSize(rssOf(workers))} RSS`,
    count(totals.recycles, 'recycle'),
    ...shared.length > 0 ? [`moved ${shared.join(', ')}`] : [],
    `${Math.round(fleet.requestsPerSecond)} requests/s`
  ]
  const lateMs = now - (fleet.seenAt ?? now)
  const above = [
    headingOf(status, paint),
    lateMs > LATE_MS ? paint('red', `no answer for ${Math.floor(lateMs / 1000)}s`) : escapeControls(facts.join(', ')),
    '',
    ...formatRows(shown, { width: columns, colors, selected: fleet.selected }),
    shown.length < fleet.rows.length
      ? paint('dim', `rows ${from + 1} to ${from + shown.length} of ${fleet.rows.length}: ↑↓`)
      : ''
  ]
  const live = linesOfFeatures(status, paint, { isLive: true })
  if (live.length > 0 && above.length + live.length + EVENTS < rows) {
    above.push(...above.at(-1) === '' ? live.slice(1) : live, '')
  }
  const left = Math.max(0, rows - above.length - 1)
  const events = left > 0 ? fleet.events.slice(-left).map(line => prettyLine(line, { colors })) : []
  const keys = `${paint('bold', 'q')} quit  ${paint('bold', '↑↓')} select  ${paint('bold', 'r')} recycle`
  return [...above, ...events, ...Array(Math.max(0, left - events.length)).fill('')].slice(0, rows - 1)
    .concat(message ? `${keys}   ${escapeControls(message)}` : keys)
}

/**
 * The index of the first row to show, such that the selected row is visible.
 * @param {FleetView} fleet @param {number} room
 */
function windowOf ({ rows, selected }, room) {
  const at = rows.findIndex(row => row === selected)
  return Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room))
}

/** The workers as lines. All columns fit into 80 characters; a wider terminal has a longer sparkline. */

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
 * @param {string} line @param {Worker} worker @param {ReturnType<typeof import('../../journal/painter').painter>} paint
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
 * @param {readonly (number | null)[]} values @param {number} highest @returns {string} one character for each value
 */
function sparkline (values, highest) {
  return values.map(value => value === null
    ? ' '
    : LEVELS[Math.max(0, Math.min(LEVELS.length - 1, Math.ceil(value / (highest || 1) * LEVELS.length) - 1))]).join('')
}

module.exports = { picture, sparkline }
