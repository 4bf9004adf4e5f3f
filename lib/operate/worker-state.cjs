'use strict'

/**
 * The state of a worker in words, by `recycle status`, `recycle top` and the live page.
 * @param {import('../primary/supervisor').Status['workers'][number]} worker
 * @returns {string} `paused`: it is out of rotation for the reason that its `paused` gives; `condemned`: it serves
 *   until it is replaced; `resting`: others do its load; or its state
 */
const stateOf = ({ state, paused, condemned, rests }) =>
  paused ? 'paused' : condemned && state === 'ready' ? 'condemned' : rests ? 'resting' : state

module.exports = { stateOf }
