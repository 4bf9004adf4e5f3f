'use strict'

const { SUCCESSION, openNotifier } = require('../features')

/**
 * Opens the control socket and the admin server, according to the options, and what features have beside them. They
 * close when the fleet stops, and are left to the other primary when that takes the fleet over.
 * @param {import('./control-verbs').Supervised} supervisor not started yet, or in the same turn of the event loop
 * @param {Pick<import('../tables/options').Options, 'control' | 'admin' | 'adminAllowRemote'>} options
 * @param {Record<string, string | undefined>} [variables] of the environment that features take
 * @returns {Promise<{ close: () => Promise<void> }>} `close` resolves when every client has its answers; it may be
 *   called again
 * @throws {import('../core/errors').RecycleError} RECYCLE_CONTROL, RECYCLE_CONTROL_TAKEN, RECYCLE_ADMIN
 */
async function operate (supervisor, options, variables = {}) {
  const by = {
    readiness: () => new (require('./admin/fleet-readiness').FleetReadiness)(supervisor),
    leads: SUCCESSION.events.leads
  }
  const notifier = () => openNotifier(variables, supervisor, by)
  const leads = () => supervisor.succession?.takeover.isLeading !== false // else the predecessor has what features have
  // Both are opened before anything is awaited, so that they get the fleet's events from the first.
  const open = () => Promise.allSettled([
    options.control === 'none' ? null : require('./control').openControl(supervisor, options),
    options.admin ? require('./admin').openAdmin(supervisor, { ...options, admin: options.admin }) : null,
    leads() ? notifier() : null
  ])
  /**
   * @type {Promise<PromiseSettledResult<{ close: () => Promise<unknown>, leave: () => Promise<unknown> } | null>[]>[]}
   */
  const openings = [open()]
  supervisor.succession?.once('lead', () => openings.push(Promise.allSettled([notifier()])))
  /** @template {PromiseSettledResult<unknown>[]} Servers @param {Servers} servers */
  const report = servers => {
    for (const server of servers) {
      if (server.status === 'rejected') {
        supervisor.announce('fleet.warning', { warning: 'not-operated', why: server.reason.message })
      }
    }
    return servers
  }
  /** @type {Promise<unknown> | null} */
  let closing = null
  const each = async (/** @type {'close' | 'leave'} */ deed) => Promise.all((await Promise.all(openings)).flat()
    .map(server => server.status === 'fulfilled' && server.value?.[deed]()))
  const close = async () => {
    closing ??= each('close')
    await closing
  }
  supervisor.once('stopped', close)
  supervisor.on('handed-over', () => each('leave'))
  supervisor.on('resumed', () => openings.push(open().then(report)))
  supervisor.succession?.awaits(openings[0])
  const failed = (await openings[0]).find(server => server.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  return { close }
}

module.exports = { operate }
