'use strict'

// The daemon of pm2, in a home of its own.

const fs = require('node:fs')
const path = require('node:path')
const { temporaryFolder } = require('./folder')

/** Before pm2 is required. @param {Record<string, string>} [env] @returns {string} its home */
function setUpHome (env = {}) {
  const home = temporaryFolder()
  Object.assign(process.env, { PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', PM2_NO_INTERACTION: 'true', PM2_DISCRETE_MODE: 'true' }, env)
  return home
}

/** The daemon outlives this process. It is ended by its pid, and ends its workers. @param {string} home */
async function endDaemon (home) {
  const pid = Number(fs.readFileSync(path.join(home, 'pm2.pid'), 'latin1'))
  process.kill(pid, 'SIGTERM')
  for (let i = 0; i < 80 && isAlive(pid); i++) await new Promise(resolve => setTimeout(resolve, 100))
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}

/** @param {number} pid */
function isAlive (pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

module.exports = { setUpHome, endDaemon }
