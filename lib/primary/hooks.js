'use strict'

const { hooksOf } = require('../features')
const { loadAddon } = require('../native/addon')

/**
 * @param {import('../tables/options').Options} options
 * @returns {string[]} what of Node.js's inside the workers use or replace; they run the same Node.js as this process
 */
function hooksInWorkers (options, { addon } = loadAddon()) {
  const isLibuvHooked = addon && addon.guardQueue(-1)
  return [
    ...['signals', 'ends of connections', 'servers that are sent'],
    ...options.handoff ? ["sockets' handles"] : [],
    ...isLibuvHooked && !options.plain ? ['accept() without a descriptor'] : [],
    ...hooksOf(options, isLibuvHooked)
  ]
}

module.exports = { hooksInWorkers }
