'use strict'

/**
 * Opens the control socket and the admin server, according to the options, and tells the service manager of the fleet where
 * there is one that asks for it. They close when the fleet stops.
 *
 * @param {import('./control-verbs').Supervised} supervisor not started yet, or in the same turn of the event loop
 * @param {Pick<import('../core/options').Options, 'control' | 'admin' | 'adminAllowRemote'>} options
 * @param {Pick<import('../core/service-environment').ServiceEnvironment, 'notifySocket' | 'watchdogMs'>} [service]
 * @returns {Promise<{ close: () => Promise<void> }>} `close` resolves when every client has its answers; it may be called again
 * @throws {import('../core/errors').RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN, RECYCLE_ADMIN
 */
async function operate (supervisor, options, { notifySocket, watchdogMs } = { notifySocket: null, watchdogMs: null }) {
  // Both are opened before anything is awaited, so that they get the fleet's events from the first.
  const opening = Promise.allSettled([
    options.control === 'none' ? null : require('./control').openControl(supervisor, options),
    options.admin && require('./admin').openAdmin(supervisor, { ...options, admin: options.admin }),
    notifySocket ? new (require('./service-notifier').ServiceNotifier)(supervisor, { notifySocket, watchdogMs }) : null
  ])
  /** @type {Promise<unknown> | null} */
  let closing = null
  const close = async () => {
    closing ??= opening.then(servers => Promise.all(servers.map(server => server.status === 'fulfilled' && server.value?.close())))
    await closing
  }
  supervisor.once('stopped', close)
  const failed = (await opening).find(server => server.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  return { close }
}

module.exports = { operate }
