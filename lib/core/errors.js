'use strict'

const { shown, shorten } = require('./shown')

/**
 * The catalogue of all errors that recycle throws on purpose. Only the command line turns them into a sentence and an exit
 * code: 2 if the user can correct the call, 1 for a run that failed.
 *
 * @type {Readonly<Record<string, { exitCode: number, sentence: (d: Record<string, any>) => string }>>}
 */
const CATALOGUE = Object.freeze({
  RECYCLE_BAD_OPTION: {
    exitCode: 2,
    sentence: d => `${d.option} was given ${shown(d.given)}; it takes ${d.accepts}`
  },
  RECYCLE_UNKNOWN_OPTION: {
    exitCode: 2,
    sentence: d => `unknown option ${shown(d.option)}; ${d.hint}`
  },
  RECYCLE_BAD_CONFIG: {
    exitCode: 2,
    sentence: d => `the config file ${d.file} ${d.why}`
  },
  RECYCLE_BAD_USAGE: {
    exitCode: 2,
    sentence: d => d.sentence
  },
  RECYCLE_METRIC_UNSUPPORTED: {
    exitCode: 2,
    sentence: d => `the meter ${d.meter} cannot read metric ${d.metric} here: it gives ${d.gives}; ${d.hint}`
  },
  RECYCLE_METER_UNSUPPORTED: {
    exitCode: 2,
    sentence: d => `meter ${d.meter} does not work here: ${d.why}; use --meter auto`
  },
  RECYCLE_FORK_UNSUPPORTED: {
    exitCode: 2,
    sentence: d => `--fork mold does not work here: ${d.why}; --fork spawn does`
  },
  RECYCLE_JOURNAL: {
    exitCode: 2,
    sentence: d => `the journal ${d.file} cannot be written: ${d.why}`
  },
  RECYCLE_UNREADABLE: {
    exitCode: 2,
    sentence: d => `${d.file} cannot be read: ${d.why}`
  },
  RECYCLE_NO_APP: {
    exitCode: 1,
    sentence: d => `the app ${d.app} cannot be started: ${d.why}`
  },
  RECYCLE_FORK_REFUSED: {
    exitCode: 1,
    sentence: d => `no worker can be forked: ${d.why}`
  },
  RECYCLE_STICKY_TLS: {
    exitCode: 2,
    sentence: d => `--sticky does not work with the HTTPS server on ${d.address}: its connections cannot move between workers; terminate TLS in front of recycle`
  },
  RECYCLE_SESSION_TOO_LARGE: {
    exitCode: 1,
    sentence: d => `the state of a session has ${d.bytes} bytes; transfer() takes ${d.most} at the most`
  },
  RECYCLE_APP_DIES: {
    exitCode: 1,
    sentence: d => d.wasReady ? `no worker stays up: ${d.deaths} died as soon as they were ready, the last one ${d.how}` : `no worker becomes ready: ${d.deaths} died or gave up in a row, the last one ${d.how}`
  },
  RECYCLE_NOT_READY: {
    exitCode: 1,
    sentence: d => `${d.what} did not become ready: ${d.why}; it is tried again`
  },
  RECYCLE_NOT_DONE: {
    exitCode: 1,
    sentence: d => `${d.what} of slot ${d.slot} was not done: ${d.why}`
  },
  RECYCLE_UNWRITABLE: {
    exitCode: 2,
    sentence: d => `${d.file} cannot be written: ${d.why}`
  },
  RECYCLE_NO_SLOT: {
    exitCode: 2,
    sentence: d => `there is no slot ${shown(d.slot)}; the slots are ${d.slots}`
  },
  RECYCLE_ROLLOUT_STOPPED: {
    exitCode: 1,
    sentence: d => `the reload was stopped after ${d.failures} replacements in a row that did not become ready; the old workers stay in service`
  },
  RECYCLE_CONTROL: {
    exitCode: 2,
    sentence: d => `the control socket ${d.path} cannot be opened: ${d.why}`
  },
  RECYCLE_CONTROL_TAKEN: {
    exitCode: 2,
    sentence: d => `the control socket ${d.path} belongs to a running fleet${d.pid ? `, pid ${d.pid}` : ' that does not answer'}; give this one ${d.remedy}`
  },
  RECYCLE_ADMIN: {
    exitCode: 2,
    sentence: d => `the admin server cannot listen on ${d.address}: ${d.why}`
  },
  RECYCLE_NO_FLEET: {
    exitCode: 2,
    sentence: d => `${typeof d.name === 'string' ? `there is no fleet named ${shown(d.name)}; ` : ''}${d.running ? `running: ${d.running}` : `no fleet is running, as far as ${d.folders} tells; one of another user or of a service with a folder of its own is found by --control <path> or RECYCLE_CONTROL_DIR`}${d.distrusted ? `; ignored: ${d.distrusted}` : ''}`
  },
  RECYCLE_NO_ANSWER: {
    exitCode: 2,
    sentence: d => `no fleet answers at ${d.path}: ${d.why}`
  },
  RECYCLE_SEVERAL_FLEETS: {
    exitCode: 2,
    sentence: d => `several fleets are running: ${d.running}; select one by --name`
  },
  RECYCLE_FLEET_GONE: {
    exitCode: 1,
    sentence: d => `the fleet ${d.name} ended before it answered`
  },
  RECYCLE_CUT_OFF: {
    exitCode: 1,
    sentence: d => `the fleet closed the connection: ${d.why}`
  },
  RECYCLE_BAD_REQUEST: {
    exitCode: 2,
    sentence: d => `the fleet does not understand the request: ${d.why}`
  },
  RECYCLE_VERB_FAILED: {
    exitCode: 1,
    sentence: d => `the fleet failed to carry out the request: ${d.why}`
  },
  RECYCLE_STOPPED: {
    exitCode: 1,
    sentence: () => 'the fleet is stopping'
  },
  RECYCLE_NOT_UPGRADED: {
    exitCode: 1,
    sentence: d => `the supervisor was not upgraded: ${d.why}; this one runs the fleet as before`
  },
  RECYCLE_UPGRADED: {
    exitCode: 1,
    sentence: d => `the fleet has a new supervisor, pid ${d.pid}`
  },
  RECYCLE_TAKEOVER_ENDED: {
    exitCode: 1,
    sentence: d => `the fleet was not taken over: ${d.why}`
  },
  RECYCLE_PRIMARY_FAILED: {
    exitCode: 1,
    sentence: d => `recycle itself has failed (${d.what}): ${d.why}`
  },
  RECYCLE_BAD_TRANSITION: {
    exitCode: 1,
    sentence: d => `a worker cannot go from ${d.from} to ${d.to}`
  }
})

/** An error of the catalogue. `code` is one of its keys; the sentence is made from `details`. */
class RecycleError extends Error {
  /**
   * @param {string} code a key of the catalogue
   * @param {Record<string, any>} [details]
   */
  constructor (code, details = {}) {
    super(CATALOGUE[code].sentence(bounded(details)))
    this.name = 'RecycleError'
    this.code = code
    this.exitCode = CATALOGUE[code].exitCode
    this.details = details
  }
}

/** Details that may be long: sentences and lists of recycle's own. */
const PROSE = ['why', 'accepts', 'sentence', 'running', 'distrusted']
const PROSE_CHARS = 1000

/** Shortens details for the sentence: a value from the user may have any length. @param {Record<string, any>} details */
function bounded (details) {
  return Object.fromEntries(Object.entries(details).map(([name, value]) =>
    [name, typeof value === 'string' ? shorten(value, PROSE.includes(name) ? PROSE_CHARS : undefined) : value]))
}

module.exports = { RecycleError, CATALOGUE }
