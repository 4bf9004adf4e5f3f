'use strict'

/**
 * What a service manager such as systemd passes to its service by the environment: sd_listen_fds(3), sd_notify(3) and
 * sd_watchdog_enabled(3).
 *
 * @typedef {object} ServiceEnvironment
 * @property {{ fd: number, name: string | null }[]} sockets
 * @property {string | null} notifySocket where it hears of the service's state; null: it does not ask for it
 * @property {number | null} watchdogMs it must hear a sign of life that often; null: it need not
 */

const FIRST_FD = 3
const MOST_SOCKETS = 1024
const VARIABLES = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'NOTIFY_SOCKET', 'WATCHDOG_PID', 'WATCHDOG_USEC']

/**
 * Reads the variables and deletes them: they are for this process, and a worker would take them for its own.
 *
 * @param {Record<string, string | undefined>} env
 * @param {number} pid this process's; what is for another one is not read
 * @returns {ServiceEnvironment}
 */
function takeServiceEnvironment (env, pid) {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = '', NOTIFY_SOCKET, WATCHDOG_PID, WATCHDOG_USEC } = env
  for (const name of VARIABLES) delete env[name]
  const count = Number(LISTEN_PID) === pid ? numberOf(LISTEN_FDS) : 0
  const names = LISTEN_FDNAMES.split(':')
  const watchdogUs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === pid ? numberOf(WATCHDOG_USEC) : 0
  return {
    sockets: Array.from({ length: Math.min(count, MOST_SOCKETS) }, (_, i) => ({ fd: FIRST_FD + i, name: names[i] || null })),
    notifySocket: NOTIFY_SOCKET || null,
    watchdogMs: NOTIFY_SOCKET && watchdogUs > 0 ? watchdogUs / 1000 : null
  }
}

/** @param {string | undefined} text */
function numberOf (text = '') {
  return /^\d+$/.test(text) ? Number(text) : 0
}

module.exports = { takeServiceEnvironment }
