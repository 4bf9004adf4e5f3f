'use strict'

/** The output of `recycle --print-config`: each option, its value and the value's origin, and how what is `auto` came about. */

const { budgetArithmetic, workersArithmetic } = require('../core/container-budget')
const { OPTIONS } = require('../core/options')
const { painter } = require('../journal/painter')
const { formatSize } = require('../core/units')
const { layOut } = require('../report/grid')

/**
 * @typedef {object} Resolved
 * @property {string | undefined} app as the command line names it
 * @property {string[]} args
 * @property {import('../core/config').Config | null} config
 * @property {import('../core/options').Options} options
 * @property {Map<string, import('../core/resolved-options').Origin>} origins
 */

/**
 * @param {Resolved} resolved
 * @param {{ colors?: boolean }} [how]
 * @returns {string} lines of text, each with its end
 */
function formatOrigins ({ app, args, config, options, origins }, { colors = false } = {}) {
  const appOrigin = app !== undefined ? 'command line' : config?.app !== undefined ? config.name : 'default'
  const rows = [
    ['app', app ?? config?.app ?? 'none', appOrigin],
    ['args', JSON.stringify(app !== undefined ? args : config?.args ?? []), appOrigin],
    ...OPTIONS.map(option => {
      const origin = /** @type {import('../core/resolved-options').Origin} */ (origins.get(option.name))
      return [option.name, valueOf(option, origin, /** @type {any} */ (options)[option.key]), sourceOf(origin, config)]
    })
  ]
  const [heading, ...lines] = layOut([
    { title: 'option', left: true }, { title: 'value', left: true }, { title: 'from', left: true }
  ], rows, Infinity)
  const paint = painter(colors)
  const painted = lines.map((line, i) => rows[i][2] === 'default' ? paint('dim', line) : line)
  const sums = arithmetic(options)
  return [paint('bold', heading), ...painted, ...sums.length > 0 ? ['', ...sums] : []].map(line => `${line}\n`).join('')
}

/** @param {import('../core/options').Options} options @returns {string[]} */
function arithmetic ({ sizing, workers, autoscale, jitter }) {
  const sums = []
  if (autoscale && autoscale.max !== autoscale.asked) sums.push(`most workers = ${workersArithmetic(sizing)}`)
  if (sizing.isAutoWorkers) sums.push(`workers = ${workersArithmetic(sizing)}`)
  if (sizing.isAutoBudget) sums.push(`maxRss = ${budgetArithmetic(sizing, autoscale?.max ?? workers)}${jitter > 0 ? `, and up to ${Math.round(100 * jitter)} % less for each worker by the jitter` : ''}`)
  return sums
}

/** The value as written, with the resolved value beside it where the two differ. @param {import('../core/options').Option} option @param {import('../core/resolved-options').Origin} origin @param {any} value */
function valueOf ({ key, fallback, shown }, { from, text }, value) {
  if (from !== 'default' && typeof value === 'boolean') return value ? 'on' : 'off'
  const written = from === 'default' ? shown : Array.isArray(text) ? text.join(' ') : String(text)
  const isComputed = from === 'default' ? value !== fallback : text === 'auto' && value !== text
  return isComputed ? `${written} (${key.endsWith('Bytes') ? formatSize(value) : value})` : written
}

/** @param {import('../core/resolved-options').Origin} origin @param {import('../core/config').Config | null} config */
function sourceOf ({ from, called }, config) {
  if (from === 'file') return /** @type {import('../core/config').Config} */ (config).name
  return from === 'default' ? from : called
}

module.exports = { formatOrigins }
