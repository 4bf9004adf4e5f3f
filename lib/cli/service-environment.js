'use strict'

/** Variables that a service manager such as systemd passes to its service: sd_listen_fds(3), and what features take. */

const FIRST_FD = 3
const MOST_SOCKETS = 1024

/**
 * Reads the variables and deletes them: they are for this process, and a worker would take them for its own.
 * @param {Record<string, string | undefined>} env
 * @param {number} pid this process's; sockets for another one are not read
 * @param {readonly string[]} names of variables that features take
 * @returns {{ sockets: { fd: number, name: string | null }[], variables: Record<string, string | undefined> }}
 *   `variables`: of features
 */
function takeServiceEnvironment (env, pid, names) {
  const { LISTEN_PID, LISTEN_FDS = '', LISTEN_FDNAMES = '' } = env
  const variables = Object.fromEntries(names.map(name => [name, env[name]]))
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', ...names]) delete env[name]
  const count = Number(LISTEN_PID) === pid && /^\d+$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : 0
  const called = LISTEN_FDNAMES.split(':')
  return {
    sockets: Array.from(
      { length: Math.min(count, MOST_SOCKETS) }, (_, i) => ({ fd: FIRST_FD + i, name: called[i] || null })
    ),
    variables
  }
}

module.exports = { takeServiceEnvironment }
