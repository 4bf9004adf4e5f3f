'use strict'

/**
 * The output of `recycle --print-config`: each option, its value and the value's origin, and how what is `auto` came
 * about.
 */

const path = require('node:path')
const { attempt } = require('../core/attempt')
const { boundsOf, budgetArithmetic, workersArithmetic } = require('../core/container-budget')
const { OPTIONS } = require('../tables/options')
const { controlFolders, socketIn } = require('../control/socket-path')
const { painter } = require('../journal/painter')
const { formatSize, formatTime, parseTime } = require('../core/units')
const { nameOfApp } = require('../primary/fleet-name')
const { fileAsNamed, folderAsNamed } = require('../primary/workers/app-path')
const { layOut } = require('../core/grid')
/** @import { Config } from './config-contents' */
/** @import { Option, Options } from '../tables/options' */
/** @import { Origin } from '../tables/resolved-options' */

/**
 * @typedef {object} Resolved
 * @property {string | undefined} app as the command line names it
 * @property {string[]} args @property {Config | null} config @property {Options} options
 * @property {Map<string, Origin>} origins
 */

/** @param {Resolved} resolved @param {{ colors?: boolean }} [how] @returns {string} lines of text, each with its end */
function formatOrigins ({ app, args, config, options, origins }, { colors = false } = {}) {
  const appOrigin = app !== undefined ? 'command line' : config?.app !== undefined ? config.name : 'default'
  const fleet = options.name ?? nameAfter(app ?? config?.app)
  const rows = [
    ['app', app ?? config?.app ?? 'none', appOrigin],
    ['args', JSON.stringify(app !== undefined ? args : config?.args ?? []), appOrigin],
    ...OPTIONS.map(option => {
      const origin = /** @type {Origin} */ (origins.get(option.name))
      return [option.name, valueOf(option, origin, options, fleet), sourceOf(origin, config)]
    })
  ]
  const [heading, ...lines] = layOut(['option<', 'value<', 'from<'], rows, Infinity)
  const paint = painter(colors)
  const painted = lines.map((line, i) => rows[i][2] === 'default' ? paint('dim', line) : line)
  const sums = arithmetic(options)
  return [paint('bold', heading), ...painted, ...sums.length > 0 ? ['', ...sums] : []].map(line => `${line}\n`).join('')
}

/** @param {Options} options @returns {string[]} */
function arithmetic (options) {
  const { sizing, workers, jitter, stopTimeoutMs, stopTimes: { beforeMs, drainMs, killMs, totalMs } } = options
  const bounds = boundsOf(options)
  const sums = []
  if (bounds && bounds.max !== bounds.asked) sums.push(`most workers = ${workersArithmetic(sizing)}`)
  if (sizing.isAutoWorkers) sums.push(`workers = ${workersArithmetic(sizing)}`)
  if (sizing.isAutoBudget) {
    const less = jitter > 0 ? `, and up to ${Math.round(100 * jitter)} % less for each worker by the jitter` : ''
    sums.push(`maxRss = ${budgetArithmetic(sizing, bounds?.max ?? workers)}${less}`)
  }
  if (stopTimeoutMs !== null) {
    const before = beforeMs > 0 ? `${timeOf(beforeMs)} before the stop + ` : ''
    const restMs = totalMs - beforeMs - drainMs - killMs
    sums.push(`stopTimeout = ${before}${timeOf(drainMs)} to drain + ` +
      `${timeOf(killMs)} from SIGTERM to SIGKILL + ${timeOf(restMs)} for the rest`)
  }
  return sums
}

/**
 * The value as written, with what is in force beside it where the two differ.
 * @param {Option} option @param {Origin} origin @param {Options} options @param {string | null} fleet its name
 */
function valueOf (option, { from, text }, options, fleet) {
  const value = /** @type {any} */ (options)[option.key]
  if (from !== 'default' && typeof value === 'boolean') return value ? 'on' : 'off'
  const written = from === 'default' ? option.defaultText : Array.isArray(text) ? text.join(' ') : String(text)
  const inForce = inForceOf(option, options, fleet)
  return inForce === null || inForce.replace(' ', '') === written ? written : `${written} (${inForce})`
}

/** @param {Option} option @param {Options} options @param {string | null} fleet @returns {string | null} null: as is */
function inForceOf ({ key, kind }, options, fleet) {
  const value = /** @type {any} */ (options)[key]
  const bounds = boundsOf(options)
  if (key === 'workers') return bounds ? `${bounds.min}..${bounds.max}` : String(value)
  if (key === 'log') return value ?? (process.stderr.isTTY ? 'pretty' : 'json')
  if (key === 'name') return value ?? fleet
  if (key === 'control') return value ?? (fleet && socketIn(controlFolders(process.env)[0], fleet))
  if (key.endsWith('Bytes')) return value === null ? 'none' : formatSize(value)
  if (key.endsWith('Ms')) return timeOf(key === 'replayAfterMs' ? value ?? options.drainTimeoutMs : value)
  return kind.words && typeof value === 'string' ? value : null
}

/** @param {number | null} ms */
function timeOf (ms) {
  if (ms === null) return 'none'
  return ms === 0 ? '0' : parseTime(formatTime(ms)) === ms ? formatTime(ms) : `${ms}ms`
}

/** @param {string | undefined} app @returns {string | null} null: there is no such app */
function nameAfter (app) {
  if (app === undefined) return null
  return attempt(() => nameOfApp(fileAsNamed(path.resolve(folderAsNamed(process.env.PWD), app))), null)
}

/** @param {Origin} origin @param {Config | null} config */
function sourceOf ({ from, called }, config) {
  if (from === 'file') return /** @type {Config} */ (config).name
  return from === 'default' ? from : called
}

module.exports = { formatOrigins }
