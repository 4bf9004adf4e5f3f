'use strict'

/**
 * Tells the service manager, such as systemd, what the fleet does, where the environment asks for it: sd_notify(3),
 * sd_watchdog_enabled(3).
 */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'systemd',
  options: () => [],
  group: '',
  isOn: () => true, // where it is asked for
  environment: { NOTIFY_SOCKET: true, WATCHDOG_USEC: true, WATCHDOG_PID: false },
  operate ({ NOTIFY_SOCKET, WATCHDOG_PID, WATCHDOG_USEC = '' }, supervisor, by) {
    if (!NOTIFY_SOCKET) return null
    const isWatched = /^\d+$/.test(WATCHDOG_USEC) && Number(WATCHDOG_USEC) > 0 && (WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid)
    const how = { notifySocket: NOTIFY_SOCKET, watchdogMs: isWatched ? Number(WATCHDOG_USEC) / 1000 : null }
    return new (require('./notifier').ServiceNotifier)(supervisor, how, by)
  },
  warnings: { notify: ({ why }) => `the service manager cannot be told what the fleet does: ${why}` }
})
