'use strict'

/**
 * A feature of which the name is given, which is its folder's: a worker loads those alone that are on.
 *
 * @param {string} name @returns {Readonly<import('.').Feature>}
 */
function featureOf (name) {
  return require(`./${name}/feature`)
}

module.exports = { featureOf }
