'use strict'

/** The columns of a worker's row, in the tables of `recycle status` and of `recycle top`. */

const { figure } = require('../core/sample')
const { FIGURES } = require('../tables/figures')
const { formatTime } = require('../core/units')
const { bar, mib, short } = require('../core/grid')
const { stateOf } = require('./worker-state.cjs')
/** @import { Unit } from '../tables/figures' */

const BAR_WIDTH = 10
const REASON_WIDTH = 'requested'.length // reserved in `top`, so that the table keeps its layout at the first recycle

/**
 * @typedef {import('../primary/supervisor').Status['workers'][number]} Worker
 * @typedef {object} Column
 * @property {string} title @property {boolean} [left] @property {(worker: Worker) => string} cell
 * @property {number} [dispensable] omitted, the lowest first, if the terminal is too narrow
 * @property {Partial<Pick<Column, 'title' | 'cell'>>} [top] in `top`: what differs there; without, it is not there
 */

/** How a figure is shown, by its unit. @type {Record<Unit, (value: any) => string>} */
const IN_STATUS = {
  bytes: mib, ms: formatTime, percent, share: share => share.toFixed(2), count: short, total: short
}
/** @type {typeof IN_STATUS} */
const IN_TOP = {
  ...IN_STATUS,
  percent: value => percent(value && Math.round(value)),
  share: share => share.toFixed(2).replace(/^0/, ''),
  total: briefCount
}

/** @type {readonly Column[]} */
const COLUMNS = [
  { title: 'slot', cell: ({ slot }) => orDash(slot), top: { title: '#' } },
  { title: 'pid', cell: ({ pid }) => orDash(pid), top: {} },
  {
    title: 'state',
    left: true,
    cell: stateOf,
    top: { cell: worker => stateOf(worker).replace(/-of-rotation$|ing$|emned$/, '') }
  },
  { title: 'gen', cell: ({ generation }) => `${generation}`, dispensable: 5 },
  {
    title: 'age',
    cell: ({ ageMs }) => formatTime(ageMs),
    dispensable: 4,
    top: { cell: ({ ageMs }) => briefTime(ageMs) }
  },
  { title: 'memory', left: true, cell: budgetBar },
  { title: 'MiB', left: true, cell: sizeOf, top: { cell: briefSize } },
  ...columnsOf('status', IN_STATUS),
  {
    title: 'recycles',
    left: true,
    cell: ({ recycles, lastReason }) => `${recycles}${lastReason ? ` ${lastReason}` : ''}`
  }
]

/** Before the history of the memory. */
const TOP_BEFORE = ofTop('slot', 'pid', 'state', 'age', 'MiB')
/** After it. @type {Column[]} */
const TOP_AFTER = [
  ...columnsOf('top', IN_TOP),
  { title: 'rec', cell: ({ recycles }) => short(recycles) },
  {
    title: 'last'.padEnd(REASON_WIDTH),
    left: true,
    cell: ({ lastReason }) => (lastReason ?? '').replace(/^protocol-error$/, 'protocol')
  }
]

/** Columns of figures. @param {'status' | 'top'} table @param {typeof IN_STATUS} say @returns {Column[]} */
function columnsOf (table, say) {
  return FIGURES.flatMap(({ name, unit, column: { [table]: title, dispensable } = {} }) => title === undefined
    ? []
    : [{ title, dispensable, cell: worker => say[unit](/** @type {Record<string, unknown>} */ (worker)[name]) }])
}

/** @param {string[]} titles @returns {Column[]} */
function ofTop (...titles) {
  return COLUMNS.filter(({ title }) => titles.includes(title)).map(column => ({ ...column, ...column.top }))
}

/** The figure that is compared with the worker's budget. @param {Worker} worker @returns {number | null} */
const measured = worker => figure(worker, worker.metric ?? 'rss')

/** @param {Worker} worker @returns {string} RSS, or where there is a budget, what counts for it */
function sizeOf (worker) {
  const { rssBytes, budgetBytes, metric = 'rss' } = worker
  if (budgetBytes === null) return mib(rssBytes)
  return `${mib(measured(worker))} of ${mib(budgetBytes)}${metric === 'rss' ? '' : ` ${metric}`}`
}

/** @param {Worker} worker */
function briefSize (worker) {
  const { rssBytes, budgetBytes } = worker
  return budgetBytes === null ? mib(rssBytes) : `${mib(measured(worker))}/${mib(budgetBytes)}`
}

/** @param {Worker} worker */
function budgetBar (worker) {
  const bytes = measured(worker)
  return bytes === null || worker.budgetBytes === null
    ? '–'
    : bar(Math.min(1, bytes / worker.budgetBytes), BAR_WIDTH)
}

/** @param {number | null} value */
const orDash = value => value === null ? '–' : `${value}`

/** @param {number | null} value */
function percent (value) {
  return value === null ? '–' : `${value}%`
}

/** In at most four characters. @param {number} ms */
function briefTime (ms) {
  const [unit, name] = /** @type {[number, string]} */ ([[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'm']]
    .find(([unit]) => ms >= Number(unit)) ?? [1000, 's'])
  return `${Math.floor(ms / unit)}${name}`
}

/** In at most five characters. @param {number} count */
function briefCount (count) {
  return count < 100_000
    ? `${count}`
    : Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 }).format(count)
}

module.exports = { COLUMNS, TOP_BEFORE, TOP_AFTER, REASON_WIDTH, budgetBar, measured, orDash }
