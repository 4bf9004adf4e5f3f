'use strict'

/** How new code is tried: from the arguments of a reload, and the fleet's options. */

const { RecycleError } = require('../../core/errors')
const { mostOf } = require('../../core/limit')
const { types } = require('../../core/option-types')
const { kinds } = require('./kinds')

const KINDS = kinds(types)

/**
 * @typedef {object} Terms
 * @property {number} workers of the new code, at least 1
 * @property {number} bakeMs
 * @property {'go' | 'back'} undecided
 */

/**
 * @param {import('./feature').Reload} how @param {import('../../options').ResolvedOptions} options
 * @param {number} size how many workers the fleet is to have
 * @returns {Terms | null} null: the reload replaces all at once
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function termsOf (how, options, size) {
  const { canary = options.canary, bake = options.bakeMs, undecided = options.undecided } = read(how)
  const most = mostOf(canary, size)
  if (most === null || most === 0) {
    for (const name of ['bake', 'undecided']) if (name in how) throw new RecycleError('RECYCLE_BAD_USAGE', { sentence: `--${name} of a reload needs --canary` })
    return null
  }
  return { workers: Math.max(1, Math.round(most)), bakeMs: bake, undecided }
}

/** @param {Record<string, any>} how */
function read (how) {
  return Object.fromEntries(Object.entries(KINDS).filter(([name]) => how[name] !== undefined)
    .map(([name, { read, accepts, instead }]) => {
      const value = read(how[name])
      if (value === undefined) throw new RecycleError('RECYCLE_BAD_OPTION', { option: `--${name}`, given: how[name], accepts: instead?.(how[name]) ?? accepts })
      return [name, value]
    }))
}

module.exports = { termsOf }
