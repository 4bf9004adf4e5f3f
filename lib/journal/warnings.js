'use strict'

/** The sentences of `fleet.warning`, by its `warning`; features add theirs. */

const { FEATURES, SUCCESSION } = require('../features')
const { nameOf, listUneven } = require('../core/address')
const { sayCrashing } = require('../core/crashes')
const { sayIfReplaced } = require('../core/errors')
const { sayPrimaryBranch } = require('../core/start-failure')
const { count, formatSize, formatTime } = require('../core/units')
const { WHY_STAYED } = require('../core/why-stayed')
const { workerOf } = require('./format')
/** @import { Format, Warned } from '../features' */

/** @type {Record<string, (line: Warned, format: Format) => string>} */
const WARNINGS = {
  'mapped-files': l => `${workerOf(l)}: most of what it has grown by, to ${formatSize(l.bytes)} (${l.metric}), ` +
    'are pages of files that it has mapped, which no recycle frees: what counts is its anonymous memory, ' +
    `${formatSize(l.anonBytes)} now; --metric anon has it so from the start`,
  'fresh-over-budget': l => `slot ${l.slot}: ${sayFreshOverBudget(l)}`,
  'rollout-stopped': l => `the reload is stopped: ${l.failures} replacements in a row did not become ` +
    `ready${l.why ? `: ${l.why}` : ''}; the old workers stay in service${sayIfReplaced(l)}`,
  'few-workers': l => `${count(l.workers, 'worker')} and not 2×CPU+1, which is ${l.desired}: ${limitOf(l)} ` +
    `is not enough for more${l.freshBytes ? `, as a worker takes ${formatSize(l.freshBytes)} when it is new` : ''}; ` +
    '--workers takes a number',
  'over-committed': l => `${l.workers} workers and ${l.beside} beside them may take ${formatSize(l.softBytes)} each, ` +
    `more than ${limitOf(l)} has room for, which is ${count(l.fitting, 'worker')}: the kernel may kill a worker ` +
    'before its budget replaces it; lower --max-rss (auto computes it) or --workers',
  'memory-limit': l => `${formatSize(l.usedBytes)} are used of ${limitOf(l)}; workers are measured every ` +
    `${formatTime(l.nextLookMs)} until it is less`,
  'pid-1': l => 'recycle is PID 1, which inherits the processes that the app leaves behind, and cannot reap them: ' +
    `${l.why}; start the container with an init (docker run --init, tini, shareProcessNamespace)`,
  'kept-in-rotation': l => `${workerOf(l)} stays in rotation, as no other worker is: ${l.why}`,
  'primary-branch': l => `the main file has ${sayPrimaryBranch(l.branch)}: that code does not run`,
  'shell-as-init': l => `PID 1 is ${l.command}, which does not wait for recycle at a stop, so that requests are ` +
    'lost: write CMD ["recycle", "app.js"], or begin the command with exec',
  'flags-after-app': l => `${l.flags.join(', ')} ` +
    `${l.flags.length === 1 ? 'stands after the app, which gets it' : 'stand after the app, which gets them'}; ` +
    `for recycle write: ${l.instead}; if ${l.flags.length === 1 ? 'it is' : 'they are'} the app's, ` +
    `write -- before${(l.answers ?? []).map(answer => `; ${answer}`).join('')}`,
  'misspelt-variables': l => l.variables.map(({ variable, meant }) =>
    `${variable} is not read; did you mean ${meant}?`).join(' '),
  'unread-stdin': l => `stdin has ${count(l.bytes, 'byte')} that the app does not get: workers have no stdin; ` +
    'have it read a file or a socket',
  journal: l => sayJournal(l),
  output: l => l.lost === 0
    ? `lines for ${l.stream} are lost from here on: ${l.why}`
    : `${count(l.lost, 'line')} for ${l.stream} ${l.lost === 1 ? 'was' : 'were'} lost; it is written again`,
  'output-gone': l => l.why === null
    ? `${l.stream} can be written to again; at least ${count(l.lost, 'write')} ${l.lost === 1 ? 'was' : 'were'} lost`
    : `${l.stream} cannot be written to (${l.why}), what comes is lost; requests are served on`,
  'not-operated': l => l.why,
  meter: l => `the memory of ${workerOf(l)} is judged by RSS alone for now: reading ${l.file} does not return`,
  'unix-socket': l => `the unix socket ${l.file}: ${l.why}`,
  'primary-failed': l => `recycle itself has failed (${l.what}) and goes on: ${l.why}`,
  'children-left': l => `${l.slot === null ? `process ${l.pid}` : workerOf(l)} has left processes in a session ` +
    `of their own, which are not ended: ${l.commands.join(', ')} (${l.pids.join(', ')})`,
  'on-demand': l => `${workerOf(l)} is ready without listening on ${l.addresses.map(String).map(nameOf).join(', ')}: ` +
    'its app opens that on demand, in another slot alone, or no more, and it is not waited for again',
  'no-revival': l => `--revive does nothing here: ${l.why}`,
  'release-kept': l => `the fleet goes on with ${l.app}: the supervisor before had rolled back, rejected or on trial ` +
    `${l.named}, to which the link leads; recycle reload runs that`,
  orphan: l => sayOrphan(l),
  copy: l => `the app has a recycle-supervisor of its own, ${l.found}, and this fleet is ${l.version}: ` +
    `what the app calls of recycle-supervisor/worker is that of ${l.version}`,
  'package-unkept': l => `the code of recycle that workers run cannot be read (${l.why}): a package that is replaced ` +
    'on disk under this fleet has its workers run other code',
  package: l => `the installed recycle is ${l.found ?? 'gone'}, this fleet runs ${l.version}: its workers run ` +
    `the code that it started with, until ${SUCCESSION.command}`,
  node: l =>
    `${l.was} is gone: workers run ${l.node === '/proc/self/exe' ? 'it still, as the kernel has it' : l.node}; ` +
      `${SUCCESSION.command} has the primary run the one on disk`,
  'uneven-addresses': l => 'the workers listen on different addresses: ' +
    listUneven(/** @type {Parameters<typeof listUneven>[0]} */ (l.addresses)),
  'unused-socket': l => `descriptor ${l.fd}${l.fdName === null ? '' : ` (${l.fdName})`}, ${l.address ?? 'a socket'} ` +
    `that recycle was given, is not used: ${l.why}`,
  descriptors: l => `${count(l.connections, 'open connection')}, ` +
    `and ${l.workers === 1 ? '1 worker has' : `${l.workers} workers have`} descriptors for ${l.capacity}; ` +
    "beyond that, clients wait in the kernel's queue: raise the hard limit (ulimit -Hn, LimitNOFILE=) or add workers",
  crashing: l => sayCrashing(/** @type {Parameters<typeof sayCrashing>[0]} */ (l)),
  stayed: l => `WebSockets or raw connections of ${workerOf(l)} could not go to another worker, and were closed: ` +
    `${/** @type {Record<string, string>} */ (WHY_STAYED)[l.why] ?? l.why}`,
  'no-server': l => `the app of ${workerOf(l)} has closed its servers and runs on: the worker takes no connections; ` +
    `recycle recycle ${l.slot} replaces it`,
  'no-handoff': l => `connections of ${l.key} cannot move: ${l.missing}; they are drained by Connection: close`,
  ...Object.assign({}, ...FEATURES.map(({ warnings }) => warnings))
}

/** @param {Warned} l */
const limitOf = l => `the memory limit of ${formatSize(l.limitBytes)} (${l.source})`

/** @param {{ bytes: number, softBytes: number | null, raisedBytes: number | null }} l */
function sayFreshOverBudget ({ bytes, softBytes, raisedBytes }) {
  return `a fresh worker already has ${formatSize(bytes)}, more than its budget of ${formatSize(Number(softBytes))}, ` +
    `and so would its replacement: workers are replaced above ${formatSize(Number(raisedBytes))} alone; raise --max-rss`
}

/** @param {{ orphan: number, why: string }} l */
function sayOrphan ({ orphan, why }) {
  return `worker ${orphan}, whose supervisor has died, is not adopted: ${why}`
}

/** @param {{ file: string, why: string }} l */
function sayJournal ({ file, why }) {
  return `the journal ${file} cannot be written: ${why}`
}

module.exports = { WARNINGS, sayFreshOverBudget, sayJournal, sayOrphan }
