'use strict'

/** Signals for the workers' own listeners: those that end no process of a fleet, and mean something to some app. */

const { RecycleError } = require('./errors')

const SIGNALS = /** @type {const} */ (['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'])

/**
 * @param {unknown} given with or without its SIG
 * @returns {typeof SIGNALS[number]}
 * @throws {RecycleError} RECYCLE_BAD_OPTION
 */
function readSignal (given) {
  const name = `SIG${String(given).toUpperCase().replace(/^SIG/, '')}`
  const found = SIGNALS.find(signal => signal === name)
  if (found) return found
  const instead = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT'].includes(name) ? '; recycle stop ends the fleet, and recycle recycle <slot> replaces a worker' : ''
  throw new RecycleError('RECYCLE_BAD_OPTION', { option: 'the signal', given, accepts: `${SIGNALS.join(', ')}${instead}` })
}

module.exports = { readSignal }
