'use strict'

/**
 * What a successor is started with: this process's own command line, with the node, the folder and the code that are there
 * now, under the names by which this process was started. A symbolic link that has been switched since leads to the new ones.
 */

const fs = require('node:fs')
const path = require('node:path')

/** At the start: the folder can be gone later, or the parent, and the service manager's variables are taken out. */
const AT_START = { folder: folderAsNamed(process.env.PWD), startedBy: process.ppid, service: serviceOf(process.env) }

/**
 * @typedef {object} Program
 * @property {string} node
 * @property {string[]} args
 * @property {string} cwd
 * @property {Record<string, string | undefined>} env
 *
 * @param {string} [node] another one than that of the command line
 * @returns {Program}
 */
function programOnDisk (node = nodeOnDisk(process.argv0, process.execPath, process.env.PATH, AT_START.folder)) {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES, WATCHDOG_PID, ...env } = process.env
  return { node, args: [...process.execArgv, ...process.argv.slice(1)], cwd: AT_START.folder, env: { ...env, ...AT_START.service } }
}

/**
 * The node that the command line finds now: its first word, which is "node" where a shell or `#!/usr/bin/env node` has
 * looked for it in PATH. Where there is none of that name, the file that runs.
 *
 * @param {string} argv0
 * @param {string} execPath
 * @param {string} [searched] PATH
 * @param {string} [cwd] of the start
 * @returns {string} absolute
 */
function nodeOnDisk (argv0, execPath, searched = '', cwd = '/') {
  const folders = argv0.includes('/') ? [''] : searched.split(path.delimiter)
  return folders.map(folder => path.resolve(cwd, folder, argv0)).find(isExecutable) ?? execPath
}

/** @param {string} file */
function isExecutable (file) {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}

/** The working directory by the name that the shell knows it by: the kernel's has no symbolic links in it. @param {string | undefined} named */
function folderAsNamed (named) {
  const folder = process.cwd()
  if (!named || !path.isAbsolute(named)) return folder
  try {
    const [a, b] = [fs.statSync(named), fs.statSync(folder)]
    return a.ino === b.ino && a.dev === b.dev ? named : folder
  } catch {
    return folder
  }
}

/** What whyNoUpgrade() judges by. */
function aboutThisProcess () {
  return { pid: process.pid, startedBy: AT_START.startedBy, init: nameOfInit(), env: { ...process.env, ...AT_START.service } }
}

/** The successor tells the service manager of itself. What is for this pid alone, LISTEN_FDS for example, is left out. @param {Record<string, string | undefined>} env */
function serviceOf ({ NOTIFY_SOCKET, WATCHDOG_USEC }) {
  return { ...NOTIFY_SOCKET && { NOTIFY_SOCKET }, ...WATCHDOG_USEC && { WATCHDOG_USEC } }
}

/** @returns {string | null} null: there is no /proc */
function nameOfInit () {
  try {
    return fs.readFileSync('/proc/1/comm', 'utf8').trim()
  } catch {
    return null
  }
}

module.exports = { programOnDisk, nodeOnDisk, folderAsNamed, aboutThisProcess }
