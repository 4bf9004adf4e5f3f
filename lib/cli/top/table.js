'use strict'

/** The workers as lines. All columns fit into 80 characters; a wider terminal has a longer sparkline. */

const { painter } = require('../../journal/painter')
const { colorOf, measured } = require('../../operate/control-table')
const { stateOf } = require('../../operate/worker-state.cjs')
const { layOut, mib, short } = require('../../report/grid')
/** @import { Row, Worker } from './fleet-view' */

const LEVELS = [...'▁▂▃▄▅▆▇█']
const SPARKLINE_WIDTH = { min: 8, max: 30 }
const REASON_WIDTH = 'requested'.length // reserved, so that the table keeps its layout at the first recycle

/** @typedef {{ title: string, left?: boolean, cell: (row: Row) => string }} Column */

/** @type {Column[]} */
const BEFORE = [
  { title: '#', cell: ({ worker: { slot } }) => slot === null ? '–' : `${slot}` },
  { title: 'pid', cell: ({ worker: { pid } }) => `${pid}` },
  { title: 'state', left: true, cell: ({ worker }) => stateOf(worker).replace(/-of-rotation$|ing$/, '') },
  { title: 'age', cell: ({ worker: { ageMs } }) => age(ageMs) },
  { title: 'MiB', left: true, cell: ({ worker }) => sizeOf(worker) }
]

/** @type {Column[]} */
const BEHIND = [
  { title: 'CPU', cell: ({ worker: { cpuPercent } }) => cpuPercent === null ? '–' : `${Math.round(cpuPercent)}%` },
  { title: 'ELU', cell: ({ worker: { elu } }) => elu.toFixed(2).replace(/^0/, '') },
  { title: 'conn', cell: ({ worker: { connections } }) => short(connections) },
  { title: 'fly', cell: ({ worker: { inFlight } }) => short(inFlight) },
  { title: 'reqs', cell: ({ worker: { requests } }) => brief(requests) },
  { title: 'rec', cell: ({ worker: { recycles } }) => short(recycles) },
  { title: 'last'.padEnd(REASON_WIDTH), left: true, cell: ({ worker: { lastReason } }) => (lastReason ?? '').replace(/^protocol-error$/, 'protocol') }
]

/** @param {Worker} worker */
function sizeOf (worker) {
  const { rssBytes, budgetBytes } = worker
  return budgetBytes === null ? mib(rssBytes) : `${mib(measured(worker))}/${mib(budgetBytes)}`
}

/**
 * @param {Row[]} rows @param {{ width: number, colors: boolean, selected: Row | undefined }} how
 * @returns {string[]} the heading, then a line for each
 */
function formatRows (rows, { width, colors, selected }) {
  const paint = painter(colors)
  const lay = (/** @type {number} */ sparkWidth) => layOut(
    [...BEFORE, { title: 'last min'.padEnd(sparkWidth), left: true }, ...BEHIND],
    rows.map(row =>
      [...BEFORE.map(({ cell }) => cell(row)), historyOf(row, sparkWidth), ...BEHIND.map(({ cell }) => cell(row))]),
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

/** In at most four characters. @param {number} ms */
function age (ms) {
  const [unit, name] = /** @type {[number, string]} */ ([[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'm']].find(([unit]) => ms >= Number(unit)) ?? [1000, 's'])
  return `${Math.floor(ms / unit)}${name}`
}

/** In at most five characters. @param {number} count */
function brief (count) {
  return count < 100_000 ? `${count}` : Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }).format(count)
}

module.exports = { formatRows, sparkline }
