'use strict'

/** The report for a terminal, in 80 columns: the verdict, then recycles, crashes, drops, disagreements and latency. */

const { FEATURES } = require('../../features')
const { reportPartOf } = require('../../features/by-name')
const { painter } = require('../../journal/painter')
const { escapeControls } = require('../../core/escape-controls')
const { count, formatTime, grouped } = require('../../core/units')
const { dropGroups, hintOf } = require('./drop-groups.cjs')
const { WIDTH, clip, mib, orDash, short, wrap } = require('../../core/grid')
const { paperOf } = require('./paper')
const { remarksOf } = require('./remarks.cjs')
/** @import { Report } from './' */

/** @typedef {ReturnType<typeof paperOf>} Paper */

/** @param {Report} report @param {{ colors?: boolean }} [how] @returns {string} lines of text, each with its end */
function formatReport (report, { colors = false } = {}) {
  const paper = paperOf(painter(colors), WIDTH)
  const { paint } = paper
  const parts = [
    [
      ...wrap(report.verdict.text).map(line => paint(['bold', report.verdict.ok ? 'green' : 'red'], line)),
      ...about(report).map(line => paint('dim', line))
    ],
    recycles(report, paper),
    crashes(report, paper),
    drops(report, paper),
    disagreements(report, paper),
    latency(report, paper),
    pauses(report, paper),
    ...ofFeatures(report, paper),
    remarks(report, paper)
  ]
  return parts.filter(part => part.length > 0).map(part => `${part.join('\n')}\n`).join('\n')
}

/** @param {Report} report */
function about ({ app, node, workers, from, to, byReason }) {
  const facts = []
  if (app !== null) facts.push(clip(escapeControls(app), 40, true))
  if (workers !== null) facts.push(count(workers, 'worker'))
  if (node !== null) facts.push(`Node ${clip(escapeControls(node), 16)}`)
  if (from !== null && to !== null) facts.push(formatTime(to - from))
  const reasons = Object.entries(byReason).map(([reason, count]) => `${count} ${clip(escapeControls(reason), 12)}`)
  return [facts, reasons.slice(0, 8)].filter(list => list.length > 0).map(list => clip(list.join(', '), WIDTH))
}

/** @param {Report} report @param {Paper} paper */
function recycles ({ recycleEvents, recycleEventsOmitted: omitted }, { table }) {
  const rows = recycleEvents.map(event => [
    `${event.id}`,
    orDash(event.slot),
    `${orDash(event.oldPid)} → ${orDash(event.pid)}`,
    clip(escapeControls(event.reason ?? '–'), 9),
    event.rssBefore === null ? '–' : `${mib(event.rssBefore)} → ${mib(event.rssAfter)}`,
    time(event.readyMs),
    time(event.drainMs),
    short(event.inFlight),
    short(event.moved),
    event.kind === 'unfinished' ? '–' : cutOf(event)
  ])
  const titles = ['#', 'slot', 'old → new pid<', 'reason<', 'RSS MiB', 'ready', 'drain', 'flight', 'moved', 'cut']
  const what = 'earlier ones that cut nothing'
  return table(titles, rows, { omitted, what, style: at => styleOf(recycleEvents[at]) })
}

/**
 * For a worker that gave no account: from the requests known to be in flight to all of its connections.
 * @param {Report['recycleEvents'][number]} event
 */
function cutOf ({ cut, unaccounted, lost }) {
  return `${short(cut)}${unaccounted ? `–${short(Number(cut) + unaccounted)}` : lost ? '?' : ''}`
}

/** @param {Report['recycleEvents'][number]} event */
const styleOf = ({ cut, dropped, unaccounted }) => cut || dropped ? 'red' : unaccounted ? 'yellow' : null

/** @param {Report} report @param {Paper} paper */
function crashes (report, { table }) {
  const { crashEvents, crashEventsOmitted: omitted } = report
  const clock = clockOf(report)
  const rows = crashEvents.map(({ t, slot, pid, code, signal, oomKilled, connections, inFlight }) =>
    [
      clock(t), orDash(slot), orDash(pid),
      oomKilled ? 'OOM-killed' : signal === null ? `code ${orDash(code)}` : clip(escapeControls(signal), 12),
      connections === null ? '–' : grouped(connections), grouped(inFlight)
    ])
  return table(['crashed<', 'slot', 'pid', 'how<', 'connections', 'in flight'], rows, { omitted, style: 'yellow' })
}

/** @param {Report} report @param {Paper} paper */
function drops (report, { paint, table }) {
  const { drops, dropsOmitted: omitted, recycleEvents } = report
  if (drops.length === 0) return []
  const clock = clockOf(report)
  const rows = dropGroups(drops).map(drop => [
    clock(drop.t),
    grouped(drop.count),
    clip(escapeControls(drop.error === 'status' ? `status ${orDash(drop.status)}` : drop.error), 23),
    `${drop.method ?? '–'} ${drop.path ?? '–'}`,
    `${recyclesOf(drop)}${drop.joinedBy === 'port' ? '*' : ''}`,
    drop.phase
  ])
  const titles = ['dropped<', 'count', 'error<', 'request<…', 'recycle<', 'phase<']
  const lines = table(titles, rows, { omitted, style: 'red' })
  const note = drops.some(drop => drop.joinedBy === 'port')
    ? [paint('dim', '* joined by port with a request that the supervisor cut; the others by time alone')]
    : []
  const hint = hintOf(drops, recycleEvents, time)
  return [...lines, ...note, ...hint === null ? [] : wrap(hint)]
}

/** @param {ReturnType<typeof dropGroups>[number]} group */
function recyclesOf ({ recycles, crashed }) {
  const [first, ...others] = recycles
  if (first === undefined) return crashed ? 'crash' : '–'
  return others.length === 0 ? `#${first}` : `#${first} and ${others.length} more`
}

/** @param {Report} report @param {Paper} paper */
function disagreements ({ disagreements }, { table }) {
  const rows = disagreements.map(({ recycle, client, supervisor }) =>
    [recycle === null ? 'outside any recycle' : `in recycle #${recycle}`, grouped(client), grouped(supervisor)])
  return table(['client and supervisor disagree<', 'client lost', 'supervisor cut'], rows, { head: 'yellow' })
}

/** @param {Report} report @param {Paper} paper */
function latency ({ latency: { steady, recycling } }, { table }) {
  const rows = Object.entries({ steady, recycling }).flatMap(([name, figures]) => figures === null
    ? []
    : [[
        name, ...[figures.p50, figures.p90, figures.p99, figures.p999, figures.max].map(milliseconds),
        grouped(figures.requests)
      ]])
  return table(['latency<', 'p50', 'p90', 'p99', 'p99.9', 'max', 'requests'], rows)
}

/** @param {Report} report @param {Paper} paper */
function pauses ({ gc }, { paint, table }) {
  if (gc === null) return []
  const rows = Object.entries({
    scavenge: gc.scavenges, 'mark-sweep': gc.markSweeps
  }).map(([name, { count, totalMs, longestMs, share }]) =>
    [name, time(totalMs), milliseconds(longestMs), `${(100 * share).toFixed(2)}%`, grouped(count)])
  return [
    ...table(['GC pauses<', 'total', 'longest', 'share of time', 'count'], rows),
    paint('dim', `longest delay of an event loop: ${milliseconds(gc.longestLoopLagMs)}`)
  ]
}

/** @param {Record<string, any>} report @param {Paper} paper @returns {string[][]} */
function ofFeatures (report, paper) {
  return FEATURES.flatMap(({ name, report: key }) => {
    if (key === undefined || report[key] === null || report[key].length === 0) return []
    const omitted = report[`${key}Omitted`] ?? 0
    return [[
      ...reportPartOf(name).linesOf(report[key], paper),
      ...omitted > 0 ? [paper.paint('dim', `and ${grouped(omitted)} earlier ones`)] : []
    ]]
  })
}

/** @param {Report} report @param {Paper} paper */
function remarks (report, { paint }) {
  const said = remarksOf(report, { grouped, count, time: formatTime, clean: escapeControls })
  return said.flatMap(remark => wrap(remark)).map(remark => paint('dim', remark))
}

/** Texts of the terminal's report: figures as its cells have them. */

/** @param {number | null} ms */
const time = ms => ms === null ? '–' : formatTime(ms)

/** @param {number} ms */
const milliseconds = ms => ms < 10_000 ? `${Number(ms.toPrecision(3))}ms` : formatTime(ms)

/**
 * The local time of day; in a run of many hours with the date.
 * @param {{ from: number | null, to: number | null }} report @returns {(t: number) => string}
 */
function clockOf ({ from, to }) {
  const hasDate = Number(to) - Number(from) > 20 * 3_600_000
  return t => {
    const date = new Date(t)
    if (Number.isNaN(date.getTime())) return '–'
    const time = date.toTimeString().slice(0, 8)
    return hasDate
      ? `${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
      : `${time}.${`${date.getMilliseconds()}`.padStart(3, '0')}`
  }
}

/** @param {number} value */
const two = value => `${value}`.padStart(2, '0')

module.exports = { formatReport }
