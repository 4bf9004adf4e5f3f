'use strict'

/** Kinds of the arguments of the control socket's verbs: type and form are checked before a verb begins. */

const path = require('node:path')
const { badOption } = require('../core/errors')
const { flag, integer, shape } = require('../core/shape')
/** @import { Shape } from '../core/shape' */

/** @typedef {Shape & { isNeeded?: boolean }} Arg */

const isText = (/** @type {unknown} */ value) => typeof value === 'string'

const KINDS = {
  /** `target` of a command for one worker, or for all: the verb checks that it exists. */
  slots: needed(shape('a slot, a pid or all, as text or a number', value => isText(value) || Number.isInteger(value))),
  file: shape('an absolute path', value => isText(value) && path.isAbsolute(value)),
  signal: needed(shape('the name of a signal', isText)),
  workers: needed(shape('a whole number from 1 to 1024, one with its sign, such as "+1", or auto',
    value => value === 'auto' || Number.isInteger(value) || (isText(value) && /^[+-]?\d+$/.test(value)))),
  lines: shape('a whole number', value => Number.isInteger(value) && value >= 0),
  duration: shape('a number of milliseconds', value => typeof value === 'number'),
  word: (/** @type {string[]} */ ...words) => shape(words.join(' or '), value => words.includes(value)),
  flag,
  number: integer,
  /** Read by the feature, as an option. */
  option: shape('a value', () => true)
}

/** @param {Shape} kind @returns {Arg} */
function needed (kind) {
  return Object.assign(kind, { isNeeded: true })
}

/**
 * @param {Record<string, Arg>} kinds of a verb's arguments @param {Record<string, unknown>} args as they were sent
 * @returns {Record<string, unknown>} those of the verb: others are ignored, as the protocol requires
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function readArgs (kinds, args) {
  const known = Object.entries(kinds).filter(([name, { isNeeded }]) => isNeeded || args[name] !== undefined)
  for (const [name, kind] of known) {
    // Null as in JSON: the client makes the same sentence from the details that it receives
    const given = args[name] ?? null
    const flaw = kind(given)
    if (flaw) throw badOption(name === 'target' ? 'the worker' : name, given, flaw.accepts)
  }
  return Object.fromEntries(known.map(([name]) => [name, args[name]]))
}

module.exports = { KINDS, readArgs }
