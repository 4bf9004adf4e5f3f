'use strict'

/**
 * Starts workers: the app as cluster's `exec`, our preload as the one thing before it. Where a feature is their source,
 * they are copies of a process that has loaded the app.
 */

const cluster = /** @type {Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { FEATURES, gatesOf, longestSilence, v8Of } = require('../../features')
const { drawBudget } = require('../../tables/budget')
const { takeAhead } = require('./ahead')
const { AppPath } = require('./app-path')
const { forkGuardable, guardChannel } = require('./channel-guard')
const { newMarker } = require('./children')
const { openCompileCache } = require('../../native/compile-cache')
const { ClusterProcess } = require('./process')
const { nodeToRun, STARTED_WITH } = require('./node-file')
const { WorkerCode } = require('./worker-code')
/** @import { Cluster, Worker } from 'node:cluster' */
/** @import { Ahead } from './ahead' */
/** @import { WorkerHandle } from './worker-handle' */
/** @import { WorkerProcess } from './process' */
/** @import { Warning } from '../../journal/events' */

const NODE_MAJOR = parseInt(process.versions.node)
const INSPECT = /^--inspect(?:-brk|-wait|-port)?=(?:.*:)?(\d+)$/
const AWAITS_DEBUGGER = /^--inspect-(?:brk|wait)(?:=|$)/
const DEFAULT_INSPECT_PORT = 9229
const LAST_PORT = 65_535
const MOST_WORKERS = 1024
const FIRST = 0 // generation
const AHEAD_FD = 4 // behind the channel
const KEEP_MS = 500
const STANDBY_PORTS = 4096 // in turn: a standby that serves may live long beside those after it

/**
 * A worker that a feature has asked for in place of an ordinary one. It is no copy.
 *
 * @typedef {object} Variant
 * @property {string} feature its name: its part of a worker is loaded there, though it has no settings elsewhere
 * @property {string[]} execArgv more flags of Node.js and V8
 * @property {object} settings of that part
 *
 * @typedef {object} Source of workers, in place of a process of its own for each
 * @property {(generation: number, start: () => Worker) => { worker: Worker, forkedBy?: import('./process').Forker }}
 *   fork `start` runs cluster.fork() once; the worker's process begins later, or has begun where it is no copy
 * @property {(generation: number) => void} keep one of which there are to be copies while a newer one is on trial
 * @property {(generation: number) => boolean} has a worker of it can be had without loading the app again
 * @property {(generation: number) => void} settle no other one is wanted from here on
 * @property {(process: WorkerProcess) => void} succeeded a worker has started
 * @property {(process: WorkerProcess) => void} failed a worker has died that had not
 * @property {() => void} close the fleet stops
 * @property {(timeoutMs: number) => Promise<void>} ended resolves when nothing of it is left; what is left then is
 *   killed
 */

class Spawner {
  /** How many workers each slot has had; null: how many standbys there have been. @type {Map<number | null, number>} */
  #spawned = new Map()

  /**
   * @param {string} app as given @param {string[]} args @param {import('../../tables/options').Options} options
   * @param {{ outputs: import('../outputs').Outputs, survivors: import('../survivors').Survivors, record:
   *   import('../../journal/events').Recording, source: Source | null, isServing: boolean }} means `source`: null, each
   *   worker is a process of its own; `isServing`: another primary's workers serve already
   */
  constructor (app, args, options, { outputs, survivors, record, source, isServing }) {
    this.args = args
    this.options = options
    this.outputs = outputs
    this.survivors = survivors
    this.source = source
    this.isServing = isServing
    this.warn = (/** @type {Warning} */ fields) => { record('fleet.warning', fields) }
    this.v8 = v8Of(options, NODE_MAJOR)
    /** Node and V8 flags of the workers; where two contradict each other the later one wins. */
    this.execArgv = [...this.v8.flags, ...options.nodeOptions]
    this.appPath = new AppPath(app, this.execArgv)
    this.code = new WorkerCode(this.warn)
    this.compileCache = options.compileCache ? openCompileCache(process.env) : null
  }

  /** To stderr. @param {string} text whole lines */
  print (text) {
    this.outputs.of(2).pass(Buffer.from(text), this)
  }

  /**
   * Starts a process of which workers are to be copies.
   * @param {{ label: string, generation: number, control: number, settings: object }} how `label`: in
   *   place of a slot; `control`: one more descriptor that it is given; `settings`: of lib/features/fork/original.js
   */
  startOriginal ({ label, generation, control, settings }) {
    const { id, env } = newMarker()
    const ofCopies = { ...this.#settings, warmsUp: true }
    const own = { RECYCLE_SLOT: label, RECYCLE_ORIGINAL: JSON.stringify({ worker: ofCopies, settings }) }
    const worker = this.#fork({ ...env, ...own }, { generation, more: control, slot: () => label })
    setImmediate(() => this.code.keep())
    guardChannel(worker.process, () => {}) // what its app sends is of no use here
    return { id, worker }
  }

  /**
   * Starts the first worker before the fleet: see start-ahead.js.
   * @returns {Ahead}
   */
  startAhead () {
    const { id, env } = newMarker()
    const { exec, cwd } = this.appPath.of(FIRST)
    const worker = this.#fork(
      { ...env, RECYCLE_SLOT: '0', RECYCLE_WORKER: JSON.stringify({ ...this.#settings, waitsAt: AHEAD_FD }) },
      { generation: FIRST, slot: () => 0, more: 'pipe' }
    )
    const go = worker.process.stdio[AHEAD_FD]
    go?.on('error', () => {}) // it has died, and its exit is told
    return {
      id,
      exec,
      cwd,
      process: new ClusterProcess(() => ({ worker }), { isEarly: true }),
      go: settings => { /** @type {import('node:net').Socket | undefined} */ (go)?.end(JSON.stringify(settings)) }
    }
  }

  /**
   * @param {number | null} slot null: a standby, which is told when it is called
   * @param {{ generation: number, workers: number, required: import('./required-addresses').Required, variant?: Variant
   *   | null }} terms `workers`: to be
   * @returns {WorkerHandle}
   */
  spawn (slot, { generation, workers, required, variant = null }) {
    const { WorkerHandle } = require('./worker-handle') // start-ahead.js does without
    const orphan = variant ? null : this.survivors.take(slot)
    const ahead = takeAhead(orphan || variant || slot !== 0 ? null : () => this.appPath.of(generation))
    const { id, env } = orphan ? { id: orphan.facts.id, env: {} } : ahead ? { id: ahead.id, env: {} } : newMarker()
    const start = () => this.#fork({
      ...env,
      RECYCLE_SLOT: slot === null ? 'standby' : String(slot),
      RECYCLE_WORKER: JSON.stringify(this.#settingsOf(variant, { id, generation }))
    }, {
      generation, slot: () => handle.slot ?? 'standby', inspectPort: this.#inspectPort(slot),
      execArgv: variant?.execArgv
    })
    const process = ahead?.process ?? new ClusterProcess(() => orphan
      ? { worker: orphan.adoptBy(start) }
      : (variant ? null : this.source?.fork(generation, start)) ?? { worker: start() })
    const budget = drawBudget(this.options, workers, Math.random())
    /** @type {WorkerHandle} */
    const handle = new WorkerHandle(slot, process, {
      id,
      generation: orphan?.facts.generation ?? generation,
      budget,
      required,
      readyOn: this.options.readyOn,
      gates: orphan ? [] : gatesOf(this.options),
      variant,
      isAdopted: orphan !== null,
      awaitsDebugger: this.execArgv.some(flag => AWAITS_DEBUGGER.test(flag))
    })
    handle.app = orphan?.facts.app ?? this.appPath.known(generation) ?? this.app
    ahead?.process.begin()
    ahead?.go({ orphan: this.#settingsOf(null, { id, generation }).orphan })
    const keep = () => this.code.keep()
    handle.once('ready', () => {
      this.isServing = true
      setImmediate(keep) // the first has its addresses sooner
    })
    setTimeout(keep, KEEP_MS).unref()
    return handle
  }

  /** A generation is to stay startable while a newer one is on trial. @param {number} generation */
  keep (generation) {
    this.source?.keep(generation)
  }

  /**
   * A worker can still be started by the code of this generation, and not by the later one's.
   * @param {number} generation @param {number} later
   */
  canRun (generation, later) {
    return this.source?.has(generation) === true || this.appPath.differs(generation, later)
  }

  /** No other code is started from here on. @param {number} generation @param {number} [rejected] */
  settle (generation, rejected) {
    this.source?.settle(generation)
    if (rejected !== undefined && this.appPath.known(generation) !== this.appPath.known(rejected)) {
      this.appPath.forget(rejected)
    }
  }

  /** @param {Variant | null} variant @param {{ id: string, generation: number }} about the worker */
  #settingsOf (variant, about) {
    const orphan = this.survivors.settings(this.appPath.of(about.generation).real)
    const settings = { ...this.#settings, orphan: orphan && { ...orphan, ...about } }
    return variant === null
      ? settings
      : { ...settings, features: { ...settings.features, [variant.feature]: variant.settings } }
  }

  get #settings () {
    const { options } = this
    const features = FEATURES.filter(({ worker, isOn }) => worker && isOn(options))
      .map(({ name, settings = () => ({}) }) => [name, settings(options)]).filter(([, settings]) => settings !== null)
    return {
      orphan: null,
      waitsAt: null,
      compileCache: this.compileCache,
      collectsFirst: this.v8.collectsFirst,
      warmsUp: this.isServing,
      beatMs: Math.min(500, options.intervalMs, Math.round(longestSilence(options) / 4)),
      drainTimeoutMs: options.drainTimeoutMs,
      stopLingerMs: options.stopLingerMs,
      killTimeoutMs: options.killTimeoutMs,
      features: Object.fromEntries(features),
      api: FEATURES.flatMap(({ api = [] }) => api)
    }
  }

  /**
   * @param {Record<string, string>} env
   * @param {{ generation: number, slot: () => number | string, more?: number | 'pipe', inspectPort?: number,
   *   execArgv?: string[] }} how `slot`: as it is for its output; `more`: one more descriptor that it is given
   */
  #fork (env, { generation, slot, more, inspectPort, execArgv = [] }) {
    const { stdio } = this.outputs
    const { exec, cwd } = this.appPath.of(generation)
    this.#findNode()
    cluster.setupPrimary({
      exec,
      cwd,
      args: this.args,
      execArgv: [...this.execArgv, '--require', this.code.preload, ...execArgv],
      stdio: ['ignore', stdio, stdio, 'ipc', ...more === undefined ? [] : [more]],
      inspectPort
    })
    const worker = forkGuardable(() => cluster.fork(this.options.plain ? { ...env, RECYCLE_ADDON: 'none' } : env))
    this.outputs.connect(worker.process, slot)
    return worker
  }

  /** Node.js's fork() takes it from here. */
  #findNode () {
    const node = nodeToRun()
    if (node !== process.execPath) this.warn({ warning: 'node', was: STARTED_WITH, node })
    process.execPath = node
  }

  /** The app's file, of the release that the fleet runs. */
  get app () {
    return this.appPath.current
  }

  /**
   * With `--inspect`, each slot has two ports of its own, in turn: a worker and its replacement run side by side. A
   * standby keeps the one that it was spawned with. With port 0, and past the last one, the system chooses.
   * @param {number | null} slot
   */
  #inspectPort (slot) {
    const base = Number(this.options.nodeOptions.map(option => INSPECT.exec(option)?.[1]).find(Boolean) ??
      DEFAULT_INSPECT_PORT)
    const before = this.#spawned.get(slot) ?? 0
    this.#spawned.set(slot, before + 1)
    const port = base + (slot === null ? 2 * MOST_WORKERS + before % STANDBY_PORTS : 2 * slot + before % 2)
    return base === 0 || port > LAST_PORT ? 0 : port
  }
}

module.exports = { Spawner }
