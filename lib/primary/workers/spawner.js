'use strict'

/** Forks workers: the app as cluster's `exec`, our preload as the one thing before it. */

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const path = require('node:path')
const { drawBudget } = require('../../core/budget')
const { gcFlags, collectsFirst } = require('../../core/gc')
const { openCompileCache } = require('./compile-cache')
const { WorkerHandle } = require('./worker-handle')
const { prefixLines } = require('./prefix-output')
const { ClusterProcess, UnstartedProcess } = require('./process')

const PRELOAD = path.join(__dirname, '..', '..', 'worker', 'preload.js')

const NODE_MAJOR = parseInt(process.versions.node)
const INSPECT = /^--inspect(?:-brk|-wait|-port)?=(?:.*:)?(\d+)$/
const DEFAULT_INSPECT_PORT = 9229
const MOST_WORKERS = 1024
const STANDBY_PORTS = 4096 // in turn: a standby that serves may live long beside those after it

class Spawner {
  /** How many workers each slot has had. @type {Map<number, number>} */
  #spawned = new Map()
  /** How many standbys there have been. */
  #standbys = 0

  /**
   * @param {string} app absolute path
   * @param {string[]} args
   * @param {import('../../core/options').Options} options
   */
  constructor (app, args, options) {
    this.app = app
    this.args = args
    this.options = options
    /** Node and V8 flags of the workers; where two contradict each other the later one wins. */
    this.execArgv = [...gcFlags(options.gc, { maxRssBytes: options.maxRssBytes, nodeMajor: NODE_MAJOR }), ...options.nodeOptions]
    this.compileCache = options.compileCache ? openCompileCache(process.env) : null
  }

  /**
   * @param {number | null} slot null: a standby, which is told when it is called
   * @param {{ generation: number, mustListenOn: ReadonlySet<string> }} terms
   * @returns {WorkerHandle}
   */
  spawn (slot, { generation, mustListenOn }) {
    const { options } = this
    const piped = options.prefix ? 'pipe' : 'inherit'
    cluster.setupPrimary({
      exec: this.app,
      args: this.args,
      execArgv: ['--require', PRELOAD, ...this.execArgv],
      stdio: ['ignore', piped, piped, 'ipc'],
      inspectPort: this.#inspectPort(slot)
    })
    const process = fork({
      RECYCLE_SLOT: slot === null ? 'standby' : String(slot),
      RECYCLE_WORKER: JSON.stringify({
        isStandby: slot === null,
        compileCache: this.compileCache,
        collectsFirst: collectsFirst(options.gc, NODE_MAJOR),
        beatMs: Math.min(500, options.intervalMs, Math.round(options.stuckTimeoutMs / 4)),
        drainTimeoutMs: options.drainTimeoutMs,
        stopLingerMs: options.stopLingerMs,
        killTimeoutMs: options.killTimeoutMs
      })
    })
    const budget = drawBudget(options, Math.random())
    const handle = new WorkerHandle(slot, process, { generation, budget, mustListenOn, readyOn: options.readyOn })
    if (options.prefix && process instanceof ClusterProcess) prefixLines(process.worker.process, () => handle.slot ?? 'standby')
    return handle
  }

  /**
   * With `--inspect`, each slot has two ports of its own, in turn: a worker and its replacement run side by side. A
   * standby keeps the one that it was spawned with.
   *
   * @param {number | null} slot
   */
  #inspectPort (slot) {
    const base = this.options.nodeOptions.map(option => INSPECT.exec(option)?.[1]).find(Boolean) ?? DEFAULT_INSPECT_PORT
    if (slot === null) return Number(base) + 2 * MOST_WORKERS + this.#standbys++ % STANDBY_PORTS
    const before = this.#spawned.get(slot) ?? 0
    this.#spawned.set(slot, before + 1)
    return Number(base) + 2 * slot + before % 2
  }
}

/** @param {Record<string, string>} env @returns {import('./process').WorkerProcess} */
function fork (env) {
  try {
    return new ClusterProcess(cluster.fork(env))
  } catch (error) {
    return new UnstartedProcess(/** @type {Error} */ (error))
  }
}

module.exports = { Spawner }
