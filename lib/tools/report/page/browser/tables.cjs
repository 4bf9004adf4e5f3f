'use strict'

const { h } = require('./element.cjs')
const { dropGroups, hintOf } = require('../../drop-groups.cjs')
const { figuresRow, grid, ofFigures } = require('./grid.cjs')
const { NAMES, isLeaving } = require('./moment.cjs')
const { NONE, whole, size, time, timeOf, cutOf, plural } = require('./format.cjs')

const MOST_LISTED = 6

const field = (title, name, text = value => value === null ? NONE : String(value)) =>
  column(title, item => item[name], item => text(item[name]))

/** Of figures. @param {(item: any) => any} value by which rows are sorted @param {(item: any) => string} text */
const column = (title, value, text) => ({ title, value, text })

const words = column => ({ ...column, left: true })
const long = column => ({ ...column, left: true, isLong: true })

const section = (title, ...children) => h('section', {}, [h('h2', {}, [title]), ...children])

/**
 * A section with a table of these; null where there are none.
 * @param {{ omitted?: number, classOf?: (item: any) => string, hint?: string | null }} [how] `omitted`: earlier ones
 */
function listing (title, caption, columns, items, { omitted = 0, classOf, hint = null } = {}) {
  if (items.length === 0) return null
  return section(title, hint && h('p.hint', {}, [hint]), grid(caption, columns, items, classOf), omitted > 0
    ? h('p.hint', {}, [`and ${plural(omitted, 'earlier one')} that the report does not list`])
    : null)
}

function recycles (report) {
  const { recycleEvents, recycleEventsOmitted: omitted } = report
  return listing('Recycles', 'Every worker that was replaced', [
    ...began(report),
    column('Old → new pid', ({ oldPid }) => oldPid, ({ oldPid, pid }) => `${oldPid ?? NONE} → ${pid ?? NONE}`),
    REASON,
    column('RSS', ({ rssBefore }) => rssBefore, ({ rssBefore, rssAfter }) =>
      rssBefore === null ? NONE : `${size(rssBefore)} → ${size(rssAfter)}`),
    field('Ready in', 'readyMs', time),
    ...drained(report)
  ], recycleEvents.filter(({ kind }) => !isLeaving(kind)), { omitted, classOf: rowClass })
}

/** Workers without a successor: they are no recycles. */
function departures (report) {
  return listing('Left without a replacement', 'Every worker that left without a replacement',
    [...began(report), field('Pid', 'oldPid'), REASON, ...drained(report)],
    report.recycleEvents.filter(({ kind }) => isLeaving(kind)), { classOf: rowClass })
}

const began = report => [field('#', 'id'), field('Began', 'beganAt', timeOf(report)), field('Slot', 'slot')]

const REASON = words(column('Reason', event => event.reason,
  ({ kind, reason }) => `${reason ?? NONE}${kind === 'unfinished' ? ' (unfinished)' : ''}`))

function drained ({ dropped }) {
  return [
    field('Drained in', 'drainMs', time),
    field('In flight', 'inFlight', whole),
    field('Moved', 'moved', whole),
    column('Cut', event => event.cut, cutOf),
    ...dropped === null ? [] : [field('Dropped', 'dropped', whole)]
  ]
}

const rowClass = event => event.cut > 0 || event.dropped > 0 || event.unaccounted > 0 ? 'bad' : ''

function drops (report) {
  const { drops, dropsOmitted: omitted, recycleEvents } = report
  const at = timeOf(report)
  const kinds = new Map(recycleEvents.map(({ id, kind }) => [id, NAMES[kind].toLowerCase()]))
  const hint = hintOf(drops, recycleEvents, time)
  return listing('Dropped requests',
    'Requests that got no complete response with an expected status; equal ones are one row', [
      field('Count', 'count', whole),
      column('Time', ({ t }) => t, ({ t, last }) => at(t) === at(last) ? at(t) : `${at(t)} to ${at(last)}`),
      words(column('Error', ({ error }) => error,
        ({ error, status }) => status === null ? error : `${error} ${status}`)),
      words(field('Method', 'method')),
      long(field('Path', 'path')),
      long(column('During', ({ recycle }) => recycle, ({ recycles, crashed }) =>
        listed([...recycles], id => `${kinds.get(id) ?? 'recycle'} #${id}`) ?? (crashed ? 'a crash' : 'no recycle'))),
      words(field('Phase', 'phase')),
      column('Slot', ({ slot }) => slot, ({ slots }) => listed([...slots].sort((a, b) => a - b), String) ?? NONE),
      words(field('Joined by', 'joinedBy'))
    ], dropGroups(drops), { omitted, hint })
}

/** @param {number[]} items @param {(item: number) => string} say @returns {string | null} null: there are none */
function listed (items, say) {
  if (items.length === 0) return null
  const more = items.length > MOST_LISTED ? ` and ${items.length - MOST_LISTED} more` : ''
  return `${items.slice(0, MOST_LISTED).map(say).join(', ')}${more}`
}

function crashes (report) {
  const { crashEvents, crashEventsOmitted: omitted } = report
  return listing('Crashes', 'Every worker that exited unexpectedly', [
    field('Time', 't', timeOf(report)),
    field('Slot', 'slot'),
    field('Pid', 'pid'),
    words(column('How', ({ signal, code }) => signal ?? code,
      ({ oomKilled, signal, code }) => oomKilled ? 'OOM-killed' : signal ?? `exit code ${code}`)),
    field('Connections', 'connections', whole),
    field('In flight', 'inFlight', whole)
  ], crashEvents, { omitted })
}

const what = ({ name, message }) => `${name}: ${message}`

function exceptions ({ exceptions }) {
  return listing('Uncaught exceptions', 'Exceptions that the app has not caught, and that have not ended its worker; ' +
    'those of one name and place are one row', [
    field('Count', 'count', whole),
    long(column('Exception', what, what)),
    long(field('Thrown by', 'request'))
  ], exceptions?.kinds ?? [])
}

function disagreements ({ disagreements }) {
  return listing('Where client and supervisor disagree', 'Requests lost, by the client and by the supervisor', [
    words(field('During', 'recycle', id => id === null ? 'no recycle' : `recycle #${id}`)),
    field('The client lost', 'client', whole),
    field('The supervisor cut', 'supervisor', whole)
  ], disagreements)
}

function latency ({ latency: { steady, recycling } }) {
  const rows = [['Steady state', steady], ['While recycling', recycling]].filter(([, figures]) => figures !== null)
  if (rows.length === 0) return null
  const ratio = steady && recycling
    ? ['p50', 'p90', 'p99', 'p999', 'max'].map(name => recycling[name] / steady[name])
    : null
  return section('Latency', ofFigures('Latency', 'Percentiles in steady state, and while a worker was being replaced',
    ['p50', 'p90', 'p99', 'p99.9', 'max', 'requests'], [
      ...rows.map(([name, { p50, p90, p99, p999, max, requests }]) =>
        figuresRow(name, [...[p50, p90, p99, p999, max].map(time), whole(requests)])),
      ratio && figuresRow('Ratio',
        [...ratio.map(value => Number.isFinite(value) ? `${value.toFixed(2)}×` : NONE), null], 'tr.ratio')
    ]), ratio && h('p.hint.below', {}, ['Ratio: while recycling, divided by steady state. A request counts as “while ' +
    'recycling” if a worker was being replaced while it ran: a worker that starts takes CPU time of the others, ' +
    'and a request that moves waits. A high ratio at p99 or above is of a few requests; “max” is one in each row.']))
}

function pauses ({ gc }) {
  if (gc === null) return null
  const rows = [['Scavenges', gc.scavenges], ['Mark-sweeps', gc.markSweeps]]
  return section('Garbage collection', ofFigures('Garbage collection',
    "Pauses of the workers by garbage collection, and their share of the workers' time",
    ['total', 'longest', 'share of time', 'count'], rows.map(([name, { count, totalMs, longestMs, share }]) =>
      figuresRow(name, [time(totalMs), time(longestMs), `${(100 * share).toFixed(2)} %`, whole(count)]))),
  h('p.hint.below', {}, [`Longest delay of an event loop: ${time(gc.longestLoopLagMs)}`]))
}

function routes ({ memoryByRoute }) {
  if (memoryByRoute === null) return null
  const { text, routes, points, markSweeps } = memoryByRoute
  const known = (title, name, shown) =>
    column(title, route => route[name], route => route.bytesPerRequest === null ? NONE : shown(route))
  const interval = ({ low, high }) => low === null ? `at most ${size(high)}` : `${signed(low)} to ${signed(high)}`
  return section('Memory by route', h('p.hint', {},
    [`${text[0].toUpperCase()}${text.slice(1)}.`]), grid('Memory that requests keep, by route', [
    long(field('Route', 'route')),
    field('Requests', 'requests', whole),
    known('Kept per request', 'bytesPerRequest', ({ bytesPerRequest }) => signed(bytesPerRequest)),
    known('99.9 % interval', 'low', interval),
    column('In all', inAll, route => size(inAll(route))),
    words(field('Verdict', 'leaks', leaks => leaks ? 'leaks' : 'not enough evidence'))
  ], routes, ({ leaks }) => leaks ? 'bad' : ''), h('p.hint.below', {}, ['Beyond what requests of the other routes ' +
    `keep. The intervals hold for all routes at once. From ${plural(points, 'sample')} of live memory after ` +
    `collections, ${plural(markSweeps, 'mark-sweep')} among them.`]))
}

const inAll = ({ leaks, bytesPerRequest, requests }) => leaks ? bytesPerRequest * requests : null

const signed = bytes => bytes < 0 ? `−${size(-bytes)}` : size(bytes)

function heapdumps (report) {
  const { heapdumps, heapdumpsOmitted: omitted } = report
  return listing('Heap snapshots', 'Heap snapshots that were written', [
    field('Time', 't', timeOf(report)),
    field('Slot', 'slot'),
    field('Pid', 'pid'),
    words(field('Reason', 'reason')),
    field('Size', 'bytes', size),
    field('Pause', 'pauseMs', time),
    long(field('File', 'file'))
  ], heapdumps, { omitted })
}

/** Studies of leaks: those of a report. */
function leaks (report) {
  const { leakStudies, leakStudiesOmitted: omitted } = report
  return listing('Studies of leaks', 'Studies of leaks, and what each has found', [
    field('Time', 't', timeOf(report)),
    field('Slot', 'slot'),
    field('Pid', 'pid'),
    words(field('By', 'by')),
    long(field('Found', 'sentences', sentences => sentences.join('; ')))
  ], leakStudies, { omitted, classOf: ({ verdict }) => verdict === 'grows' ? 'bad' : '' })
}

module.exports = {
  recycles, departures, drops, crashes, exceptions, disagreements, latency, pauses, routes, heapdumps, leaks
}
