'use strict'

/** Holds the worker that start-ahead.js has started, until the fleet wants it or is known not to. */

const { attempt } = require('../../core/attempt')

/**
 * @typedef {object} Ahead
 * @property {string} id
 * @property {string} exec what it runs @property {string | undefined} cwd
 * @property {import('./process').ClusterProcess} process
 * @property {(settings: { orphan: import('../../worker/prepare').Settings['orphan'] }) => void} go it is wanted
 */

/** @type {Ahead | null} */
let waiting = null

/** @param {Ahead} ahead */
function hold (ahead) {
  waiting = ahead
}

/**
 * The first worker is wanted; a worker that waits is used, or ended.
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

module.exports = { hold, takeAhead, endAhead }
