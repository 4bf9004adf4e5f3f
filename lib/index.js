'use strict'

const os = require('node:os')
const path = require('node:path')
const fs = require('node:fs')
const { RecycleError } = require('./core/errors')
const { resolveOptions } = require('./core/options')
const { readJournal } = require('./journal/reader')
const { openJournal } = require('./journal/writer')
const { openLog } = require('./primary/log')
const { pickMeter } = require('./primary/meter')
const { Spawner } = require('./primary/spawner')
const { Supervisor } = require('./primary/supervisor')

/**
 * Runs an app under a supervisor in this process.
 *
 * Options are those of the command line in camelCase (`maxRss: '512MiB'`, `interval: '500ms'`); sizes may be numbers of
 * bytes, times numbers of milliseconds. The log is silent unless asked for. Signals are the caller's business.
 *
 * @param {{ app: string, args?: string[] } & Record<string, any>} options
 * @returns {Supervisor} started; `await supervisor.ready()`
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION, RECYCLE_NO_APP, RECYCLE_METER_UNSUPPORTED,
 *   RECYCLE_METRIC_UNSUPPORTED, RECYCLE_JOURNAL
 */
function supervise ({ app, args = [], ...given }) {
  const resolved = resolveOptions({ log: 'silent', ...given }, { parallelism: os.availableParallelism() })
  return superviseResolved(app, args, resolved)
}

/**
 * @param {string} app
 * @param {string[]} args
 * @param {import('./core/options').Options} options
 */
function superviseResolved (app, args, options) {
  const file = findApp(app)
  const meter = pickMeter(options)
  const journal = options.journal === null ? null : openJournal(options.journal)
  const log = openLog(options.log ?? (process.stderr.isTTY ? 'pretty' : 'json'), process.stderr)
  return new Supervisor(options, {
    spawner: new Spawner(file, args, options),
    meter,
    write (line) {
      journal?.write(line)
      log(line)
    },
    flush: async () => journal?.flush()
  }).start()
}

/**
 * @param {string} app a path, as `node` takes it
 * @returns {string} absolute
 * @throws {RecycleError} RECYCLE_NO_APP
 */
function findApp (app) {
  try {
    const file = require.resolve(path.resolve(app))
    fs.accessSync(file, fs.constants.R_OK)
    return file
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const why = code === 'MODULE_NOT_FOUND' ? missing(path.resolve(app)) : message.split('\n')[0]
    throw new RecycleError('RECYCLE_NO_APP', { app, why })
  }
}

/** @param {string} file */
function missing (file) {
  return fs.existsSync(file) ? 'it is a folder without an index.js' : 'there is no such file'
}

module.exports = { supervise, superviseResolved, readJournal, RecycleError }
