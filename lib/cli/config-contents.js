'use strict'

/** The contents of a config file, by the table of options; its JSON schema is made in test/config-schema.js. */

const { RecycleError } = require('../core/errors')
const { hintOnKey } = require('../tables/habits')
const { OPTIONS } = require('../tables/options')
const { formatValue } = require('../core/format-value')

/**
 * @typedef {object} Config
 * @property {string} name the file, as messages show it
 * @property {string | undefined} app @property {string[]} args
 * @property {Record<string, any>} values by the options' names; resolveOptions() checks them
 */

const OWN_KEYS = ['$schema', 'app', 'args']

/**
 * @param {unknown} held the file's export, or the value of "recycle" in package.json
 * @param {string} name the file, as messages show it @returns {Config} @throws {RecycleError} RECYCLE_BAD_CONFIG
 */
function readConfig (held, name) {
  const refuse = (/** @type {string} */ why) => { throw new RecycleError('RECYCLE_BAD_CONFIG', { file: name, why }) }
  if (Array.isArray(held) || (isObject(held) && Object.hasOwn(held, 'apps'))) {
    refuse("holds several apps, as pm2's ecosystem file does; run one recycle per app, " +
      'each with a file of its own (--config)')
  }
  if (!isObject(held)) {
    refuse(`holds ${held === undefined ? 'nothing' : held === null ? 'null' : `a ${typeof held}`}; ` +
      'it takes an object of options')
  }

  const { $schema, app, args = [], ...values } = /** @type {Record<string, any>} */ (held)
  const known = [...OWN_KEYS, ...OPTIONS.map(option => option.name)]
  const unknown = Object.keys(values).find(key => !known.includes(key))
  if (unknown !== undefined) refuse(`has an unknown key ${formatValue(unknown)}; ${hintOnKey(unknown, known)}`)
  if (app !== undefined && (typeof app !== 'string' || app === '')) {
    refuse('has an app that is not a path; it takes the file that `node` would run')
  }
  if (!Array.isArray(args) || !args.every(arg => typeof arg === 'string')) {
    refuse('has args that are not an array of strings')
  }
  return { name, app, args, values }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject (value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

module.exports = { readConfig, isObject }
