'use strict'

/**
 * Loaded into tap's runner: test files are started without tap's process tracker, source maps and loaders, for which
 * each would pay 0.4 s of CPU or more. Only coverage, `--changed`, mocks and TypeScript need them.
 */

const { ChildProcess } = require('node:child_process')
const path = require('node:path')

const NOT_WANTED = /^--(?:import|loader)=|^--enable-source-maps$|^--no-warnings$/

const internals = /** @type {any} */ (ChildProcess.prototype)
const { spawn } = internals
internals.spawn = function (/** @type {{ args: string[] }} */ options) {
  const [node, ...args] = options.args.filter(arg => !NOT_WANTED.test(arg))
  const isTest = args.some(arg => arg.endsWith('.test.js'))
  options.args = [node, ...isTest ? ['--require', path.join(__dirname, 'bare-tap.js')] : [], ...args]
  return spawn.call(this, options)
}
