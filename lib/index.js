'use strict'

const { RecycleError } = require('./core/errors')
const { resolveOptions } = require('./tables/resolved-options')
const { operate } = require('./operate')
const { machineFacts } = require('./primary/measuring/container')
const { assemble } = require('./primary/start')
const { findTakeover } = require('./primary/succession/find-takeover')
/** @import { FleetOptions } from './options' */

/**
 * Runs an app under a supervisor in this process.
 *
 * Options are those of the command line in camelCase (`maxRss: '512MiB'`, `interval: '500ms'`). Sizes may be numbers of
 * bytes; times have a unit, or are 0. The log is silent by default. The caller handles signals. The fleet has a control
 * socket if `control` or `name` is given; if the path of `control` cannot be opened, or a fleet of this name runs, the
 * fleet stops and `ready()` rejects with RECYCLE_CONTROL or RECYCLE_CONTROL_TAKEN.
 * @param {{ app: string, args?: string[] } & FleetOptions} options
 * @returns {import('./primary/supervisor').Supervisor & import('./features').Commands} started; `await
 *   supervisor.ready()`
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION, RECYCLE_BAD_USAGE, RECYCLE_NO_APP,
 *   RECYCLE_METER_UNSUPPORTED, RECYCLE_METRIC_UNSUPPORTED, RECYCLE_FORK_UNSUPPORTED, RECYCLE_JOURNAL
 */
function supervise ({ app, args = [], ...given }) {
  const control = given.control ?? (given.name === undefined ? 'none' : undefined)
  const resolved = resolveOptions({ log: 'silent', ...given, control }, machineFacts())
  const supervisor = assemble(app, args, resolved, { takeover: findTakeover() })
  operate(supervisor, resolved).catch(error => supervisor.abandon(error))
  return /** @type {ReturnType<typeof supervise>} */ (supervisor.start())
}

// Loaded on demand, to keep the process of a supervisor small.

/** @type {typeof import('./tools/drill').drill} */
const drill = async options => require('./tools/drill').drill(options)

/** @type {typeof import('./journal/reader').readJournal} */
const readJournal = file => require('./journal/reader').readJournal(file)

/**
 * For a config file, so that an editor knows the options: it returns what it is given.
 * @template {{ app?: string, args?: string[] } & FleetOptions} Config @param {Config} config @returns {Config}
 */
const defineConfig = config => config

module.exports = { supervise, drill, readJournal, defineConfig, RecycleError }
