'use strict'

/**
 * The supervisor's log, on stderr: the journal's events as sentences for people, or as pino's lines for machines.
 */

const util = require('node:util')
const { formatSize, formatTime } = require('../core/units')

/** @typedef {Record<string, any>} Line */

/** @type {Record<string, (line: Line) => string | null>} */
const SENTENCES = {
  'fleet.start': l => `recycle ${l.pid} starts ${l.options.workers} workers of ${l.app}`,
  'fleet.reload': () => 'rolling reload',
  'fleet.scale': l => `scaling from ${l.from} to ${l.to} workers`,
  'fleet.stopping': () => 'stopping',
  'fleet.stop': l => `stopped after ${l.recycles} recycles`,
  'fleet.failed': l => l.error,
  'fleet.warning': l => WARNINGS[l.warning]?.(l) ?? l.warning,
  'worker.spawn': l => `spawned ${who(l)}`,
  'worker.ready': l => `ready ${who(l)} in ${formatTime(l.readyMs)}`,
  'worker.condemn': l => `over budget ${who(l)}: ${because(l)}`,
  'worker.reprieve': l => `${who(l)} stays in service`,
  'worker.wish': l => `${who(l)} asks to be recycled${l.wish ? `: ${l.wish}` : ''}`,
  'worker.drain': l => `draining ${who(l)}: ${l.connections} connections, ${l.inFlight} in flight`,
  'worker.retire': l => `retired ${who(l)}`,
  'worker.crash': l => `crashed ${who(l)}: ${l.signal ?? `code ${l.code}`}, ${l.inFlight} in flight`,
  'worker.unready': l => `no replacement for slot ${l.slot}: ${l.why}; the old worker stays, next try in ${formatTime(l.nextTryMs)}`,
  recycled: l => `recycled slot ${l.slot}, ${l.oldPid} → ${l.pid} (${l.reason}): ${account(l)} in ${formatTime(l.drainMs)}, ${sizes(l)}`,
  scaled: l => `scaled slot ${l.slot} away: ${account(l)}`,
  stopped: l => `stopped slot ${l.slot}: ${account(l)}`
}

/** @type {Record<string, (line: Line) => string>} */
const WARNINGS = {
  'fresh-over-budget': l => `slot ${l.slot}: a fresh worker already has ${formatSize(l.bytes)}, more than its budget of ${formatSize(l.softBytes)}; raise --max-rss: until then workers are recycled ever more slowly`,
  'rollout-stopped': l => `the reload is stopped: ${l.failures} replacements in a row did not become ready; the old workers stay in service`,
  descriptors: l => `${l.connections} connections of the ${l.capacity} that the descriptors of ${l.workers} workers allow; from there on clients wait in the kernel's queue: raise the hard limit (ulimit -Hn, LimitNOFILE=) or add workers`,
  'no-handoff': l => `connections of ${l.key} cannot be moved on this Node, which lacks ${l.missing}: they are drained by Connection: close`
}

const LOUD = ['worker.crash', 'worker.unready', 'fleet.warning', 'fleet.failed']
const QUIET = ['worker.sample']

/**
 * @param {'pretty' | 'json' | 'silent'} format
 * @param {NodeJS.WriteStream} stream
 * @returns {(line: Line) => void}
 */
function openLog (format, stream) {
  if (format === 'silent') return () => {}
  return format === 'json' ? jsonLog(/** @type {any} */ (stream).fd) : prettyLog(stream)
}

/** @param {number} fd */
function jsonLog (fd) {
  const { pino } = require('pino')
  const { hostname } = require('node:os')
  const log = pino({ base: { name: 'recycle', hostname: hostname(), primary: process.pid } }, pino.destination({ dest: fd, sync: true }))
  return (/** @type {Line} */ line) => {
    if (QUIET.includes(line.event)) return
    const { v, t, ...fields } = line
    log[levelOf(line)](fields, sentence(line))
  }
}

/** @param {NodeJS.WriteStream} stream */
function prettyLog (stream) {
  const hasColours = stream.isTTY && stream.hasColors()
  const paint = (/** @type {Parameters<typeof util.styleText>[0]} */ style, /** @type {string} */ text) =>
    hasColours ? util.styleText(style, text, { validateStream: false }) : text
  return (/** @type {Line} */ line) => {
    if (QUIET.includes(line.event)) return
    const time = new Date(line.t).toTimeString().slice(0, 8)
    const text = sentence(line)
    const level = levelOf(line)
    stream.write(`${paint('dim', time)} ${level === 'info' ? text : paint(level === 'error' ? 'red' : 'yellow', text)}\n`)
  }
}

/** @param {Line} line */
function sentence (line) {
  return SENTENCES[line.event]?.(line) ?? line.event
}

/** @param {Line} line @returns {'info' | 'warn' | 'error'} */
function levelOf (line) {
  if (line.cut > 0 || line.event === 'fleet.failed') return 'error'
  return LOUD.includes(line.event) ? 'warn' : 'info'
}

/** @param {Line} l */
function who (l) {
  return `slot ${l.slot} (${l.pid})`
}

/** @param {Line} l */
function because (l) {
  switch (l.reason) {
    case 'rss':
    case 'hard-rss':
      return `${l.metric.toUpperCase()} ${formatSize(l.bytes)} of ${formatSize(l.reason === 'rss' ? l.softBytes : l.hardBytes)} (${l.reason})`
    case 'requests':
      return `${l.requests} requests`
    case 'age':
      return `${formatTime(l.ageMs)} in service`
    case 'stuck':
      return `its event loop has been stuck for ${formatTime(l.silentMs)}`
    default:
      return l.reason
  }
}

/** @param {Line} l */
function account (l) {
  const parts = [`${l.cut} cut`, `${l.moved} moved`]
  if (l.finished) parts.push(`${l.finished} finished`)
  if (l.closedAfterResponse) parts.push(`${l.closedAfterResponse} closed after a response`)
  if (l.closedIdle) parts.push(`${l.closedIdle} closed idle`)
  if (l.unacked) parts.push(`${l.unacked} unacknowledged`)
  if (l.lost) parts.push('it gave no account of itself')
  return parts.join(', ')
}

/** @param {Line} l */
function sizes (l) {
  return l.rssBefore === null || l.rssAfter === null ? 'RSS unknown' : `RSS ${formatSize(l.rssBefore)} → ${formatSize(l.rssAfter)}`
}

module.exports = { openLog }
