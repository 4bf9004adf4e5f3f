'use strict'

/**
 * The supervisor's log, on stderr: the journal's events as sentences for people, or in pino's format for machines. pino
 * itself would take 8 MB of the primary's memory, for what is here one line.
 */

const { isDeepStrictEqual } = require('node:util')
const { escapeJson } = require('../core/escape-controls')
const { OPTIONS } = require('../tables/options')
const { resolveOptions } = require('../tables/resolved-options')
const { sentence, prettyLine, levelOf, isQuiet } = require('../journal/sentence')

/** @typedef {Record<string, any>} Line @typedef {'debug' | 'info' | 'warn' | 'error'} Level */
/** @import { Options } from '../tables/options' */

/** Numbers of pino. @type {Record<Level, number>} */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 }

/** @param {Options} options @returns {'pretty' | 'json' | 'silent'} */
const formatOf = ({ log }) => log ?? (process.stderr.isTTY ? 'pretty' : 'json')

/**
 * JSON that is asked for is for programs, and has every event; what goes to a pipe or file is for people: the changes.
 * @param {Options} options @returns {Level}
 */
const leastOf = ({ log, logLevel }) => logLevel ?? (log === 'json' ? 'debug' : 'info')

/**
 * @param {Options} options @param {import('./outputs').Outputs} outputs
 * @returns {{ write: (line: Line) => void, warn: (text: string) => void }} `warn` logs what is no event
 */
function openLog (options, outputs) {
  const format = formatOf(options)
  if (format === 'silent') return { write: () => {}, warn: text => outputs.of(2).log(`${text}\n`) }
  const output = outputs.of(2)
  const put = (/** @type {string} */ text) => output.log(`${text}\n`)
  const { textOf, warningOf } = format === 'json' ? jsonOf(options) : prettyOf()
  const isLogged = (/** @type {Level} */ level) => LEVELS[level] >= LEVELS[leastOf(options)]
  return {
    write: line => { if (!isQuiet(line) && isLogged(levelOf(line))) put(textOf(line)) },
    warn: text => { if (isLogged('warn')) put(warningOf(text)) }
  }
}

/** @param {Options} options */
function jsonOf (options) {
  const { hostname } = require('node:os')
  const base = { name: 'recycle', hostname: hostname(), primary: process.pid }
  const put = (/** @type {Level} */ level, /** @type {number} */ time, /** @type {Line} */ fields) =>
    escapeJson(JSON.stringify({ level: LEVELS[level], time, ...base, ...fields }))
  return {
    textOf (/** @type {Line} */ line) {
      const { v, t, ...fields } = line
      if (fields.options && leastOf(options) !== 'debug') fields.options = withoutDefaults(fields.options)
      return put(levelOf(line), t, { ...fields, pid: fields.pid ?? process.pid, msg: sentence(line) })
    },
    // eslint-disable-next-line no-restricted-properties -- a time of day, as the events'
    warningOf: (/** @type {string} */ msg) => put('warn', Date.now(), { pid: process.pid, msg })
  }
}

/** @param {Options} options @returns {Line} those that are not as by default here, and nothing derived */
function withoutDefaults (options) {
  /** @type {Line} */
  const defaults = resolveOptions({}, { parallelism: options.sizing.parallelism })
  return Object.fromEntries(Object.entries(options).filter(([key, value]) =>
    OPTIONS.some(option => option.key === key) && !isDeepStrictEqual(value, defaults[key])))
}

function prettyOf () {
  const how = { colors: process.stderr.isTTY && process.stderr.hasColors() }
  return {
    textOf: (/** @type {Line} */ line) => prettyLine(line, how),
    warningOf: (/** @type {string} */ text) => text
  }
}

module.exports = { openLog, formatOf }
