'use strict'

/**
 * Whether the workers of a running fleet are processes that this one may kill. Their numbers are the fleet's own, and
 * those of a fleet in a container name other processes here: so the fleet must be a process that listens in the folder
 * of the control socket, and they its children.
 */

const fs = require('node:fs')
const { dirname } = require('node:path')
const { inodeOfSocket, statFields, unixSockets } = require('../../native/proc')

/**
 * @param {{ path: string, pid: number, workers: readonly { pid: number }[] }} fleet `path` of its control socket, `pid`
 *   of its primary
 * @returns {string | null} null: they are, and it may
 */
function whyNotKill ({ path, pid, workers }) {
  if (!fs.existsSync('/proc/self/stat')) return 'this system does not tell which processes are its workers (no /proc)'
  if (!listensIn(pid, dirname(path))) return `process ${pid} of this machine is not the fleet of ${path}, as far as this user may see: is it in a container?`
  const foreign = workers.find(worker => !isChild(worker.pid, pid))
  if (foreign) return `process ${foreign.pid} of this machine is no worker of the fleet`
  try {
    for (const worker of workers) process.kill(worker.pid, 0)
    return null
  } catch (error) {
    // A process that has exited just now
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM' ? 'this user may not kill its workers' : null
  }
}

/** @param {number} pid @param {number} parent @returns {boolean} false also where it has exited */
function isChild (pid, parent) {
  try {
    return Number(statFields(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))[1]) === parent
  } catch {
    return false
  }
}

/** The socket has another name than its file, to which it was linked. @param {number} pid @param {string} folder */
function listensIn (pid, folder) {
  try {
    const inodes = unixSockets(fs.readFileSync('/proc/net/unix', 'utf8')).filter(({ path }) => path !== null && dirname(path) === folder).map(({ inode }) => inode)
    return fs.readdirSync(`/proc/${pid}/fd`).some(fd => inodes.includes(String(inodeOfSocket(link(`/proc/${pid}/fd/${fd}`)))))
  } catch {
    return false
  }
}

/** @param {string} file */
function link (file) {
  try {
    return fs.readlinkSync(file)
  } catch {
    return '' // closed meanwhile
  }
}

module.exports = { whyNotKill, isChild }
