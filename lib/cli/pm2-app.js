'use strict'

/** An app of pm2's ecosystem file, as a call of recycle; and what became of each of its keys. */

/**
 * @typedef {object} Call
 * @property {string} name
 * @property {Record<string, string | string[]>} given options of recycle, by name, as a command line has them
 * @property {string} app @property {string[]} args
 * @property {string | null} interpreter of which recycle has no counterpart; null: it can run the app
 * @property {string | null} folder @property {Record<string, string>} env
 * @property {{ key: string, became: string }[]} keys
 */

const { byWord } = require('../core/fields')
const { wordsOf } = require('../tables/options')

const BY_ITSELF = 'recycle does so by itself'
const NONE = 'left out'

const INTERPRETER = /^(?:exec_)?interpreter$/
/** @type {Readonly<Record<string, string>>} */
const LOADERS = Object.freeze({ tsx: '--import=tsx', 'ts-node': '--require=ts-node/register' })

/** Keys that are an option of recycle's: its name, and the value. */
const OPTIONS = byWord(/** @type {[string, { name: string, valueOf: (value: unknown) => string | string[] }][]} */ ([
  ['instances', { name: 'workers', valueOf: workersOf }],
  ['max_memory_restart', { name: 'maxRss', valueOf: sizeOf }],
  ['kill_timeout', { name: 'drainTimeout', valueOf: value => `${Number(value)}ms` }],
  ['listen_timeout', { name: 'readyTimeout', valueOf: value => `${Number(value)}ms` }],
  ['node_args interpreter_args nodeArgs', { name: 'nodeOption', valueOf: words }]
]))

/** Keys that are no option of recycle's. @type {Readonly<Record<string, string>>} */
const BECAME = byWord([
  ['script args', 'the app and its arguments'],
  ['cwd', 'WorkingDirectory='],
  ['env', 'Environment=, or <app>.env with --write'],
  ['user uid', 'User='],
  ['exec_mode', `${NONE}: recycle has workers always`],
  ['autorestart', BY_ITSELF],
  ['max_restarts', `${NONE}: a fleet that has served does not end by itself`],
  ['min_uptime ignore_watch watch_delay vizion pmx automation increment_var', NONE],
  ['restart_delay exp_backoff_restart_delay', `${NONE}: the back-off grows by itself`],
  ['watch', `${NONE}: recycle reload after a change`],
  ['merge_logs log_file out_file error_file combine_logs', 'the output is that of the service: journalctl'],
  ['log_date_format time', 'journalctl has times'],
  ['treekill', 'recycle ends the processes that a worker has started'],
  ['shutdown_with_message', "an app that listens for 'shutdown' is told by itself"],
  ['cron_restart', 'recycle reload in cron: see Operating'],
  ['instance_var', 'RECYCLE_SLOT is the number of the worker'],
  ['source_map_support', '--node-option=--enable-source-maps, where it is wanted']
])

/** @param {Record<string, any>} app @param {string} fallback its name, where it has none @returns {Call} */
function callOf (app, fallback) {
  const name = String(app.name ?? fallback).replace(/[^\w.-]/g, '-')
  /** @type {Call['given']} */
  const given = { name }
  const take = (/** @type {string} */ option, /** @type {string | string[]} */ value) => {
    given[option] = Array.isArray(value) ? [...given[option] ?? [], ...value] : value
    return wordsOf({ [option]: value }).join(' ')
  }
  const becameOf = (/** @type {string} */ key, /** @type {any} */ value) => {
    if (Object.hasOwn(BECAME, key)) return BECAME[key]
    if (Object.hasOwn(OPTIONS, key)) return take(OPTIONS[key].name, OPTIONS[key].valueOf(value))
    if (key === 'name') return `--name ${name}`
    if (key === 'wait_ready') return value ? take('readyOn', 'message') : BY_ITSELF
    if (INTERPRETER.test(key)) {
      return Object.hasOwn(LOADERS, value) ? take('nodeOption', [LOADERS[value]]) : 'the Node.js that runs recycle unit'
    }
    if (key === 'env_production') return `Environment=${app.env ? ', in place of what env has by the same names' : ''}`
    return `${NONE}: ${/^env_/.test(key) ? 'a unit has one environment' : 'recycle has nothing like it'}`
  }
  const keys = Object.entries(app).map(([key, value]) => ({ key, became: becameOf(key, value) }))
  const instances = keys.find(({ key }) => key === 'instances')
  if (instances && given.workers === 'auto') instances.became += ': 2×CPU+1 workers; pm2 starts one for each CPU'
  const env = Object.fromEntries(Object.entries({ ...app.env, ...app.env_production })
    .map(([key, value]) => [key, String(value)]))
  const interpreter = String(app.exec_interpreter ?? app.interpreter ?? 'node')
  const isForeign = !Object.hasOwn(LOADERS, interpreter) && !/(?:^|\/)node(?:@[\d.]+)?$/.test(interpreter)
  return {
    name, interpreter: isForeign ? interpreter : null, given, app: String(app.script ?? ''), args: words(app.args),
    folder: app.cwd ?? null, env, keys
  }
}

/** @param {unknown} value @returns {string} */
function workersOf (value) {
  const number = Number(value)
  return number > 0 ? String(number) : 'auto' // max, 0 and -1
}

/** pm2's K, M and G. @param {unknown} value @returns {string} */
function sizeOf (value) {
  return String(value).replace(/\s/g, '')
}

/** @param {unknown} value a list, or words in a text @returns {string[]} */
function words (value) {
  return Array.isArray(value) ? value.map(String) : String(value ?? '').split(/\s+/).filter(Boolean)
}

module.exports = { callOf }
