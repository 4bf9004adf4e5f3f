'use strict'

/**
 * A parent with an IPC channel: pm2, a test runner, any fork(). It is told `ready` when every worker is, and its
 * `shutdown` is a stop.
 * @param {import('./supervisor').Supervisor} supervisor
 */
function obeyParent (supervisor) {
  if (!process.send) return
  process.on('message', message => { if (message === 'shutdown' && !supervisor.isStopping) supervisor.stop() })
  supervisor.ready().then(() => process.send?.('ready', undefined, undefined, () => {}), () => {})
}

module.exports = { obeyParent }
