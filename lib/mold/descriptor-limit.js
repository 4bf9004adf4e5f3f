'use strict'

const fs = require('node:fs')

/** How many descriptors a process may have; Node.js has raised the soft limit to the hard one. @param {number | 'self'} [pid] @returns {number} Infinity: as many as it likes, or it is not told */
function descriptorLimit (pid = 'self') {
  try {
    return Number(/^Max open files +(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

module.exports = { descriptorLimit }
