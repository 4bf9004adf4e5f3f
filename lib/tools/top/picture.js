'use strict'

const { painter } = require('../../journal/painter')
const { escapeControls } = require('../../core/escape-controls')
const { sayMoves } = require('../../core/moves')
const { count, formatSize } = require('../../core/units')
const { prettyLine } = require('../../journal/sentence')
const { besideWorkers, linesOfFeatures } = require('../../operate/control-table')
const { formatRows } = require('./table')
/** @import { FleetView } from './fleet-view' */

const HEAD = 4 // two lines of facts, an empty line and the heading
const EVENTS = 5 // lines kept for events, if the terminal is high enough
const LATE_MS = 3000

/**
 * Draws the whole screen.
 *
 * @param {FleetView} fleet
 * @param {{ columns: number, rows: number, colors: boolean, now: number, message: string }} how
 * @returns {string[]} a line for each row of the terminal; may be longer than its columns
 */
function picture (fleet, { columns, rows, colors, now, message }) {
  const paint = painter(colors)
  const status = /** @type {Record<string, any>} */ (fleet.status)
  const { name, pid, app, listening = [], workers, totals } = status
  const room = Math.max(1, rows - HEAD - 2 - EVENTS)
  const from = windowOf(fleet, room)
  const shown = fleet.rows.slice(from, from + room)
  const rss = workers.reduce((/** @type {number} */ sum, /** @type {{ rssBytes: number | null }} */ { rssBytes }) =>
    sum + (rssBytes ?? 0), 0)
  const shared = sayMoves({ load: totals.moves?.load, number: totals.moves?.number })
  const facts = [
    `${totals.ready} of ${count(totals.workers, 'worker')} ready${besideWorkers(status)}`,
    `${formatSize(rss)} RSS`,
    count(totals.recycles, 'recycle'),
    ...shared.length > 0 ? [`moved ${shared.join(', ')}`] : [],
    `${Math.round(fleet.requestsPerSecond)} requests/s`
  ]
  const lateMs = now - (fleet.seenAt ?? now)
  const above = [
    `${paint('bold', escapeControls(name))}  ${escapeControls([`pid ${pid}`, ...listening, app].join('  '))}`,
    lateMs > LATE_MS ? paint('red', `no answer for ${Math.floor(lateMs / 1000)}s`) : escapeControls(facts.join(', ')),
    '',
    ...formatRows(shown, { width: columns, colors, selected: fleet.selected }),
    shown.length < fleet.rows.length ? paint('dim', `rows ${from + 1} to ${from + shown.length} of ${fleet.rows.length}: ↑↓`) : ''
  ]
  const live = linesOfFeatures(status, paint, { isLive: true })
  if (live.length > 0 && above.length + live.length + EVENTS < rows) above.push(...above.at(-1) === '' ? live.slice(1) : live, '')
  const left = Math.max(0, rows - above.length - 1)
  const events = left > 0 ? fleet.events.slice(-left).map(line => prettyLine(line, { colors })) : []
  const keys = `${paint('bold', 'q')} quit  ${paint('bold', '↑↓')} select  ${paint('bold', 'r')} recycle`
  return [...above, ...events, ...Array(Math.max(0, left - events.length)).fill('')].slice(0, rows - 1)
    .concat(message ? `${keys}   ${escapeControls(message)}` : keys)
}

/**
 * The index of the first row to show, such that the selected row is visible.
 *
 * @param {FleetView} fleet @param {number} room
 */
function windowOf ({ rows, selected }, room) {
  const at = rows.findIndex(row => row === selected)
  return Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room))
}

module.exports = { picture }
