'use strict'

/** The arguments of the control socket's verbs: type and form are checked before a verb begins. */

const path = require('node:path')
const { FEATURES, VERBS } = require('../features')
const { RecycleError } = require('../core/errors')

/** @typedef {{ accepts: string, fits: (value: any) => boolean, isNeeded?: boolean }} Arg */

/** @type {Arg} */
const TARGET = {
  accepts: 'a slot, a pid or all, as text or a number',
  isNeeded: true,
  fits: value => typeof value === 'string' || Number.isInteger(value) // the verb checks that it exists
}
/** @type {Arg} */
const FILE = { accepts: 'an absolute path', fits: value => typeof value === 'string' && path.isAbsolute(value) }

/** Kinds of the arguments that verbs of features take. */
const KINDS = {
  /** `target` of a command for one worker, or for all. */
  slots: TARGET,
  file: FILE,
  /** @param {string[]} words @returns {Arg} */
  word: (...words) => ({ accepts: words.join(' or '), fits: value => words.includes(value) }),
  /** @type {Arg} */
  flag: { accepts: 'true or false', fits: value => typeof value === 'boolean' },
  /** @type {Arg} */
  number: { accepts: 'a whole number', fits: value => Number.isInteger(value) },
  /** Text that the feature reads. @param {string} accepts @returns {Arg} */
  text: accepts => ({ accepts, fits: value => typeof value === 'string' || typeof value === 'number' })
}
/**
 * Commands of features, each for one worker, or for all where they name the target.
 *
 * @type {[string, Record<string, Arg>][]}
 */
const COMMANDS = FEATURES.flatMap(({ commands }) => Object.entries(commands?.(KINDS) ?? {}))

/** By verb; unknown arguments are ignored, as the protocol requires. @type {Record<string, Record<string, Arg>>} */
const ARGS = {
  recycle: { target: TARGET },
  cpuprofile: { target: TARGET, file: FILE, durationMs: { accepts: 'a number of milliseconds', fits: value => typeof value === 'number' } },
  signal: { signal: { accepts: 'the name of a signal', isNeeded: true, fits: value => typeof value === 'string' } },
  scale: { workers: { accepts: 'a whole number from 1 to 1024, one with its sign, such as "+1", or auto', isNeeded: true, fits: value => value === 'auto' || isCount(value) } },
  stop: { now: KINDS.flag },
  reload: Object.assign({}, ...FEATURES.map(({ reload }) => reload?.args(KINDS))),
  ...Object.fromEntries(VERBS.map(([name, { args }]) => [name, args(KINDS)])),
  ...Object.fromEntries(COMMANDS.map(([name, args]) => [name, { target: TARGET, ...args }])),
  follow: { last: { accepts: 'a whole number', fits: value => Number.isInteger(value) && value >= 0 } }
}

/**
 * @param {string} verb @param {Record<string, unknown>} args
 * @returns {Record<string, any>} the arguments of the verb
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function readArgs (verb, args) {
  const known = Object.entries(ARGS[verb] ?? {}).filter(([name, { isNeeded }]) => isNeeded || args[name] !== undefined)
  for (const [name, { accepts, fits }] of known) {
    // Null as in JSON: the client makes the same sentence from the details that it receives
    const given = args[name] ?? null
    if (!fits(given)) throw new RecycleError('RECYCLE_BAD_OPTION', { option: name === 'target' ? 'the worker' : name, given, accepts })
  }
  return Object.fromEntries(known.map(([name]) => [name, args[name]]))
}

/** @param {unknown} value */
function isCount (value) {
  return Number.isInteger(value) || (typeof value === 'string' && /^[+-]?\d+$/.test(value))
}

module.exports = { KINDS, COMMANDS, readArgs }
