'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { FEATURES } = require('../features')
const { RecycleError, badOption } = require('../core/errors')
const { escapeControls } = require('../core/escape-controls')
const { sentence } = require('../journal/sentence')
const { findApp } = require('./workers/find-app')
const { openLog } = require('./log')
const { Outputs } = require('./outputs')
const { pickMeter } = require('./measuring/meter')
const { Supervisor } = require('./supervisor')

/**
 * Puts a supervisor together.
 * @param {string} app @param {string[]} args @param {import('../tables/options').Options} options
 * @param {Pick<import('./supervisor').Given, 'inherited' | 'takeover'> & { orphans?: import('./orphans').Orphans }}
 *   [own] where the process is the fleet's alone
 * @returns {Supervisor} to be started
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_BAD_USAGE, RECYCLE_NO_APP, RECYCLE_METER_UNSUPPORTED,
 *   RECYCLE_METRIC_UNSUPPORTED, RECYCLE_FORK_UNSUPPORTED, RECYCLE_UNWRITABLE, RECYCLE_JOURNAL
 */
function assemble (app, args, options, { orphans, ...own } = {}) {
  // Node.js aborts where a thread of its pool cannot be started: they start now, before a worker takes the room for it
  fs.access(path.sep, () => {})
  checkCommand(app, args)
  findApp(app)
  const meter = pickMeter(options)
  for (const { isOn, refuse } of FEATURES) {
    const refusal = isOn(options) ? refuse?.(options) : null
    if (refusal) throw new RecycleError('RECYCLE_BAD_OPTION', refusal)
  }
  const journal = options.journal === null
    ? null
    : require('../journal/writer').openJournal(options.journal, why => warn(supervisor, why))
  const outputs = new Outputs(options, loss => supervisor.announce('fleet.warning', loss))
  const log = openLog(options, outputs)
  if (orphans) outputs.takeWarnings(log.warn)
  const supervisor = new Supervisor({ app, args, options, outputs, meter, ...own }, {
    write (line) {
      journal?.write(line)
      log.write(line)
    },
    flush: () => Promise.all([outputs.end(), journal?.flush()]),
    journalTrouble: () => journal?.trouble() ?? null,
    orphans
  })
  return supervisor
}

/** The library passes these on as its caller gave them. @param {unknown} app @param {unknown} args */
function checkCommand (app, args) {
  const refuse = (/** @type {string} */ option, /** @type {unknown} */ given, /** @type {string} */ accepts) => {
    throw badOption(option, given, accepts)
  }
  if (typeof app !== 'string') refuse('app', app, 'a path, the file that `node` would run')
  if (!Array.isArray(args) || !args.every(arg => typeof arg === 'string')) refuse('args', args, 'an array of strings')
}

/**
 * The journal is in trouble; where there is no log to say it, Node's warning does.
 * @param {Supervisor} supervisor @param {string} why
 */
function warn (supervisor, why) {
  const { journal: file, log } = supervisor.options
  const line = supervisor.announce('fleet.warning', { warning: 'journal', file, why })
  if (log === 'silent') process.emitWarning(escapeControls(sentence(line)))
}

module.exports = { assemble }
