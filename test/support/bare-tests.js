'use strict'

/**
 * Loaded into tap's runner: test files are started without tap's process tracker and source maps, for which each would
 * pay 0.4 s of CPU. Only coverage and `--changed` need them.
 */

const { ChildProcess } = require('node:child_process')

const TRACKER = /^--import=.*processinfo|^--enable-source-maps$/

const internals = /** @type {any} */ (ChildProcess.prototype)
const { spawn } = internals
internals.spawn = function (/** @type {{ args: string[] }} */ options) {
  options.args = options.args.filter(arg => !TRACKER.test(arg))
  return spawn.call(this, options)
}
