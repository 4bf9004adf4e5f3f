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

/**
 * @typedef {object} Ahead
 * @property {string} id
 * @property {string} exec what it runs @property {string | undefined} cwd
 * @property {import('./process').ClusterProcess} process
 * @property {(settings: { orphan: import('../../worker/prepare').Settings['orphan'] }) => void} go it is wanted
 */

/** @type {Ahead | null} */
let waiting = null

/**
 * @param {string} app @param {string[]} args
 * @param {import('../../tables/options').Options} options
 */
function startAhead (app, args, options) {
  if (!mayStart(options)) return
  // Node.js aborts where a thread of its pool cannot be started: they start before a worker takes the room for it
  fs.access(path.sep, () => {})
  const { Spawner } = require('./spawner')
  /** @type {any} */
  const none = { outputs: { stdio: 'inherit', connect () {} }, survivors: {}, record () {} }
  waiting = attempt(() => new Spawner(app, args, options, none).startAhead(), null) // what fails, fails again later
}

/**
 * No code but this package's may run before the fleet has begun, and nothing is heard from the worker.
 *
 * @param {import('../../tables/options').Options} options
 */
function mayStart (options) {
  return options.nodeOptions.length === 0 && !process.env.NODE_OPTIONS && options.readyOn === 'listening' &&
    outputOf(options) === null && processesBeside(options) === 0
}

/**
 * The first worker is wanted; a worker that waits is used, or ended.
 *
 * @param {(() => { exec: string, cwd: string | undefined }) | null} find what the first worker is to run; null: it is
 *   no process of its own
 * @returns {Ahead | null}
 */
function takeAhead (find) {
  if (waiting === null) return null
  const { exec, cwd } = attempt(() => find?.(), null) ?? { exec: null }
  const ahead = waiting
  if (ahead.exec !== exec || ahead.cwd !== cwd || ahead.process.hasLeft) return endAhead()
  waiting = null
  return ahead
}

/** No worker is wanted any more that waits. @returns {null} */
function endAhead () {
  waiting?.process.kill('SIGKILL', 'unstarted')
  return (waiting = null)
}

module.exports = { startAhead, takeAhead, endAhead }
