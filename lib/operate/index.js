'use strict'

/**
 * Opens what operators get beside signals, as the options ask for it. It closes with the fleet, by itself.
 *
 * @param {import('./control-verbs').Supervised} supervisor not started yet, or just so
 * @param {Pick<import('../core/options').Options, 'control' | 'admin' | 'adminAllowRemote'>} options
 * @returns {Promise<{ close: () => Promise<void> }>} `close` resolves when every client has been told the end; may be called again
 * @throws {import('../core/errors').RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN, RECYCLE_ADMIN
 */
async function operate (supervisor, options) {
  // All at once, and before anything is awaited: each hears the fleet from its first line on.
  const opening = Promise.allSettled([
    options.control === 'none' ? null : require('./control').openControl(supervisor, options),
    options.admin && require('./admin').openAdmin(supervisor, { ...options, admin: options.admin })
  ])
  /** @type {Promise<unknown> | null} */
  let closing = null
  const close = async () => {
    closing ??= opening.then(doors => Promise.all(doors.map(door => door.status === 'fulfilled' && door.value?.close())))
    await closing
  }
  supervisor.once('stopped', close)
  const failed = (await opening).find(door => door.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  return { close }
}

module.exports = { operate }
