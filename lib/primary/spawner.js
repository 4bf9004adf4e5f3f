'use strict'

/** Forks workers: the app as cluster's `exec`, our preload as the one thing before it. */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const path = require('node:path')
const { drawBudget } = require('../core/budget')
const { Handle } = require('./handle')
const { prefixLines } = require('./output')

const PRELOAD = path.join(__dirname, '..', 'worker', 'preload.js')

const INSPECT = /^--inspect(?:-brk|-wait|-port)?=(?:.*:)?(\d+)$/
const DEFAULT_INSPECT_PORT = 9229

class Spawner {
  /** How many workers each slot has had. @type {Map<number, number>} */
  #spawned = new Map()

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
      stdio: ['ignore', piped, piped, 'ipc'],
      inspectPort: this.#inspectPort(slot)
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

  /** With `--inspect`, each slot has two ports of its own, in turn: a worker and its replacement run side by side. @param {number} slot */
  #inspectPort (slot) {
    const base = this.options.nodeOptions.map(option => INSPECT.exec(option)?.[1]).find(Boolean) ?? DEFAULT_INSPECT_PORT
    const before = this.#spawned.get(slot) ?? 0
    this.#spawned.set(slot, before + 1)
    return Number(base) + 2 * slot + before % 2
  }
}

module.exports = { Spawner }
