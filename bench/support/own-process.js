'use strict'

const { execFile } = require('node:child_process')
const { promisify } = require('node:util')

/**
 * Runs a file of the benches as a program, so that it does not share an event loop with what is measured: it gets `how`
 * as JSON, and prints JSON.
 *
 * @param {string} file
 * @param {object} how
 * @returns {Promise<any>} what it has printed
 */
async function inOwnProcess (file, how) {
  const running = promisify(execFile)(process.execPath, [file, JSON.stringify(how)])
  const end = () => running.child.kill('SIGKILL')
  process.once('exit', end)
  try {
    return JSON.parse((await running).stdout)
  } finally {
    process.removeListener('exit', end)
  }
}

module.exports = { inOwnProcess }
