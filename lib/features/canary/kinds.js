'use strict'

/**
 * Kinds of the options, and the arguments of a reload of the same names.
 *
 * @param {typeof import('../../core/option-types').types} types
 */
const kinds = types => ({
  canary: types.orPercent(types.count(0, 1024), 'the workers'),
  bake: types.time(10_000, '10s'),
  undecided: types.oneOf('go', 'back')
})

module.exports = { kinds }
