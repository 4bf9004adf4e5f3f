'use strict'

/**
 * The events of the journal: one row an event. The log, the metrics, the report's audit, the live page and the test of
 * docs/journal.md read it; features add rows.
 *
 * @typedef {<Event extends keyof JournalFields>(event: Event, fields: JournalFields[Event]) => JournalLine<Event>}
 *   Recording writes a line
 * @typedef {JournalFields['fleet.warning']} Warning
 */

const { boundsOf } = require('../core/container-budget')
const { FEATURES, SIZE_WORDS, SUCCESSION, TASKS: OF_FEATURES } = require('../features')
const { REASONS, REPLACING } = require('../tables/reasons')
const { KILLS } = require('../core/kills')
const { OF_ORPHANS } = require('../core/orphan')
const { count, formatSize, formatTime } = require('../core/units')
const { FORMAT, sayAccounts, workerOf, sizes } = require('./format')
const { WARNINGS } = require('./warnings')
/** @import { Event, Format, Warned } from '../features' */
/** @import { JournalFields, JournalLine } from '../lines' */
/** @import { Line } from './sentence' */

const OOM = 'killed by the kernel, because memory ran out (SIGKILL)'

/** The fate of a worker for whose replacement there is no room. @type {Record<string, string>} */
const NO_ROOM = {
  surge: 'it starts all the same, because --max-unavailable is 0',
  wait: 'the worker stays until there is, because --max-unavailable is 0',
  'drain-first': 'the worker drains first'
}

/** Tasks for which a worker is out of rotation. @type {Record<string, string>} */
const TASKS = { collect: 'collect its garbage', ...OF_FEATURES }

/** Parts of an account that its own line alone tells, by field. @type {Record<string, string>} */
const DETAILS = {
  finished: 'finished', closedAfterResponse: 'closed after a response', closedIdle: 'closed idle',
  unacked: 'unacknowledged'
}

/** @typedef {Required<JournalLine<'fleet.scale'>>} Scaled */
/** How a sentence of `fleet.scale` ends. @type {Record<string, (line: Scaled, format: Format) => string>} */
const SCALE_REASONS = {
  memory: () => ', which is as many as the memory is enough for',
  adopted: () => '',
  ...SUCCESSION.reason && { [SUCCESSION.reason]: () => '' },
  ...SIZE_WORDS.reasons
}

/** @param {{ connections: number, inFlight: number }} line @returns {string} */
const holds = ({ connections, inFlight }) => `${count(connections, 'connection')}, ${inFlight} in flight`

/** @param {JournalFields['fleet.start']['options']} options @returns {string} */
function sayWorkers (options) {
  const bounds = boundsOf(options)
  return bounds ? `${options.workers} to ${count(Number(bounds.max), 'worker')}` : count(options.workers, 'worker')
}

/** @param {{ readyMs: number | null }} line @returns {string} */
const sayReady = ({ readyMs }) => readyMs === null ? '' : ` in ${formatTime(readyMs)}`

/** @param {{ hooks: readonly string[], options: Record<string, any> }} line @returns {string} */
const sayHooks = ({ hooks, options }) =>
  `hooks in workers: ${hooks.join(', ')}${options.plain ? '' : ' (--plain: the first three alone)'}`

/**
 * `ends`: of a drain, whose lines have the account.
 * @type {{ readonly [Name in keyof JournalFields]: Event<Name> & { ends?: 'recycle' | 'scale' | 'stop' } }}
 */
const EVENTS = {
  'fleet.start': {
    sentence: l => `recycle ${l.pid} starts ${sayWorkers(l.options)} of ${l.app}; ${sayHooks(l)}`
  },
  'fleet.ready': {
    sentence: l => `${l.listening.length > 0 ? `listening at ${l.listening.join(', ')}` : 'ready'}, ` +
      `${count(l.workers, 'worker')}${l.maxRssBytes === null ? '' : `, budget ${formatSize(l.maxRssBytes)} each`}`
  },
  'fleet.reload': { sentence: () => 'rolling reload' },
  'fleet.trial': {
    sentence: l => `${count(l.slots.length, 'worker')} of the new code ${l.slots.length === 1 ? 'joins' : 'join'}, ` +
      `on trial: slot ${l.slots.join(', ')}`
  },
  'fleet.rejected': {
    level: 'warn',
    sentence: l => `the new code is rejected: ${l.why}` + (l.isReplaced
      ? '; it is still on the disk, and a worker that is replaced runs it: put the code before back'
      : '')
  },
  'fleet.resumed': {
    level: 'warn', sentence: l => `supervisor ${l.oldPid} has exited; supervisor ${l.pid} runs the fleet again`
  },
  'fleet.left': { sentence: l => `the fleet is left to supervisor ${l.pid}` },
  'fleet.reloaded': { sentence: () => 'reloaded' },
  'fleet.address-closed': { sentence: l => `no worker listens on ${l.address} any more: it is closed` },
  'fleet.socket': {
    sentence: l => 'the app listens on the socket that recycle was given as descriptor ' +
      `${l.fd}${l.fdName === null ? '' : ` (${l.fdName})`}: ${l.address}`
  },
  'fleet.scale': {
    sentence: l => `scaling from ${l.from} to ${count(l.to, 'worker')}` +
      (Object.hasOwn(SCALE_REASONS, l.reason) ? SCALE_REASONS[l.reason](/** @type {Scaled} */ (l), FORMAT) : ''),
    counter: {
      name: 'scalings_total',
      help: 'Changes of the intended number of workers, by reason.',
      reasons: ['requested', ...Object.keys(SCALE_REASONS)]
    }
  },
  'fleet.signal': { sentence: l => `${l.signal} to the app in ${l.told} of ${count(l.workers, 'worker')}` },
  'fleet.unpin': { sentence: l => `${count(l.workers, 'worker')}, and from here on ${l.min} to ${l.max} by the load` },
  'fleet.control': { sentence: l => `the control socket is open again: ${l.path}` },
  'fleet.admin': { sentence: l => `metrics, readiness and a live page on ${l.url}` },
  'fleet.slept': {
    sentence: l => `the supervisor did not run for ${formatTime(l.sleptMs)} (a suspended machine, ` +
      'a paused container, SIGSTOP): what is judged by time begins anew'
  },
  'fleet.stopping': { sentence: () => 'stopping' },
  'fleet.stop': { sentence: l => `stopped after ${count(l.recycles, 'recycle')}` },
  'fleet.failed': { level: 'error', sentence: l => l.error },
  'fleet.warning': {
    level: 'warn',
    sentence: l =>
      Object.hasOwn(WARNINGS, l.warning) ? WARNINGS[l.warning](/** @type {Warned} */ (l), FORMAT) : l.warning
  },
  'worker.spawn': { level: 'debug', sentence: l => `${l.adopted ? 'adopted' : 'spawned'} ${workerOf(l)}` },
  ...OF_ORPHANS,
  'fleet.adopted': {
    level: 'warn',
    sentence: l => `supervisor ${l.oldPid} has died; for ${formatTime(l.gapMs)} ${count(l.workers.length, 'worker')} ` +
      `served on without one, and supervisor ${l.pid} has adopted and replaces ` +
      `${l.workers.length === 1 ? 'it' : 'them'}`
  },
  'worker.standby': { sentence: l => `standby ready ${workerOf(l)}${sayReady(l)}` },
  'worker.ready': {
    level: l => l.oldPid ? 'debug' : 'info', // else `recycled` says it
    sentence: l => `ready ${workerOf(l)}${sayReady(l)}`,
    duration: {
      name: 'worker_ready_duration_seconds', help: "From a worker's spawn until it was ready.", field: 'readyMs'
    }
  },
  'worker.condemn': {
    level: l => REASONS.get(l.reason)?.isCommand ? 'debug' : 'info',
    sentence: l => `${REASONS.get(l.reason)?.isCommand ? 'to be replaced' : 'condemned'} ${workerOf(l)}: ` +
      `${l.cause ? `${l.cause}; ` : ''}${REASONS.get(l.reason)?.sentence?.(l, FORMAT) ?? l.reason}`
  },
  'worker.budget': {
    sentence: l => `${workerOf(l)} has a budget of ${formatSize(Number(l.budget.softBytes ?? l.budget.hardBytes))} ` +
      `(${l.budget.metric}) from here on`
  },
  'worker.no-room': {
    level: 'warn', sentence: l => `no room in memory for a replacement beside ${workerOf(l)}: ${NO_ROOM[l.how]}`
  },
  'worker.keep': { sentence: l => `${workerOf(l)} stays in service` },
  'worker.out-of-rotation': {
    sentence: l => `out of rotation ${workerOf(l)} to ${TASKS[l.task] ?? l.task}: ${holds(l)}`
  },
  'worker.in-rotation': {
    sentence: l => `back in rotation ${workerOf(l)} after ${formatTime(l.outMs)}, ${count(l.moved, 'connection')} ` +
      `moved${l.why ? `; nothing was done: ${l.why}` : ''}`
  },
  cpuprofile: { sentence: l => `CPU profile of ${workerOf(l)}: ${l.file}, ${formatTime(l.tookMs)}` },
  'worker.request': { sentence: l => `${workerOf(l)} asks to be recycled${l.reason ? `: ${l.reason}` : ''}` },
  'worker.paused': {
    sentence: l => `out of rotation ${workerOf(l)}: ${l.why}; ${holds(l)}`
  },
  'worker.resumed': {
    sentence: l => `back in rotation ${workerOf(l)} after ${formatTime(l.outMs)}${l.why ? `: ${l.why}` : ''}`
  },
  'worker.threw': { level: 'warn', sentence: l => `${workerOf(l)}: the app has thrown in ${l.where}: ${l.error}` },
  'worker.protocol-error': {
    level: 'warn',
    sentence: l => `${workerOf(l)} sent an invalid message (${l.type}): ${l.flaw}; the worker is replaced`
  },
  'worker.drain': {
    level: 'debug', sentence: l => `draining ${workerOf(l)}: ${holds(l)}`
  },
  'worker.retire': {
    level: l => KILLS.get(l.killedFor)?.level ?? (l.killedFor || l.oomKilled ? 'info' : 'debug'),
    sentence: l => l.killedFor
      ? `killed ${workerOf(l)}: ${KILLS.get(l.killedFor)?.say}`
      : `retired ${workerOf(l)}${l.oomKilled ? `: ${OOM}` : ''}`
  },
  'worker.crash': {
    level: 'warn',
    sentence: l => `crashed ${workerOf(l)}: ${l.oomKilled ? OOM : l.error ?? l.signal ?? `code ${l.code}`}, ` +
      `${count(l.connections, 'connection')}, ${inFlightOf(l)}${outcomeOf(l)}`,
    counter: { name: 'worker_crashes_total', help: 'Workers that exited unexpectedly.' }
  },
  'worker.children': {
    sentence: l => `${count(l.ended, 'process', 'processes')} ` +
      `that ${l.slot === null ? `process ${l.pid}` : workerOf(l)} had started ${l.ended === 1 ? 'was' : 'were'} ` +
      `ended after it${l.killed ? `, ${l.killed} of them by SIGKILL` : ''}: ${l.commands.join(', ')}`
  },
  'worker.not-ready': {
    level: 'warn',
    sentence: l => `no ${l.slot === null ? 'standby' : `${l.oldPid ? 'replacement' : 'worker'} for slot ${l.slot}`}: ` +
      `${l.why}; ${l.oldPid ? 'the old worker stays, ' : ''}next try in ${formatTime(l.nextTryMs)}`,
    counter: { name: 'replacements_failed_total', help: 'Replacements that did not become ready.' }
  },
  recycled: {
    sentence: l => `${l.ended === 'crashed' ? 'replaced' : 'recycled'} slot ${l.slot}, ${l.oldPid} → ${l.pid} ` +
      `(${l.reason}): ${account(l)} in ${formatTime(l.drainMs)}, ${sizes(l)}`,
    counter: { name: 'recycles_total', help: 'Workers that were replaced, by reason.', reasons: REPLACING },
    duration: {
      name: 'recycle_duration_seconds',
      help: 'From the spawn of a replacement until the old worker was gone.',
      field: 'tookMs'
    },
    ends: 'recycle'
  },
  scaled: { sentence: l => `closed slot ${l.slot}: ${account(l)}`, ends: 'scale' },
  stopped: {
    sentence: l => `${REASONS.get(l.reason)?.ended ?? 'stopped'} ` +
      `${l.slot === null ? 'a standby' : `slot ${l.slot}`}: ${account(l)}`,
    ends: 'stop'
  },
  'worker.sample': { level: 'quiet' },
  'fleet.memory': { level: 'quiet' },
  'journal.gap': {},
  'journal.end': {},
  'journal.begin': {},
  ...Object.assign({}, ...FEATURES.map(({ events }) => events))
}

/** @param {Line} l of a journal that may be older */
function inFlightOf ({ inFlight, requestsInFlight = [] }) {
  const [latest, ...others] = requestsInFlight
  const known = requestsInFlight.reduce((/** @type {number} */ sum, /** @type {{ count: number }} */ { count }) =>
    sum + count, 0)
  return `${Math.max(inFlight, known)} in flight` +
    (latest ? ` (${latest.request}${others.length > 0 ? ', …' : ''})` : '')
}

/** @param {Line} l @returns {string} what has become of its connections */
function outcomeOf ({ moved, replayed, answered, cut }) {
  if (moved === undefined || moved + replayed + answered + cut === 0) return ''
  const parts = [`${count(moved + replayed, 'connection')} went on in other workers`]
  if (replayed > 0) parts.push(`${replayed} of them with ${replayed === 1 ? 'its request' : 'their requests'}`)
  if (answered > 0) parts.push(`${answered} got 502`)
  if (cut > 0) parts.push(`${cut} ${cut === 1 ? 'was' : 'were'} cut`)
  return `; ${parts.join(', ')}`
}

/** @param {Line} l */
function account (l) {
  const ended = l.ended === 'crashed'
    ? ['the worker crashed']
    : l.lost ? ['the worker gave no account'] : l.ended === 'killed' ? ['the worker was killed at --kill-timeout'] : []
  return [...sayAccounts([l], DETAILS), ...ended].join(', ')
}

/** Events that end the account of a drain, and of what. @type {ReadonlyMap<string, 'recycle' | 'scale' | 'stop'>} */
const ENDS = new Map(Object.entries(EVENTS).flatMap(([event, { ends }]) => ends ? [[event, ends]] : []))

module.exports = { EVENTS: /** @type {Readonly<Record<string, Event>>} */ (EVENTS), ENDS }
