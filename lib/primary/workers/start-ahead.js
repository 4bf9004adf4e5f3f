'use strict'

/**
 * The first worker of a fleet of which this process is the command: started while the rest of the primary is still to
 * be loaded, on another CPU. It loads this package and waits; the app is loaded when the fleet has begun and wants the
 * worker. Where the fleet does not, as its name is taken, say, no line of the app has run.
 */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { outputOf, processesBeside } = require('../../features')
const { hold } = require('./ahead')
const { Spawner } = require('./spawner')

const RUNS_NOTHING = /^(?:--max-[\w-]+=\d+|--no-[\w-]+|--enable-source-maps|)$/ // of Node's flags

/**
 * @param {string} app @param {string[]} args
 * @param {import('../../tables/options').Options} options
 */
function startAhead (app, args, options) {
  if (!mayStart(options)) return
  // Node.js aborts where a thread of its pool cannot be started: they start before a worker takes the room for it
  fs.access(path.sep, () => {})
  /** @type {any} */
  const none = {
    outputs: { stdio: 'inherit', connect () {} }, survivors: {}, record () {}, source: null, isServing: false
  }
  attempt(() => hold(new Spawner(app, args, options, none).startAhead()), null) // what fails, fails again later
}

/**
 * No code but this package's may run before the fleet has begun, and nothing is heard from the worker.
 * @param {import('../../tables/options').Options} options
 */
function mayStart (options) {
  const flags = [...options.nodeOptions, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)]
  return flags.every(flag => RUNS_NOTHING.test(flag)) && options.readyOn === 'listening' &&
    outputOf(options) === null && processesBeside(options) === 0
}

module.exports = { startAhead }
