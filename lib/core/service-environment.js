'use strict'

/**
 * Variables that a service manager such as systemd passes to its service: sd_listen_fds(3), and what features
 * take.
 */

const { ENVIRONMENT } = require('../features')

const FIRST_FD = 3
const MOST_SOCKETS = 1024

/**
 * Reads the variables and deletes them: they are for this process, and a worker would take them for its own.
 *
 * @param {Record<string, string | undefined>} env
 * @param {number} pid this process's; sockets for another one are not read
 * @returns {{ sockets: { fd: number, name: string | null }[], variables: Record<string, string | undefined> }}
 *   `variables`: of features
 */
function takeServiceEnvironment (env, pid) {
  const { LISTEN_PID, LISTEN_FDS = '', LISTEN_FDNAMES = '' } = env
  const variables = Object.fromEntries(Object.keys(ENVIRONMENT).map(name => [name, env[name]]))
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', ...Object.keys(ENVIRONMENT)]) delete env[name]
  const count = Number(LISTEN_PID) === pid && /^\d+$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : 0
  const names = LISTEN_FDNAMES.split(':')
  return {
    sockets: Array.from(
      { length: Math.min(count, MOST_SOCKETS) }, (_, i) => ({ fd: FIRST_FD + i, name: names[i] || null })
    ),
    variables
  }
}

module.exports = { takeServiceEnvironment }
