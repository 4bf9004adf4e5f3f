'use strict'

/** Forks workers: the app as cluster's `exec`, our preload as the one thing before it. */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const path = require('node:path')
const { drawBudget } = require('../core/budget')
const { Handle } = require('./handle')
const { prefixLines } = require('./output')

const PRELOAD = path.join(__dirname, '..', 'worker', 'preload.js')

class Spawner {
  /**
   * @param {string} app absolute path
   * @param {string[]} args
   * @param {import('../core/options').Options} options
   */
  constructor (app, args, options) {
    this.app = app
    this.args = args
    this.options = options
  }

  /**
   * @param {number} slot
   * @param {{ generation: number, mustListenOn: ReadonlySet<string> }} terms
   * @returns {Handle}
   */
  spawn (slot, { generation, mustListenOn }) {
    const { options } = this
    const piped = options.prefix ? 'pipe' : 'inherit'
    cluster.setupPrimary({
      exec: this.app,
      args: this.args,
      execArgv: ['--require', PRELOAD, ...options.nodeOptions],
      stdio: ['ignore', piped, piped, 'ipc']
    })
    const worker = cluster.fork({
      RECYCLE_SLOT: String(slot),
      RECYCLE_WORKER: JSON.stringify({
        beatMs: Math.min(500, options.intervalMs, Math.round(options.stuckTimeoutMs / 4)),
        drainTimeoutMs: options.drainTimeoutMs,
        stopLingerMs: options.stopLingerMs,
        killTimeoutMs: options.killTimeoutMs
      })
    })
    if (options.prefix) prefixLines(worker.process, slot)
    const budget = drawBudget(options, Math.random())
    return new Handle(slot, worker, { generation, budget, mustListenOn, readyOn: options.readyOn })
  }
}

module.exports = { Spawner }
