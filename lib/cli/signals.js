'use strict'

const { VERBS } = require('../features')
const { isUnderNodemon } = require('./ancestors')
const { now } = require('../primary/clock')

/** npm's bash, among others, gives on what the terminal has already sent to the whole process group. */
const SAME_MS = 1000

/**
 * Signals to the primary, as verbs of the supervisor:
 *
 *   SIGTERM, SIGINT   stop; a second one, a second later or more, stops now
 *   SIGQUIT           the same, as in nginx and unicorn, whose images have it sent at a stop
 *   SIGHUP            rolling reload; stop, where it says that the terminal has closed
 *   SIGTTIN, SIGTTOU  one worker more, one fewer
 *   SIGUSR2           stop, where nodemon sends it: it starts anew itself
 *   SIGUSR1           nothing: by default Node.js would open an inspector
 *
 * Others are verbs of features, as in nginx, unicorn and gunicorn.
 * @param {import('../primary/supervisor').Supervisor & Record<string, any>} supervisor with the verbs of features
 * @param {() => boolean} hasClosed the terminal by which this process was started; see terminal.js
 * @param {import('./ancestors').Ancestor[]} ancestors as this process was started
 */
function obeySignals (supervisor, hasClosed, ancestors) {
  const isRestarted = isUnderNodemon(ancestors)
  let stoppedAt = -Infinity
  const stop = () => {
    if (now() - stoppedAt < SAME_MS) return
    stoppedAt = now()
    supervisor.stop()
  }
  /** A signal has no sender to be told; what a worker did is in the log. @param {Promise<unknown>} verb */
  const attempt = verb => verb.catch(() => {})
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGQUIT', stop)
  process.on('SIGHUP', () => {
    if (!hasClosed()) attempt(supervisor.reload())
    else if (!supervisor.isStopping) stop() // from the kernel, and from the shell: the second one must not hurry
  })
  for (const [verb, { signal }] of VERBS) {
    if (signal) process.on(signal, () => isRestarted && signal === 'SIGUSR2' ? stop() : attempt(supervisor[verb]()))
  }
  process.on('SIGUSR1', () => {})
  process.on('SIGTTIN', () => attempt(supervisor.scale(supervisor.size + 1)))
  process.on('SIGTTOU', () => attempt(supervisor.scale(Math.max(1, supervisor.size - 1))))
}

/**
 * A parent with an IPC channel: pm2, a test runner, any fork(). It is told `ready` when every worker is, and its
 * `shutdown` is a stop.
 * @param {import('../primary/supervisor').Supervisor} supervisor
 */
function obeyParent (supervisor) {
  if (!process.send) return
  process.on('message', message => { if (message === 'shutdown' && !supervisor.isStopping) supervisor.stop() })
  supervisor.ready().then(() => process.send?.('ready', undefined, undefined, () => {}), () => {})
}

module.exports = { obeySignals, obeyParent }
