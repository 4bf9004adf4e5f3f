'use strict'

const fs = require('node:fs')

/**
 * Settings with which the primary has this process begin. The app does not see it.
 * @param {string} name of an environment variable @returns {any}
 */
function ownSettings (name) {
  const settings = JSON.parse(String(process.env[name]))
  delete process.env[name]
  return settings
}

/**
 * Waits, with this thread, until this worker is wanted.
 * @param {number} fd by which the rest of its settings comes; closed without, it is not wanted
 * @returns {unknown}
 */
function awaitRest (fd) {
  const rest = fs.readFileSync(fd, 'utf8')
  fs.closeSync(fd)
  if (rest === '') process.exit()
  return JSON.parse(rest)
}

module.exports = { ownSettings, awaitRest }
