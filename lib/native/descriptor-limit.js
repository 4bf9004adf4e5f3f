'use strict'

const fs = require('node:fs')
const { attempt } = require('../core/attempt')

/**
 * How many descriptors a process may have: Node.js has raised the soft limit.
 * @param {number | 'self'} [pid] @returns {number} Infinity: no limit is told
 */
function descriptorLimit (pid = 'self') {
  const limits = attempt(() => fs.readFileSync(`/proc/${pid}/limits`, 'latin1'), '')
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
}

module.exports = { descriptorLimit }
