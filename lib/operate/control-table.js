'use strict'

/** The tables of `recycle ls` and `recycle status`. */

const { FEATURES, LIVE, SIZE_WORDS } = require('../features')
const { painter } = require('../journal/painter')
const { listUneven } = require('../core/address')
const { sayCrashing } = require('../core/crashes')
const { escapeControls } = require('../core/escape-controls')
const { count, formatSize } = require('../core/units')
const { sayIfReplaced } = require('../core/errors')
const { sayFreshOverBudget, sayJournal, sayOrphan } = require('../journal/warnings')
const { layOut, short } = require('../core/grid')
const { COLUMNS, budgetBar, measured, orDash } = require('./worker-columns')
/** @import { Column, Worker } from './worker-columns' */
/** @import { Status } from '../primary/supervisor' */

const NEAR = 0.8

/**
 * @param {Status} status @param {{ width?: number, colors?: boolean }} [how] @returns {string} lines, each with its end
 */
function formatStatus (status, { width = Infinity, colors = false } = {}) {
  const { workers, totals, crashing, uneven = [], reloadStopped, memory, freshOverBudget, budgets } = status
  const { notReaped, journal, orphans = [] } = status
  const paint = painter(colors)
  const differ = (/** @type {'generation' | 'app'} */ field) => new Set(workers.map(worker => worker[field])).size > 1
  /** @type {Record<string, boolean>} */
  const isLeftOut = { memory: workers.every(({ budgetBytes }) => budgetBytes === null), gen: !differ('generation') }
  const [heading, ...lines] = fit(COLUMNS.filter(({ title }) => !isLeftOut[title]), workers, width)
  const waiting = workers.filter(({ waitsForRoom }) => waitsForRoom).map(({ slot }) => slot)
  const resting = workers.filter(({ rests }) => rests).length
  const rss = rssOf(workers)
  const plain = (/** @type {string[]} */ ...lines) => lines.map(escapeControls)
  const painted = (/** @type {'red' | 'yellow'} */ color, /** @type {string} */ line) =>
    [paint(color, escapeControls(line))]
  return [
    headingOf(status, paint),
    ...plain(`${readyOf(status)}, ${rss > 0 ? `${formatSize(rss)} RSS, ` : ''}${count(totals.recycles, 'recycle')}`),
    ...crashing ? painted('red', sayCrashing(crashing)) : [],
    ...uneven.length > 0 ? painted('yellow', `the workers listen on different addresses: ${listUneven(uneven)}`) : [],
    ...reloadStopped
      ? painted('red', `the latest reload (generation ${reloadStopped.generation}) was stopped after ` +
        `${reloadStopped.failures} replacements that did not become ready: ` +
        `${reloadStopped.why}${sayIfReplaced(reloadStopped)}`)
      : [],
    ...freshOverBudget ? painted('yellow', sayFreshOverBudget(freshOverBudget)) : [],
    ...orphans.flatMap(orphan => painted('yellow', sayOrphan(orphan))),
    ...journal ? painted('red', sayJournal(journal)) : [],
    ...notReaped ? painted('yellow', `processes that the app leaves behind are not reaped: ${notReaped}`) : [],
    ...waiting.length > 0
      ? painted('yellow', `no room in memory to replace slot ${waiting.join(', ')}: the worker stays until there is`)
      : [],
    ...resting > 0
      ? plain(`${count(resting, 'worker')} ${resting === 1 ? 'rests' : 'rest'}: the requests are short, ` +
        `and take less CPU on ${totals.ready - resting}`)
      : [],
    ...workers.flatMap(({ slot, paused }) =>
      paused ? painted('yellow', `slot ${slot} is out of rotation: ${paused}`) : []),
    ...memory?.source.startsWith('cgroup') ? plain(limitLine(memory)) : [],
    ...differ('app')
      ? plain(...releasesOf(workers).map(({ generation, app, count: n }) =>
        `generation ${generation}, ${count(n, 'worker')}: ${app}`))
      : [],
    '',
    paint('dim', heading),
    ...lines.map((line, i) =>
      budgetBar(workers[i]) === '–' ? line : line.replace(/[█░]+/, text => paint(colorOf(workers[i]), text))),
    ...budgets?.maxRssBytes && budgets.jitter > 0
      ? ['', paint('dim', `budgets: --max-rss, ${formatSize(budgets.maxRssBytes)}, less up to ` +
        `${Math.round(100 * budgets.jitter)}% (--jitter), so that workers do not reach them together`)]
      : [],
    ...linesOfFeatures(status, paint)
  ].map(line => `${line}\n`).join('')
}

/** @param {Status} status @param {ReturnType<typeof painter>} paint */
function headingOf ({ name, pid, listening = [], app }, paint) {
  return `${paint('bold', escapeControls(name))}  ${escapeControls([`pid ${pid}`, ...listening, app].join('  '))}`
}

/** How many workers are ready, and what features say of that. @param {Status & Record<string, unknown>} status */
function readyOf ({ totals, [SIZE_WORDS.key]: size }) {
  return `${totals.ready} of ${count(totals.workers, 'worker')} ready${size ? SIZE_WORDS.beside(size) : ''}`
}

/** @param {Worker[]} workers */
const rssOf = workers => workers.reduce((sum, { rssBytes }) => sum + (rssBytes ?? 0), 0)

/**
 * @param {Record<string, unknown>} status @param {ReturnType<typeof painter>} paint
 * @param {{ isLive?: boolean }} [how] for `top`: features alone that have something to say of this moment
 * @returns {string[]} what features say below the table, each after an empty line
 */
function linesOfFeatures (status, paint, { isLive = false } = {}) {
  return FEATURES.flatMap(({ status: own }) => {
    if (!own?.lines || !status[own.key] || (isLive && !LIVE.get(own.key)?.(status[own.key]))) return []
    const lines = own.lines(status[own.key], (style, text) => paint(style, escapeControls(text)))
    return lines.length > 0 ? ['', ...lines] : []
  })
}

/**
 * @param {Worker[]} workers
 * @returns {{ generation: number, app: string, count: number }[]} the files that they run, the oldest first
 */
function releasesOf (workers) {
  const generations = [...new Set(workers.map(({ generation }) => generation))].sort((a, b) => a - b)
  return generations.map(generation => {
    const those = workers.filter(worker => worker.generation === generation)
    return { generation, app: those[0].app, count: those.length }
  })
}

/** @param {NonNullable<Status['memory']>} memory */
function limitLine ({ source, limitBytes, usedBytes, pressure, oomKills }) {
  const some = pressure?.some ?? 0
  const waited = some > 0 ? `, ${Math.round(100 * some)}% of the time waited for` : ''
  return `${formatSize(usedBytes)} used of the limit of ${formatSize(limitBytes)} ` +
    `(${source})${waited}${oomKills > 0 ? `, ${count(oomKills, 'process', 'processes')} killed by the kernel` : ''}`
}

/**
 * @param {Column[]} columns @param {Worker[]} workers @param {number} width
 * @returns {string[]} the heading and a line for each
 */
function fit (columns, workers, width) {
  const lines = layOut(columns, workers.map(worker => columns.map(({ cell }) => cell(worker))), width)
  const [first] = columns.filter(({ dispensable }) => dispensable)
    .sort((a, b) => Number(a.dispensable) - Number(b.dispensable))
  return first && lines.some(line => line.length > width)
    ? fit(columns.filter(column => column !== first), workers, width)
    : lines
}

/**
 * @param {{ name: string, pid: number | null, app: string | null, rssBytes?: number,
 *   totals: Pick<Status['totals'], 'ready' | 'workers' | 'recycles'> | null }[]} fleets `totals`, null: it does not
 *   answer
 * @param {{ width?: number }} [how] @returns {string} lines, each with its end
 */
function formatFleets (fleets, { width = Infinity } = {}) {
  const rows = fleets.map(({ name, pid, app, totals, rssBytes = 0 }) => totals === null
    ? [name, orDash(pid), 'does not answer', '–', '–', app ?? '–']
    : [name, orDash(pid), `${totals.ready} of ${totals.workers}`,
        rssBytes > 0 ? formatSize(rssBytes) : '–', short(totals.recycles), String(app)])
  const lines = layOut(['name<', 'pid', 'ready<', 'RSS', 'recycles', 'app<'], rows, width)
  return lines.map(line => `${line.length > width ? `${line.slice(0, width - 1)}…` : line}\n`).join('')
}

/** @param {Worker} worker with a budget @returns {'red' | 'yellow' | 'green'} */
function colorOf (worker) {
  const share = (measured(worker) ?? 0) / Number(worker.budgetBytes)
  return share > 1 ? 'red' : share >= NEAR ? 'yellow' : 'green'
}

module.exports = { formatStatus, formatFleets, linesOfFeatures, headingOf, readyOf, rssOf, colorOf }
