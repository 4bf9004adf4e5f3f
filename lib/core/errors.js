'use strict'

const { formatValue, shorten } = require('./format-value')

/** @typedef {(d: Record<string, any>) => string} Sentence */

/** Errors of which the user can correct the call. @type {Readonly<Record<string, Sentence>>} */
const OF_THE_CALL = {
  RECYCLE_BAD_OPTION: d => `${d.option} was given ${formatValue(d.given)}; it takes ${d.accepts}`,
  RECYCLE_UNKNOWN_OPTION: d => `unknown option ${formatValue(d.option)}; ${d.hint}`,
  RECYCLE_BAD_CONFIG: d => `the config file ${d.file} ${d.why}`,
  RECYCLE_BAD_USAGE: d => d.sentence,
  RECYCLE_NO_APP: d => `the app ${d.app} cannot be started: ${d.why}`,
  RECYCLE_METRIC_UNSUPPORTED: d =>
    `the meter ${d.meter} cannot read metric ${d.metric} here: it gives ${d.gives}; ${d.hint}`,
  RECYCLE_METER_UNSUPPORTED: d => `meter ${d.meter} does not work here: ${d.why}; use --meter auto`,
  RECYCLE_FORK_UNSUPPORTED: d => `${d.option} does not work here: ${d.why}; ${d.instead} does`,
  RECYCLE_JOURNAL: d => `the journal ${d.file} cannot be written: ${d.why}`,
  RECYCLE_UNREADABLE: d => `${d.file} cannot be read: ${d.why}`,
  RECYCLE_STICKY_TLS: d => `${d.option} does not work with the HTTPS server on ${d.address}: its connections cannot ` +
    'move between workers; terminate TLS in front of recycle',
  RECYCLE_UNWRITABLE: d => `${d.file} cannot be written: ${d.why}`,
  RECYCLE_NO_SLOT: d => `there is no slot ${formatValue(d.slot)}; the slots are ${d.slots}`,
  RECYCLE_CONTROL: d => `the control socket ${d.path} cannot be opened: ${d.why}`,
  RECYCLE_CONTROL_TAKEN: d => `the control socket ${d.path} belongs to a running ` +
    `fleet${d.pid ? `, pid ${d.pid}: recycle reload has it run new code; or` : ' that does not answer;'} ` +
    `give this one ${d.remedy}`,
  RECYCLE_ADMIN: d => `the admin server cannot listen on ${d.address}: ${d.why}`,
  RECYCLE_NO_FLEET: d => {
    const named = typeof d.name === 'string' ? `there is no fleet named ${formatValue(d.name)}; ` : ''
    const running = d.running
      ? `running: ${d.running}`
      : `no fleet is running, as far as ${d.folders} tells; one of another user or of a service with a folder of ` +
        'its own is found by --control <path> or RECYCLE_CONTROL_DIR'
    return `${named}${running}${d.orphans ?? ''}${d.distrusted ? `; ignored: ${d.distrusted}` : ''}`
  },
  RECYCLE_NO_ANSWER: d => `no fleet answers at ${d.path}: ${d.why}`,
  RECYCLE_SEVERAL_FLEETS: d => `several fleets are running: ${d.running}; select one by --name`,
  RECYCLE_UNDECIDED: d => `whether the new code is good is not known: ${d.why}; the workers before serve on`,
  RECYCLE_BAD_REQUEST: d => `the fleet does not understand the request: ${d.why}`
}

/** Errors of a run. @type {Readonly<Record<string, Sentence>>} */
const OF_THE_RUN = {
  RECYCLE_FORK_REFUSED: d => `no worker can be forked: ${d.why}`,
  RECYCLE_SESSION_TOO_LARGE: d => `the state of a session has ${d.bytes} bytes; transfer() takes ${d.most} at the most`,
  RECYCLE_APP_DIES: d => d.wasReady
    ? `no worker stays up: ${d.deaths} died as soon as they were ready, the last one ${d.how}`
    : `no worker becomes ready: ${d.deaths} died or gave up in a row, the last one ${d.how}`,
  RECYCLE_NOT_READY: d => `${d.what} did not become ready: ${d.why}; it is tried again`,
  RECYCLE_NOT_DONE: d => `${d.what} of slot ${d.slot} was not done: ${d.why}`,
  RECYCLE_OVERTAKEN: d => `the number of workers was changed to ${d.by} before the fleet had ${d.workers}`,
  RECYCLE_ROLLOUT_STOPPED: d => `the reload was stopped after ${d.failures} replacements in a row that did ` +
    `not become ready${d.why ? `: ${d.why}` : ''}; the old workers stay in service${sayIfReplaced(d)}`,
  RECYCLE_REJECTED: d => `the new code was rejected: ${d.why}; the workers before serve on`,
  RECYCLE_ON_TRIAL: d =>
    `a reload has new code on trial, for ${d.left} more; it ends sooner by recycle reload --promote, or --abort`,
  RECYCLE_NO_TRIAL: d => `${d.option}: no reload has new code on trial`,
  RECYCLE_NO_RELEASE: d => `there is no release to go back to: ${d.why}`,
  RECYCLE_FLEET_GONE: d => `the fleet ${d.name} ended before it answered`,
  RECYCLE_CUT_OFF: d => `the fleet closed the connection: ${d.why}`,
  RECYCLE_VERB_FAILED: d => `the fleet failed to carry out the request: ${d.why}`,
  RECYCLE_STOPPED: () => 'the fleet is stopping',
  RECYCLE_NOT_UPGRADED: d => `the supervisor was not upgraded: ${d.why}; this one runs the fleet as before`,
  RECYCLE_UPGRADED: d => `the fleet has a new supervisor, pid ${d.pid}`,
  RECYCLE_TAKEOVER_ENDED: d => `the fleet was not taken over: ${d.why}`,
  RECYCLE_PRIMARY_FAILED: d => `recycle itself has failed (${d.what}): ${d.why}`,
  RECYCLE_BAD_TRANSITION: d => `a worker cannot go from ${d.from} to ${d.to}`
}

const exiting = (/** @type {number} */ exitCode, /** @type {Readonly<Record<string, Sentence>>} */ sentences) =>
  Object.fromEntries(Object.entries(sentences).map(([code, sentence]) => [code, { exitCode, sentence }]))

/**
 * The catalogue of all errors that recycle throws on purpose. Only the command line turns them into a sentence and an
 * exit code.
 * @type {Readonly<Record<string, { exitCode: number, sentence: Sentence }>>}
 */
const CATALOGUE = Object.freeze({ ...exiting(2, OF_THE_CALL), ...exiting(1, OF_THE_RUN) })

/** An error of the catalogue. `code` is one of its keys; the sentence is made from `details`. */
class RecycleError extends Error {
  /** @param {string} code a key of the catalogue @param {Record<string, any>} [details] */
  constructor (code, details = {}) {
    super(CATALOGUE[code].sentence(bounded(details)))
    this.name = 'RecycleError'
    this.code = code
    this.exitCode = CATALOGUE[code].exitCode
    this.details = details
  }
}

/** Details that may be long: sentences and lists of recycle's own. */
const PROSE = ['why', 'how', 'accepts', 'sentence', 'running', 'distrusted']
const PROSE_CHARS = 1000

/**
 * Shortens details for the sentence: a value from the user may have any length.
 * @param {Record<string, unknown>} details
 */
function bounded (details) {
  return Object.fromEntries(Object.entries(details).map(([name, value]) =>
    [name, typeof value === 'string' ? shorten(value, PROSE.includes(name) ? PROSE_CHARS : undefined) : value]))
}

/** Of a reload that was stopped. @param {{ isReplaced?: boolean }} how */
function sayIfReplaced ({ isReplaced = false }) {
  return isReplaced ? '; a worker that must be replaced meanwhile runs the new code: mend it and reload' : ''
}

/** @param {string} sentence */
const badUsage = sentence => new RecycleError('RECYCLE_BAD_USAGE', { sentence })

/** @param {string} option as the user knows it @param {unknown} given @param {string} accepts */
const badOption = (option, given, accepts) => new RecycleError('RECYCLE_BAD_OPTION', { option, given, accepts })

/** @param {number | null} slot @param {string} what was asked for @param {string} why it was not done */
const notDone = (slot, what, why) => new RecycleError('RECYCLE_NOT_DONE', { slot, what, why })

module.exports = { sayIfReplaced, RecycleError, badUsage, badOption, notDone, CATALOGUE }
