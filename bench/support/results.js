'use strict'

/** The tables of a results file, and whether its goals are met. Pure. */

const { summary, within } = require('./statistics')

/**
 * @typedef {object} Column
 * @property {string} key of the figures
 * @property {string} title
 * @property {number} [digits] after the point; 0
 * @property {boolean} [ratio] also as a ratio to another subject
 * @property {boolean} [less] less is better
 * @property {boolean} [total] the sum over the rounds
 * @property {boolean} [worst] the largest of the rounds, for figures of which a single bad value matters
 * @property {boolean} [brief] the median without its spread, where a table has many columns
 * @property {string} [set] columns of one set are a table of their own
 *
 * @typedef {object} Group
 * @property {string} name
 * @property {string[]} beside
 * @property {string} [by] key of the column by which the better of several in `beside` is found; the first
 * @property {{ name: string, rounds: (Record<string, any> | null)[] }[]} subjects
 */

/**
 * The better one of the baselines.
 *
 * @param {Group} group @param {Column[]} columns @returns {string | null} null: none was measured
 */
function besideOf ({ beside, by, subjects }, columns) {
  const { key, less } = columns.find(({ key }) => key === by) ?? columns[0]
  const median = (/** @type {string} */ name) => figuresOf(subjects, name, key).median
  const [best] = beside.filter(name => Number.isFinite(median(name)))
    .sort((a, b) => (median(b) - median(a)) * (less ? -1 : 1))
  return best ?? null
}

/**
 * Of groups of one name, measured on several machines, the first that has rounds: the latest.
 *
 * @param {Group[]} groups @param {string} name
 */
function latest (groups, name) {
  return groups.find(group => group.name === name && countOf(group) > 0)
}

/** How many rounds it has. @param {Group} group */
function countOf ({ subjects }) {
  return Math.max(...subjects.map(({ rounds }) => rounds.filter(Boolean).length))
}

/** The heading of the tables of a group. @param {Group} group @param {Column[]} columns */
function headingOf (group, columns) {
  const other = besideOf(group, columns)
  const count = countOf(group)
  return `${group.name}${other ? `, beside ${other}` : ''}; ${count} ${count === 1 ? 'round' : 'rounds'}`
}

/** @param {Group['subjects']} subjects @param {string} name @param {string} key */
function figuresOf (subjects, name, key) {
  return summary(roundsOf(subjects, name).map(figures => figures?.[key] ?? NaN))
}

/** @param {Group['subjects']} subjects @param {string | null} name */
function roundsOf (subjects, name) {
  return subjects.find(subject => subject.name === name)?.rounds ?? []
}

/**
 * A table for each set of columns: a row of titles, then a row for each subject: medians with their spread, medians of
 * the ratios within rounds.
 *
 * @param {Group} group @param {Column[]} columns @returns {string[][][]}
 */
function resultTables (group, columns) {
  const other = besideOf(group, columns)
  const sets = [...new Set(columns.map(({ set }) => set))]
  return sets.map(set => resultTable(group, columns.filter(column => column.set === set), other))
    .filter(rows => rows.length > 1)
}

/**
 * @param {Group} group @param {Column[]} columns @param {string | null} other that ratios are to
 * @returns {string[][]}
 */
function resultTable (group, columns, other) {
  const measured = group.subjects.filter(({ rounds }) => rounds.some(Boolean))
  if (measured.length === 0) return []
  const shown = columns.filter(({ key }) =>
    measured.some(({ rounds }) => rounds.some(figures => Number.isFinite(figures?.[key]))))
  const titles = ['', ...shown.flatMap(({ title, ratio }) => ratio && other ? [title, '×'] : [title])]
  return [titles, ...measured.map(({ name, rounds }) => [name, ...shown.flatMap(column => {
    const value = cell(rounds, column)
    if (!column.ratio || !other) return [value]
    return [value, name === other ? '1' : ratioOf(within(rounds, roundsOf(group.subjects, other), column.key))]
  })])]
}

/** @param {(Record<string, any> | null)[]} rounds @param {Column} column */
function cell (rounds, { key, digits = 0, total, worst, ratio, brief }) {
  const values = rounds.map(figures => figures?.[key]).filter(Number.isFinite)
  if (values.length === 0) return '–'
  const text = (/** @type {number} */ value) => decimal(value, digits)
  if (total) return text(values.reduce((sum, value) => sum + value, 0))
  if (worst) return text(Math.max(...values))
  const { median, min, max } = summary(values)
  return ratio || brief || min === max ? text(median) : `${text(median)} (${text(min)}–${text(max)})`
}

/** With its spread, where there are several rounds. @param {ReturnType<typeof within>} ratio @param {string} [unit] */
function ratioOf ({ median, min, max, count }, unit = '') {
  return !Number.isFinite(median) ? '–' : `${median.toFixed(2)}${unit}${count > 1 ? ` (${min.toFixed(2)}–${max.toFixed(2)})` : ''}`
}

/** @param {number} value @param {number} [digits] after the point */
function decimal (value, digits = 0) {
  return Number.isFinite(value) ? value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }) : '–'
}

/**
 * @param {{ groups: Group[], columns: Column[], goals: any[] }} results
 * @returns {{ text: string, isMet: boolean }[]} of the goals whose subjects were measured; of a group that was measured
 *   on several machines, the latest is judged
 */
function judge ({ groups, columns, goals }) {
  return goals.flatMap(goal => goal.subject === undefined
    ? ofAll(groups, goal)
    : groups.filter(group => (!goal.group || goal.group === group.name) && group === latest(groups, group.name))
      .flatMap(group => {
        const column = columns.find(({ key }) => key === goal.key)
        const rounds = roundsOf(group.subjects, goal.subject)
        const other = roundsOf(group.subjects, goal.beside ?? besideOf(group, columns))
        const own = summary(rounds.map(figures => figures?.[goal.key] ?? NaN))
        const total = rounds.reduce((sum, figures) => sum + (figures?.[goal.key] ?? 0), 0)
        const [kind] = Object.keys(KINDS).filter(kind => goal[kind] !== undefined)
        const { of, sign, unit, isMet } = KINDS[kind]
        const value = of(rounds, other, goal.key, column?.total ? total : column?.worst ? own.max : own.median)
        if (!Number.isFinite(value) || own.count === 0) return []
        const digits = unit === '×' ? 3 : column?.digits ?? 0
        return [{ text: `${group.name}: ${goal.subject}: ${column?.title ?? goal.key} ${round(value, digits)}${unit}${goal.beside ? ` beside ${goal.beside}` : ''} (goal ${sign} ${goal[kind]}${unit})`, isMet: isMet(value, goal[kind]) }]
      }))
}

/** A sum over all measurements that count it. @param {Group[]} groups @param {any} goal with `atMost` */
function ofAll (groups, { key, atMost }) {
  const figures = groups.flatMap(({ subjects }) => subjects.flatMap(({ rounds }) => rounds))
    .filter(figures => Number.isFinite(figures?.[key]))
  const sum = figures.reduce((sum, figures) => sum + figures?.[key], 0)
  return figures.length ? [{ text: `in all ${figures.length} measurements: ${key} ${sum} (goal ≤ ${atMost})`, isMet: sum <= atMost }] : []
}

/**
 * @type {Record<string, { of: (rounds: any[], other: any[], key: string, own: number) => number, sign: string,
 *   unit: string, isMet: (value: number, goal: number) => boolean }>}
 */
const KINDS = {
  ratioAtLeast: { of: (rounds, other, key) => within(rounds, other, key).median, sign: '≥', unit: '×', isMet: (value, goal) => value >= goal },
  ratioAtMost: { of: (rounds, other, key) => within(rounds, other, key).median, sign: '≤', unit: '×', isMet: (value, goal) => value <= goal },
  above: { of: (rounds, other, key) => within(rounds, other, key, (a, b) => a - b).median, sign: '≤', unit: ' more', isMet: (value, goal) => value <= goal },
  atLeast: { of: (rounds, other, key, own) => own, sign: '≥', unit: '', isMet: (value, goal) => value >= goal },
  atMost: { of: (rounds, other, key, own) => own, sign: '≤', unit: '', isMet: (value, goal) => value <= goal }
}

/** @param {number} value @param {number} digits */
function round (value, digits) {
  return String(Math.round(value * 10 ** digits) / 10 ** digits)
}

module.exports = { resultTables, judge, besideOf, countOf, headingOf, latest, roundsOf, ratioOf, decimal }
