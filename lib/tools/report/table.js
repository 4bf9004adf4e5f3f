'use strict'

/** The report for a terminal, in 80 columns: the verdict, then recycles, crashes, drops, disagreements and latency. */

const { FEATURES } = require('../../features')
const { reportPartOf } = require('../../features/by-name')
const { painter } = require('../../journal/painter')
const { escapeControls } = require('../../core/escape-controls')
const { count, formatTime, grouped } = require('../../core/units')
const { dropGroups, hintOf } = require('./drop-groups.cjs')
const { WIDTH, clip, layOut, mib, orDash, short, wrap } = require('../../core/grid')
const { remarksOf } = require('./remarks.cjs')
/** @import { Report } from './' */

/** @typedef {ReturnType<typeof painter>} Paint */

/** @param {Report} report @param {{ colors?: boolean }} [how] @returns {string} lines of text, each with its end */
function formatReport (report, { colors = false } = {}) {
  const paint = painter(colors)
  const parts = [
    [
      ...wrap(report.verdict.text).map(line => paint(['bold', report.verdict.ok ? 'green' : 'red'], line)),
      ...about(report).map(line => paint('dim', line))
    ],
    recycles(report, paint),
    crashes(report, paint),
    drops(report, paint),
    disagreements(report, paint),
    latency(report, paint),
    pauses(report, paint),
    ...ofFeatures(report, paint),
    remarks(report, paint)
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

/**
 * @param {string[]} titles @param {string[][]} rows @param {Paint} paint
 * @param {{ omitted?: number, what?: string, each?: (line: string, at: number) => string }} [how] `omitted`: earlier
 *   rows, not listed
 * @returns {string[]} none where there are no rows
 */
function section (titles, rows, paint, { omitted = 0, what = 'earlier ones', each = line => line } = {}) {
  if (rows.length === 0) return []
  const [heading, ...lines] = layOut(titles, rows, WIDTH)
  const more = omitted > 0 ? [paint('dim', `and ${grouped(omitted)} ${what}`)] : []
  return [paint('dim', heading), ...lines.map(each), ...more]
}

/** @param {Report} report @param {Paint} paint */
function recycles ({ recycleEvents, recycleEventsOmitted: omitted }, paint) {
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
  return section(
    ['#', 'slot', 'old → new pid<', 'reason<', 'RSS MiB', 'ready', 'drain', 'flight', 'moved', 'cut'], rows, paint,
    { omitted, what: 'earlier ones that cut nothing', each: (line, at) => paintOf(recycleEvents[at], paint)(line) })
}

/**
 * For a worker that gave no account: from the requests known to be in flight to all of its connections.
 * @param {Report['recycleEvents'][number]} event
 */
function cutOf ({ cut, unaccounted, lost }) {
  return `${short(cut)}${unaccounted ? `–${short(Number(cut) + unaccounted)}` : lost ? '?' : ''}`
}

/** @param {Report['recycleEvents'][number]} event @param {Paint} paint @returns {(line: string) => string} */
function paintOf ({ cut, dropped, unaccounted }, paint) {
  if (cut || dropped) return line => paint('red', line)
  return line => unaccounted ? paint('yellow', line) : line
}

/** @param {Report} report @param {Paint} paint */
function crashes (report, paint) {
  const { crashEvents, crashEventsOmitted: omitted } = report
  const clock = clockOf(report)
  const rows = crashEvents.map(({ t, slot, pid, code, signal, oomKilled, connections, inFlight }) =>
    [
      clock(t), orDash(slot), orDash(pid),
      oomKilled ? 'OOM-killed' : signal === null ? `code ${orDash(code)}` : clip(escapeControls(signal), 12),
      connections === null ? '–' : grouped(connections), grouped(inFlight)
    ])
  return section(['crashed<', 'slot', 'pid', 'how<', 'connections', 'in flight'], rows, paint,
    { omitted, each: line => paint('yellow', line) })
}

/** @param {Report} report @param {Paint} paint */
function drops (report, paint) {
  const { drops, dropsOmitted: omitted, recycleEvents } = report
  if (drops.length === 0) return []
  const clock = clockOf(report)
  const cells = dropGroups(drops).map(drop => ({
    count: grouped(drop.count),
    time: clock(drop.t),
    error: clip(escapeControls(drop.error === 'status' ? `status ${orDash(drop.status)}` : drop.error), 23),
    request: escapeControls(`${drop.method ?? '–'} ${drop.path ?? '–'}`),
    recycle: `${recyclesOf(drop)}${drop.joinedBy === 'port' ? '*' : ''}`,
    phase: drop.phase
  }))
  const widest = (/** @type {'count' | 'error' | 'recycle'} */ name) =>
    Math.max(name.length, ...cells.map(cell => cell[name].length))
  const left = WIDTH - 14 - widest('count') - widest('error') - widest('recycle') - 5 - 10
  const rows = cells.map(({ time, count, error, request, recycle, phase }) =>
    [time, count, error, clip(request, left), recycle, phase])
  const lines = section(['dropped<', 'count', 'error<', 'request<', 'recycle<', 'phase<'], rows, paint,
    { omitted, each: line => paint('red', line) })
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

/** @param {Report} report @param {Paint} paint */
function disagreements ({ disagreements }, paint) {
  if (disagreements.length === 0) return []
  const rows = disagreements.map(({ recycle, client, supervisor }) =>
    [recycle === null ? 'outside any recycle' : `in recycle #${recycle}`, grouped(client), grouped(supervisor)])
  const [heading, ...lines] = layOut(['client and supervisor disagree<', 'client lost', 'supervisor cut'], rows, WIDTH)
  return [paint('yellow', heading), ...lines]
}

/** @param {Report} report @param {Paint} paint */
function latency ({ latency: { steady, recycling } }, paint) {
  const rows = Object.entries({ steady, recycling }).flatMap(([name, figures]) => figures === null
    ? []
    : [[
        name, ...[figures.p50, figures.p90, figures.p99, figures.p999, figures.max].map(milliseconds),
        grouped(figures.requests)
      ]])
  return section(['latency<', 'p50', 'p90', 'p99', 'p99.9', 'max', 'requests'], rows, paint)
}

/** @param {Report} report @param {Paint} paint */
function pauses ({ gc }, paint) {
  if (gc === null) return []
  const rows = Object.entries({
    scavenge: gc.scavenges, 'mark-sweep': gc.markSweeps
  }).map(([name, { count, totalMs, longestMs, share }]) =>
    [name, time(totalMs), milliseconds(longestMs), `${(100 * share).toFixed(2)}%`, grouped(count)])
  return [...section(['GC pauses<', 'total', 'longest', 'share of time', 'count'], rows, paint), paint('dim',
    `longest delay of an event loop: ${milliseconds(gc.longestLoopLagMs)}`)]
}

/** @param {Record<string, any>} report @param {Paint} paint @returns {string[][]} */
function ofFeatures (report, paint) {
  return FEATURES.flatMap(({ name, report: key }) => {
    if (key === undefined || report[key] === null) return []
    const omitted = report[`${key}Omitted`] ?? 0
    return [[
      ...reportPartOf(name).linesOf(report[key], { paint, width: WIDTH }),
      ...omitted > 0 ? [paint('dim', `and ${grouped(omitted)} earlier ones`)] : []
    ]]
  })
}

/** @param {Report} report @param {Paint} paint */
function remarks (report, paint) {
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
