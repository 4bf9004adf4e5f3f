'use strict'

/** The journal's events as sentences, for the log and for `recycle tail`. */

const { FEATURES, SUCCESSION, boundsOf } = require('../features')
const { nameOf, listUneven } = require('../core/address')
const { streamsCut } = require('../core/account')
const { painter } = require('./painter')
const { escapeControls } = require('../core/escape-controls')
const { sayCrashing } = require('../core/crashes')
const { REASONS } = require('../core/reasons')
const { sayPrimaryBranch } = require('../core/start-failure')
const { count, formatSize, formatTime } = require('../core/units')
/** @import { Event, Format, Level } from '../features' */

/** @typedef {Record<string, any>} Line */

const OOM = 'killed by the kernel, because memory ran out (SIGKILL)'

/** What becomes of a worker for whose replacement there is no room. @type {Record<string, string>} */
const NO_ROOM = {
  surge: 'it starts all the same, because --max-unavailable is 0',
  wait: 'the worker stays until there is, because --max-unavailable is 0',
  'drain-first': 'the worker drains first'
}

/** Why recycle itself has killed a worker. @type {Record<string, string>} */
const KILLED_FOR = {
  'not-ready': 'it did not become ready',
  'no-account': 'it did not say in time what became of its connections',
  'kill-timeout': 'its app had not ended within --kill-timeout of SIGTERM',
  unstarted: 'its app had not been run yet',
  blocked: 'its event loop was blocked'
}

/** What a worker is out of rotation for. @type {Record<string, string>} */
const TASKS = Object.assign({ collect: 'collect its garbage' }, ...FEATURES.map(({ tasks }) => tasks))

/** Reasons that a command, or the worker itself, gives. */
const ASKED_FOR = ['reload', 'requested', SUCCESSION.reason]

/** @type {Record<string, (line: Line) => string | null>} */
const SENTENCES = {
  'fleet.start': l => `recycle ${l.pid} starts ${boundsOf(l.options) ? `${l.options.workers} to ${count(Number(boundsOf(l.options)?.max), 'worker')}` : count(l.options.workers, 'worker')} of ${l.app}`,
  'fleet.ready': l => `${l.listening.length > 0 ? `listening at ${l.listening.join(', ')}` : 'ready'}, ${count(l.workers, 'worker')}${l.maxRssBytes === null ? '' : `, budget ${formatSize(l.maxRssBytes)} each`}`,
  'fleet.reload': () => 'rolling reload',
  'fleet.trial': l => `${count(l.slots.length, 'worker')} of the new code ${l.slots.length === 1 ? 'joins' : 'join'}, on trial: slot ${l.slots.join(', ')}`,
  'fleet.rejected': l => `the new code is rejected: ${l.why}${l.isReplaced ? '; it is still on the disk, and a worker that is replaced runs it: put the code before back' : ''}`,
  'fleet.resumed': l => `supervisor ${l.oldPid} has exited; supervisor ${l.pid} runs the fleet again`,
  'fleet.left': l => `the fleet is left to supervisor ${l.pid}`,
  'fleet.reloaded': () => 'reloaded',
  'fleet.address-closed': l => `no worker listens on ${l.address} any more: it is closed`,
  'fleet.socket': l => `the app listens on the socket that recycle was given as descriptor ${l.fd}${l.name === null ? '' : ` (${l.name})`}: ${l.address}`,
  'fleet.scale': l => `scaling from ${l.from} to ${count(l.to, 'worker')}${Object.hasOwn(OF_SCALING, l.reason) ? OF_SCALING[l.reason](l, FORMAT) : ''}`,
  'fleet.signal': l => `${l.signal} to the app in ${l.told} of ${count(l.workers, 'worker')}`,
  'fleet.unpin': l => `${count(l.workers, 'worker')}, and from here on ${l.min} to ${l.max} by the load`,
  'fleet.control': l => `the control socket is open again: ${l.path}`,
  'fleet.admin': l => `metrics, readiness and a live page on ${l.url}`,
  'fleet.slept': l => `the supervisor did not run for ${formatTime(l.sleptMs)} (a suspended machine, a paused container, SIGSTOP): what is judged by time begins anew`,
  'fleet.stopping': () => 'stopping',
  'fleet.stop': l => `stopped after ${count(l.recycles, 'recycle')}`,
  'fleet.failed': l => l.error,
  'fleet.warning': l => (Object.hasOwn(WARNINGS, l.warning) ? WARNINGS[l.warning](l, FORMAT) : null) ?? l.warning,
  'worker.spawn': l => `spawned ${workerOf(l)}`,
  'worker.standby': l => `standby ready ${workerOf(l)} in ${formatTime(l.readyMs)}`,
  'worker.ready': l => `ready ${workerOf(l)} in ${formatTime(l.readyMs)}`,
  'worker.condemn': l => `${ASKED_FOR.includes(l.reason) ? 'to be replaced' : 'condemned'} ${workerOf(l)}: ${l.cause ? `${l.cause}; ` : ''}${REASONS.get(l.reason)?.sentence?.(l, FORMAT) ?? l.reason}`,
  'worker.budget': l => `${workerOf(l)} has a budget of ${formatSize(l.budget.softBytes ?? l.budget.hardBytes)} (${l.budget.metric}) from here on`,
  'worker.no-room': l => `no room in memory for a replacement beside ${workerOf(l)}: ${NO_ROOM[l.how]}`,
  'worker.keep': l => `${workerOf(l)} stays in service`,
  'worker.out-of-rotation': l => `out of rotation ${workerOf(l)} to ${TASKS[l.task] ?? l.task}: ${l.connections} connections, ${l.inFlight} in flight`,
  'worker.in-rotation': l => `back in rotation ${workerOf(l)} after ${formatTime(l.outMs)}, ${l.moved} connections moved${l.why ? `; nothing was done: ${l.why}` : ''}`,
  cpuprofile: l => `CPU profile of ${workerOf(l)}: ${l.file}, ${formatTime(l.tookMs)}`,
  'worker.request': l => `${workerOf(l)} asks to be recycled${l.reason ? `: ${l.reason}` : ''}`,
  'worker.paused': l => `out of rotation ${workerOf(l)}: ${l.why}; ${l.connections} connections, ${l.inFlight} in flight`,
  'worker.resumed': l => `back in rotation ${workerOf(l)} after ${formatTime(l.outMs)}${l.why ? `: ${l.why}` : ''}`,
  'worker.threw': l => `${workerOf(l)}: the app has thrown in ${l.where}: ${l.error}`,
  'worker.protocol-error': l => `${workerOf(l)} sent an invalid message (${l.type}): ${l.flaw}; the worker is replaced`,
  'worker.drain': l => `draining ${workerOf(l)}: ${l.connections} connections, ${l.inFlight} in flight`,
  'worker.retire': l => l.killedFor ? `killed ${workerOf(l)}: ${KILLED_FOR[l.killedFor]}` : `retired ${workerOf(l)}${l.oomKilled ? `: ${OOM}` : ''}`,
  'worker.crash': l => `crashed ${workerOf(l)}: ${l.oomKilled ? OOM : l.error ?? l.signal ?? `code ${l.code}`}, ${l.connections} connections, ${inFlightOf(l)}${outcomeOf(l)}`,
  'worker.children': l => `${count(l.ended, 'process', 'processes')} that ${l.slot === null ? `process ${l.pid}` : workerOf(l)} had started ${l.ended === 1 ? 'was' : 'were'} ended after it${l.killed ? `, ${l.killed} of them by SIGKILL` : ''}: ${l.commands.join(', ')}`,
  'worker.not-ready': l => `no ${l.slot === null ? 'standby' : `${l.oldPid ? 'replacement' : 'worker'} for slot ${l.slot}`}: ${l.why}; ${l.oldPid ? 'the old worker stays, ' : ''}next try in ${formatTime(l.nextTryMs)}`,
  recycled: l => `${l.ended === 'crashed' ? 'replaced' : 'recycled'} slot ${l.slot}, ${l.oldPid} → ${l.pid} (${l.reason}): ${account(l)} in ${formatTime(l.drainMs)}, ${sizes(l)}`,
  scaled: l => `scaled slot ${l.slot} away: ${account(l)}`,
  stopped: l => `${l.reason === 'not-ready' ? 'gave up' : 'stopped'} ${l.slot === null ? 'a standby' : `slot ${l.slot}`}: ${account(l)}`
}

/** @type {Record<string, (line: Line, format: Format) => string>} */
const WARNINGS = {
  'mapped-files': l => `${workerOf(l)}: most of what it has grown by, to ${formatSize(l.bytes)} (${l.metric}), are pages of files that it has mapped, which no recycle frees: what counts is its anonymous memory, ${formatSize(l.anonBytes)} now; --metric anon has it so from the start`,
  'fresh-over-budget': l => `slot ${l.slot}: ${sayFreshOverBudget(l)}`,
  'rollout-stopped': l => `the reload is stopped: ${l.failures} replacements in a row did not become ready${l.why ? `: ${l.why}` : ''}; the old workers stay in service`,
  'few-workers': l => `${count(l.workers, 'worker')} and not 2×CPU+1, which is ${l.desired}: ${limitOf(l)} is not enough for more${l.freshBytes ? `, as a worker takes ${formatSize(l.freshBytes)} when it is new` : ''}; --workers takes a number`,
  'over-committed': l => `${l.workers} workers and ${l.beside} beside them may take ${formatSize(l.softBytes)} each, more than ${limitOf(l)} has room for, which is ${count(l.fitting, 'worker')}: the kernel may kill a worker before its budget replaces it; lower --max-rss (auto computes it) or --workers`,
  'memory-limit': l => `${formatSize(l.usedBytes)} are used of ${limitOf(l)}; workers are measured every ${formatTime(l.nextLookMs)} until it is less`,
  'pid-1': l => `recycle is PID 1, which inherits the processes that the app leaves behind, and cannot reap them: ${l.why}; start the container with an init (docker run --init, tini, shareProcessNamespace)`,
  'kept-in-rotation': l => `${workerOf(l)} stays in rotation, as no other worker is: ${l.why}`,
  'primary-branch': l => `the main file has ${sayPrimaryBranch(l.branch)}: that code does not run`,
  'shell-as-init': l => `PID 1 is ${l.command}, which does not wait for recycle at a stop, so that requests are lost: write CMD ["recycle", "app.js"], or begin the command with exec`,
  'flags-after-app': l => `${l.flags.join(', ')} ${l.flags.length === 1 ? 'stands after the app, which gets it' : 'stand after the app, which gets them'}; for recycle write: ${l.instead}; if ${l.flags.length === 1 ? 'it is' : 'they are'} the app's, write -- before${(l.answers ?? []).map((/** @type {string} */ answer) => `; ${answer}`).join('')}`,
  'misspelt-variables': l => l.variables.map((/** @type {any} */ { variable, meant }) => `${variable} is not read; did you mean ${meant}?`).join(' '),
  'unread-stdin': l => `stdin has ${count(l.bytes, 'byte')} that the app does not get: workers have no stdin; have it read a file or a socket`,
  journal: l => `the journal ${l.file} cannot be written: ${l.why}`,
  output: l => l.lost === 0 ? `lines for ${l.stream} are lost from here on: ${l.why}` : `${count(l.lost, 'line')} for ${l.stream} ${l.lost === 1 ? 'was' : 'were'} lost; it is written again`,
  'output-gone': l => l.why === null ? `${l.stream} can be written to again; at least ${count(l.lost, 'write')} ${l.lost === 1 ? 'was' : 'were'} lost` : `${l.stream} cannot be written to (${l.why}), what comes is lost; requests are served on`,
  'not-operated': l => l.why,
  meter: l => `the memory of ${workerOf(l)} is judged by RSS alone for now: reading ${l.file} does not return`,
  'unix-socket': l => `the unix socket ${l.file}: ${l.why}`,
  'primary-failed': l => `recycle itself has failed (${l.what}) and goes on: ${l.why}`,
  'children-left': l => `${l.slot === null ? `process ${l.pid}` : workerOf(l)} has left processes in a session of their own, which are not ended: ${l.commands.join(', ')} (${l.pids.join(', ')})`,
  'on-demand': l => `${workerOf(l)} is ready without listening on ${l.addresses.map(nameOf).join(', ')}: its app opens that on demand, in another slot alone, or no more, and it is not waited for again`,
  'package-unkept': l => `the code of recycle that workers run cannot be read (${l.why}): a package that is replaced on disk under this fleet has its workers run other code`,
  package: l => `the installed recycle is ${l.found ?? 'gone'}, this fleet runs ${l.version}: its workers run the code that it started with, until ${SUCCESSION.command}`,
  node: l => `${l.was} is gone: workers run ${l.node === '/proc/self/exe' ? 'it still, as the kernel has it' : l.node}; ${SUCCESSION.command} has the primary run the one on disk`,
  'uneven-addresses': l => `the workers listen on different addresses: ${listUneven(l.addresses)}`,
  'unused-socket': l => `descriptor ${l.fd}${l.name === null ? '' : ` (${l.name})`}, ${l.address ?? 'a socket'} that recycle was given, is not used: ${l.why}`,
  descriptors: l => `${l.connections} connections are open, and ${l.workers === 1 ? '1 worker has' : `${l.workers} workers have`} descriptors for ${l.capacity}; beyond that, clients wait in the kernel's queue: raise the hard limit (ulimit -Hn, LimitNOFILE=) or add workers`,
  crashing: l => sayCrashing(/** @type {any} */ (l)),
  'no-handoff': l => `connections of ${l.key} cannot move: ${l.missing}; they are drained by Connection: close`,
  ...Object.assign({}, ...FEATURES.map(({ warnings }) => warnings))
}

const LOUD = ['worker.crash', 'worker.no-room', 'worker.protocol-error', 'worker.threw', 'worker.not-ready', 'fleet.warning', 'fleet.failed', 'fleet.resumed', 'fleet.rejected']
const QUIET = ['worker.sample', 'fleet.memory']

/** @type {Record<string, Event>} */
const OF_FEATURES = Object.assign({}, ...FEATURES.map(({ events }) => events))
/** @type {Record<string, (line: Line, format: Format) => string>} */
const OF_SCALING = Object.assign({ memory: () => ', which is as many as the memory is enough for' }, ...FEATURES.map(({ scaleReasons }) => scaleReasons))
/** @type {Format} */
const FORMAT = { size: bytes => formatSize(Math.round(bytes)), time: formatTime, sizes, count, worker: workerOf }

/** Lines that are only in the journal. @param {Line} line */
function isQuiet (line) {
  return QUIET.includes(line.event) || featureLevel(line) === 'quiet'
}

/**
 * @param {Line} line @param {{ colors?: boolean }} [how]
 * @returns {string} the local time and the sentence, in colour by its level
 */
function prettyLine (line, { colors = false } = {}) {
  const paint = painter(colors)
  const time = new Date(line.t).toTimeString().slice(0, 8)
  const text = escapeControls(sentence(line))
  const level = levelOf(line)
  return `${paint('dim', time)} ${level === 'info' ? text : paint(level === 'error' ? 'red' : 'yellow', text)}`
}

/** @param {Line} line of any version: if it lacks a field of its sentence, the sentence is the event's name */
function sentence (line) {
  try {
    return (Object.hasOwn(SENTENCES, line.event)
      ? SENTENCES[line.event](line)
      : featureEvent(line)?.sentence?.(line, FORMAT)) ?? line.event
  } catch {
    return line.event
  }
}

/** @param {Line} line @returns {'info' | 'warn' | 'error'} */
function levelOf (line) {
  if (line.cut > streamsCut(line) || line.unaccounted > 0 || line.event === 'fleet.failed') return 'error'
  if (line.cut > 0) return 'warn'
  if (['no-account', 'kill-timeout', 'blocked'].includes(line.killedFor) || line.ended === 'killed' || line.ended === 'crashed') return 'warn'
  return LOUD.includes(line.event) || featureLevel(line) === 'warn' ? 'warn' : 'info'
}

/** @param {Line} line @returns {Event | undefined} */
function featureEvent ({ event }) {
  return Object.hasOwn(OF_FEATURES, event) ? OF_FEATURES[event] : undefined
}

/** @param {Line} line @returns {Level | undefined} */
function featureLevel (line) {
  const level = featureEvent(line)?.level
  return typeof level === 'function' ? level(line) : level
}

/** @param {Line} l */
function workerOf (l) {
  return `${l.slot === null ? 'standby' : `slot ${l.slot}`} (${l.pid})`
}

/** @param {Line} l of a journal that may be older */
function inFlightOf ({ inFlight, requestsInFlight = [] }) {
  const [latest, ...others] = requestsInFlight
  const known = requestsInFlight.reduce((/** @type {number} */ sum, /** @type {{ count: number }} */ { count }) =>
    sum + count, 0)
  return `${Math.max(inFlight, known)} in flight${latest ? ` (${latest.request}${others.length > 0 ? ', …' : ''})` : ''}`
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
function limitOf (l) {
  return `the memory limit of ${formatSize(l.limitBytes)} (${l.source})`
}

/** @param {Line} l */
function sayFreshOverBudget (l) {
  return `a fresh worker already has ${formatSize(l.bytes)}, more than its budget of ${formatSize(l.softBytes)}, and so would its replacement: workers are replaced above ${formatSize(l.raisedBytes)} alone; raise --max-rss`
}

/** @param {Line} l */
function account (l) {
  const streams = streamsCut(l)
  const parts = [`${l.cut - streams} cut`, `${l.moved} moved`]
  if (streams > 0) parts.push(`${count(streams, 'stream')} closed at the deadline`)
  if (l.finished) parts.push(`${l.finished} finished`)
  if (l.closedAfterResponse) parts.push(`${l.closedAfterResponse} closed after a response`)
  if (l.closedIdle) parts.push(`${l.closedIdle} closed idle`)
  if (l.unacked) parts.push(`${l.unacked} unacknowledged`)
  if (l.unaccounted) parts.push(`${l.unaccounted} unaccounted for`)
  if (l.ended === 'crashed') parts.push('the worker crashed')
  else if (l.lost) parts.push('the worker gave no account')
  else if (l.ended === 'killed') parts.push('the worker was killed at --kill-timeout')
  return parts.join(', ')
}

/** @param {Line} l */
function sizes (l) {
  return l.rssBefore === null || l.rssAfter === null ? 'RSS unknown' : `RSS ${formatSize(l.rssBefore)} → ${formatSize(l.rssAfter)}`
}

module.exports = { sayFreshOverBudget, sentence, prettyLine, levelOf, isQuiet }
