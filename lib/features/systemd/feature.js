'use strict'

/**
 * Tells the service manager, such as systemd, what the fleet does, where the environment asks for it: sd_notify(3),
 * sd_watchdog_enabled(3).
 */

/** @import { Supervised } from '../../operate/control-verbs' */

/**
 * @typedef {{ readiness: () => import('../../operate/admin/fleet-readiness').FleetReadiness, leads: string }}
 *   Operations `leads`: the event of a new primary
 *
 * @typedef {object} Own
 * @property {Record<string, boolean>} environment variables that are for the primary, and taken out; true: for one that
 *   takes the fleet over, too
 * @property {(variables: Record<string, string | undefined>, supervisor: Supervised, by: Operations) => { close: () =>
 *   Promise<unknown>, leave: () => Promise<unknown> } | null} operate `leave`: another primary has its like
 */

/** @type {Readonly<import('..').Feature & Own>} */
module.exports = Object.freeze({
  name: 'systemd',
  options: () => [],
  group: '',
  isOn: () => true, // where it is asked for
  environment: { NOTIFY_SOCKET: true, WATCHDOG_USEC: true, WATCHDOG_PID: false },
  operate ({ NOTIFY_SOCKET, WATCHDOG_PID, WATCHDOG_USEC = '' }, supervisor, by) {
    if (!NOTIFY_SOCKET) return null
    const isWatched = /^\d+$/.test(WATCHDOG_USEC) && Number(WATCHDOG_USEC) > 0 &&
      (WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid)
    const how = { notifySocket: NOTIFY_SOCKET, watchdogMs: isWatched ? Number(WATCHDOG_USEC) / 1000 : null }
    return new (require('./notifier').ServiceNotifier)(supervisor, how, by)
  },
  warnings: { notify: ({ why }) => `the service manager cannot be told what the fleet does: ${why}` }
})
