'use strict'

/**
 * Signals to the primary, as verbs of the supervisor:
 *
 *   SIGTERM, SIGINT   stop; a second one stops now
 *   SIGHUP            rolling reload
 *   SIGTTIN, SIGTTOU  one worker more, one fewer
 *   SIGUSR2           nothing; by default it would end us, and elsewhere (Puma, gunicorn) it means a restart
 *
 * @param {import('./supervisor').Supervisor} supervisor
 */
function obeySignals (supervisor) {
  const stop = () => { supervisor.stop() }
  /** A signal has no sender to be told; what a worker did is in the log. @param {Promise<unknown>} verb */
  const attempt = verb => verb.catch(() => {})
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', () => attempt(supervisor.reload()))
  process.on('SIGUSR2', () => supervisor.announce('fleet.warning', { warning: 'sigusr2' }))
  process.on('SIGTTIN', () => attempt(supervisor.scale(supervisor.size + 1)))
  process.on('SIGTTOU', () => attempt(supervisor.scale(Math.max(1, supervisor.size - 1))))
}

module.exports = { obeySignals }
