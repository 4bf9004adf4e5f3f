'use strict'

/**
 * Settings with which the primary has this process begin. The app does not see it.
 * @param {string} name of an environment variable @returns {any}
 */
function ownSettings (name) {
  const settings = JSON.parse(String(process.env[name]))
  delete process.env[name]
  return settings
}

module.exports = { ownSettings }
