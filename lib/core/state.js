'use strict'

const { RecycleError } = require('./errors')

/**
 * The states of a worker. A worker that exits as intended is retired, whatever its exit code; one that exits otherwise
 * has crashed, also while it drains, before it has given its account. A worker out of rotation serves no client for a
 * while, and returns.
 *
 * @typedef {'spawning' | 'standby' | 'ready' | 'out-of-rotation' | 'draining' | 'retired' | 'crashed'} State
 * @type {Readonly<Record<State, readonly State[]>>}
 */
const TRANSITIONS = Object.freeze({
  spawning: Object.freeze(/** @type {State[]} */ (['standby', 'ready', 'draining', 'crashed'])),
  standby: Object.freeze(/** @type {State[]} */ (['ready', 'draining', 'crashed'])),
  ready: Object.freeze(/** @type {State[]} */ (['out-of-rotation', 'draining', 'crashed'])),
  'out-of-rotation': Object.freeze(/** @type {State[]} */ (['ready', 'draining', 'crashed'])),
  draining: Object.freeze(/** @type {State[]} */ (['retired', 'crashed'])),
  retired: Object.freeze([]),
  crashed: Object.freeze([])
})

/** @param {State} from @param {State} to @returns {State} `to` @throws {RecycleError} RECYCLE_BAD_TRANSITION */
function transition (from, to) {
  if (!TRANSITIONS[from].includes(to)) throw new RecycleError('RECYCLE_BAD_TRANSITION', { from, to })
  return to
}

module.exports = { TRANSITIONS, transition }
