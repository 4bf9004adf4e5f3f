'use strict'

/** The arguments of the control socket's verbs: type and form are checked before a verb begins. */

const path = require('node:path')
const { FEATURES, RELOAD, VERBS } = require('../features')
const { badOption } = require('../core/errors')
const { flag, integer, shape } = require('../core/shape')
/** @import { Shape } from '../core/shape' */

/** @typedef {Shape & { isNeeded?: boolean }} Arg */

const isText = (/** @type {unknown} */ value) => typeof value === 'string'

/** A slot, a pid or all: the verb checks that it exists. @type {Arg} */
const TARGET = needed(shape('a slot, a pid or all, as text or a number',
  value => isText(value) || Number.isInteger(value)))
const FILE = shape('an absolute path', value => isText(value) && path.isAbsolute(value))
const WORKERS = shape(
  'a whole number from 1 to 1024, one with its sign, such as "+1", or auto',
  value => value === 'auto' || Number.isInteger(value) || (isText(value) && /^[+-]?\d+$/.test(value))
)

/** Kinds of the arguments that verbs of features take. */
const KINDS = {
  /** `target` of a command for one worker, or for all. */
  slots: TARGET,
  file: FILE,
  word: (/** @type {string[]} */ ...words) => shape(words.join(' or '), value => words.includes(value)),
  flag,
  number: integer,
  /** Read by the feature, as an option. */
  option: shape('a value', () => true)
}
/**
 * Commands of features, each for one worker, or for all where they name the target.
 * @type {[string, Record<string, Arg>][]}
 */
const COMMANDS = FEATURES.flatMap(({ commands }) => Object.entries(commands?.(KINDS) ?? {}))

/** By verb; unknown arguments are ignored, as the protocol requires. @type {Record<string, Record<string, Arg>>} */
const ARGS = {
  recycle: { target: TARGET },
  cpuprofile: {
    target: TARGET, file: FILE, durationMs: shape('a number of milliseconds', value => typeof value === 'number')
  },
  signal: { signal: needed(shape('the name of a signal', isText)) },
  scale: { workers: needed(WORKERS) },
  stop: { now: flag },
  reload: RELOAD.args(KINDS),
  ...Object.fromEntries(VERBS.map(([name, { args }]) => [name, args(KINDS)])),
  ...Object.fromEntries(COMMANDS.map(([name, args]) => [name, { target: TARGET, ...args }])),
  follow: { last: shape('a whole number', value => Number.isInteger(value) && value >= 0), isOver: flag }
}

/** @param {Shape} kind @returns {Arg} */
function needed (kind) {
  return Object.assign(kind, { isNeeded: true })
}

/**
 * @param {string} verb @param {Record<string, unknown>} args @returns {Record<string, unknown>} the arguments of the
 *   verb
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function readArgs (verb, args) {
  const known = Object.entries(ARGS[verb] ?? {}).filter(([name, { isNeeded }]) => isNeeded || args[name] !== undefined)
  for (const [name, kind] of known) {
    // Null as in JSON: the client makes the same sentence from the details that it receives
    const given = args[name] ?? null
    const flaw = kind(given)
    if (flaw) throw badOption(name === 'target' ? 'the worker' : name, given, flaw.accepts)
  }
  return Object.fromEntries(known.map(([name]) => [name, args[name]]))
}

module.exports = { KINDS, COMMANDS, readArgs }
