'use strict'

const fs = require('node:fs')

/**
 * How many descriptors a process may have: Node.js has raised the soft limit.
 *
 * @param {number | 'self'} [pid] @returns {number} Infinity: no limit is told
 */
function descriptorLimit (pid = 'self') {
  try {
    return Number(/^Max open files +(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

module.exports = { descriptorLimit }
