'use strict'

/**
 * The command of a successor: this process's own command line, with the node, the folder and the code that are
 * there now, under the names by which this process was started. A symbolic link that has been switched since leads to
 * the new ones.
 */

const fs = require('node:fs')
const { attempt } = require('../../core/attempt')
const { ENVIRONMENT, SUCCESSION } = require('../../features')
const { START_FOLDER } = require('../workers/app-path')
const { nodeOnDisk } = require('../workers/node-file')
const { PredecessorProcess } = require('./primary-process')

/**
 * At the start: the parent, `startedBy`, can be gone later, and the service manager's variables are taken out.
 * `service`: those that a successor is to have, too. LISTEN_FDS, say, is left out: it is for one pid alone.
 */
const AT_START = {
  startedBy: process.ppid,
  service: Object.fromEntries(Object.entries(ENVIRONMENT)
    .map(([name, lasts]) => [name, (lasts && process.env[name]) || undefined]))
}

/**
 * @typedef {object} Program
 * @property {string} node @property {string[]} args @property {string} cwd
 * @property {Record<string, string | undefined>} env
 *
 * @param {string} [node] another one than that of the command line @returns {Program}
 */
function programOnDisk (node = nodeOnDisk(process.argv0, process.execPath, process.env.PATH, START_FOLDER)) {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES, ...env } = process.env
  return {
    node, args: [...process.execArgv, ...process.argv.slice(1)], cwd: START_FOLDER, env: { ...env, ...AT_START.service }
  }
}

/**
 * @returns {{ pid: number, startedBy: number, init: string | null, env: NodeJS.ProcessEnv }} `init`: the name of PID 1,
 *   null: not known
 */
function aboutThisProcess () {
  return {
    pid: process.pid, startedBy: AT_START.startedBy, init: nameOfInit(), env: { ...process.env, ...AT_START.service }
  }
}

/** @returns {string | null} null: there is no /proc */
const nameOfInit = () => attempt(() => fs.readFileSync('/proc/1/comm', 'utf8').trim(), null)

/** @returns {string | null} why workers are not to start this program again when it has died; null: they may */
function whyNoRevival () {
  const about = aboutThisProcess()
  const { env, pid } = about
  const isService = Object.values(AT_START.service).some(value => value !== undefined)
  if (isService || env.SYSTEMD_EXEC_PID === String(pid)) return 'systemd starts it (Restart=)'
  if (env.pm_id !== undefined) return 'pm2 starts it'
  return process.send && !PredecessorProcess.isFound
    ? 'its parent starts it, by a channel'
    : SUCCESSION.whyNot(about)
}

module.exports = { programOnDisk, aboutThisProcess, whyNoRevival }
