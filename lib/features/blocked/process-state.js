'use strict'

const fs = require('node:fs')

/**
 * Whether something else than its own code keeps a process from running.
 *
 * @param {number} pid @param {(pid: number) => string} [read]
 * @returns {'signal' | 'debugger' | null} stopped by a signal, or held by gdb, strace and the like; null also where
 *   there is no /proc
 */
function stoppedBy (pid, read = statusOf) {
  const status = read(pid)
  if (/^TracerPid:\t[1-9]/m.test(status)) return 'debugger'
  return /^State:\tT/m.test(status) ? 'signal' : null
}

/** @param {number} pid @returns {string} empty where it is not told */
function statusOf (pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return ''
  }
}

module.exports = { stoppedBy }
