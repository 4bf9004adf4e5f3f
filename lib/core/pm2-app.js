'use strict'

/** An app of pm2's ecosystem file, as a call of recycle; and what became of each of its keys. */

/**
 * @typedef {object} Call
 * @property {string} name
 * @property {string[]} options of recycle
 * @property {string} app @property {string[]} args
 * @property {string | null} interpreter of which recycle has no counterpart; null: it can run the app
 * @property {string | null} folder @property {Record<string, string>} env
 * @property {{ key: string, became: string }[]} keys
 */

const { byWord } = require('./fields')

const BY_ITSELF = 'recycle does so by itself'
const NONE = 'left out'

const INTERPRETER = /^(?:exec_)?interpreter$/
/** @type {Readonly<Record<string, string>>} */
const LOADERS = Object.freeze({
  tsx: '--node-option=--import=tsx', 'ts-node': '--node-option=--require=ts-node/register'
})

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
  /** @type {string[]} */
  const options = []
  /** @type {{ key: string, became: string }[]} */
  const keys = []
  const take = (/** @type {string} */ key, /** @type {string[]} */ flags, became = flags.join(' ')) => {
    options.push(...flags)
    keys.push({ key, became })
  }
  const name = String(app.name ?? fallback).replace(/[^\w.-]/g, '-')
  const env = Object.fromEntries(Object.entries({ ...app.env, ...app.env_production })
    .map(([key, value]) => [key, String(value)]))
  for (const [key, value] of Object.entries(app)) {
    if (Object.hasOwn(BECAME, key)) keys.push({ key, became: BECAME[key] })
    else if (key === 'name') keys.push({ key, became: `--name ${name}` })
    else if (key === 'env_production') {
      keys.push({ key, became: `Environment=${app.env ? ', in place of what env has by the same names' : ''}` })
    } else if (/^env_/.test(key)) keys.push({ key, became: `${NONE}: a unit has one environment` })
    else if (key === 'instances') {
      take(key, ['--workers', workersOf(value)])
      if (workersOf(value) === 'auto') keys[keys.length - 1].became += ': 2×CPU+1 workers; pm2 starts one for each CPU'
    } else if (key === 'max_memory_restart') take(key, ['--max-rss', sizeOf(value)])
    else if (key === 'kill_timeout') take(key, ['--drain-timeout', `${Number(value)}ms`])
    else if (key === 'listen_timeout') take(key, ['--ready-timeout', `${Number(value)}ms`])
    else if (key === 'wait_ready') value ? take(key, ['--ready-on', 'message']) : keys.push({ key, became: BY_ITSELF })
    else if (/^(?:node_args|interpreter_args|nodeArgs)$/.test(key)) {
      take(key, words(value).map(flag => `--node-option=${flag}`))
    } else if (INTERPRETER.test(key) && Object.hasOwn(LOADERS, value)) take(key, [LOADERS[value]])
    else if (INTERPRETER.test(key)) keys.push({ key, became: 'the Node.js that runs recycle unit' })
    else keys.push({ key, became: `${NONE}: recycle has nothing like it` })
  }
  const interpreter = String(app.exec_interpreter ?? app.interpreter ?? 'node')
  const isForeign = !Object.hasOwn(LOADERS, interpreter) && !/(?:^|\/)node(?:@[\d.]+)?$/.test(interpreter)
  return {
    name, interpreter: isForeign ? interpreter : null, options: ['--name', name, ...options],
    app: String(app.script ?? ''), args: words(app.args), folder: app.cwd ?? null, env, keys
  }
}

/** @param {unknown} value @returns {string} */
function workersOf (value) {
  const number = Number(value)
  return number > 0 ? String(number) : 'auto' // max, 0 and -1
}

/** pm2's K, M and G. @param {unknown} value @returns {string} */
const sizeOf = value => typeof value === 'number' ? String(value) : String(value).replace(/\s/g, '')

/** @param {unknown} value a list, or words in a text @returns {string[]} */
const words = value => Array.isArray(value) ? value.map(String) : String(value ?? '').split(/\s+/).filter(Boolean)

module.exports = { callOf }
