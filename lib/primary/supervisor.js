'use strict'

/**
 * The one place where looking, deciding, acting and recording come together:
 *
 *     every interval   sampler.look() ─▶ condemned ─▶ recycler.startRecycles() ─▶ raise, drain, retire, account
 *
 * Judging is sampler.js and lib/core/, the lives of workers are lifecycle.js, recycles recycler.js, who is who fleet.js, what
 * may be asked of it commands.js. What happens goes through #record(), and from there to the journal, the log and whoever listens.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { OutOfRotation } = require('./recycling/out-of-rotation')
const { Balancer } = require('./handoff/balancer')
const { now } = require('./clock')
const { GarbageCollection } = require('./recycling/garbage-collection')
const { Lifecycle } = require('./workers/lifecycle')
const { Fleet } = require('./workers/fleet')
const { Diagnostics } = require('./recycling/diagnostics')
const { ListeningSockets } = require('./sockets/listening-sockets')
const { nameOfApp } = require('./fleet-name')
const { Commands } = require('./commands')
const { Rollout } = require('./recycling/rollout')
const { Shutdown } = require('./recycling/shutdown')
const { HandoffLedger } = require('./handoff/ledger')
const { Sampler } = require('./measuring/sampler')
const { Recycler } = require('./recycling/recycler')
const { describeFleet } = require('./status')

/** @typedef {import('./workers/worker-handle').WorkerHandle} WorkerHandle */

const VERSION = 1
const DEATH_MS = 1000 // a worker's exit comes this much later than its channel's end, at the most

/**
 * A running fleet. Emits `event` with every journal line, `message` ({ slot, pid, message }) with what the app sends by
 * `process.send`, and `stopped` at the end, with the error that ended it or null.
 */
class Supervisor extends EventEmitter {
  #fleet = new Fleet()
  #listeningSockets = new ListeningSockets()
  #rollout = new Rollout()
  /** @type {Promise<void> | null} */
  #stopping = null
  /** @type {RecycleError | null} */
  #failure = null
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {import('../core/options').Options} options
   * @param {object} deps
   * @param {import('./workers/spawner').Spawner} deps.spawner
   * @param {ReturnType<typeof import('./measuring/meter').pickMeter>} deps.meter
   * @param {(line: Record<string, any>) => void} deps.write takes every journal line
   * @param {() => Promise<void>} deps.flush
   */
  constructor (options, { spawner, meter, write, flush }) {
    super()
    this.setMaxListeners(0)
    this.options = options
    this.spawner = spawner
    this.name = options.name ?? nameOfApp(spawner.app)
    this.write = write
    this.flush = flush
    const changed = () => new Promise(resolve => this.once('change', resolve))
    const deps = { options, fleet: this.#fleet, rollout: this.#rollout, spawner, meter, record: this.#record.bind(this), changed }
    this.sampler = new Sampler(deps)
    this.ledger = new HandoffLedger(() => this.#fleet.serving(), sender => this.#fleet.successorOf(sender))
    this.balancer = new Balancer(deps)
    this.lifecycle = new Lifecycle(deps)
      .on('spawned', handle => this.#welcome(handle))
      .on('standby', handle => this.sampler.attend(handle))
      .on('ready', handle => this.sampler.attend(handle))
      .on('change', () => {
        this.outOfRotation.look()
        this.emit('change')
      })
      .on('hopeless', details => this.abandon(new RecycleError('RECYCLE_APP_DIES', details)))
    this.outOfRotation = new OutOfRotation(deps)
      .on('change', () => this.emit('change'))
    this.shutdown = new Shutdown({ ...deps, listeningSockets: this.#listeningSockets })
    this.diagnostics = new Diagnostics({ ...deps, outOfRotation: this.outOfRotation })
    this.garbageCollection = new GarbageCollection({ ...deps, sampler: this.sampler, outOfRotation: this.outOfRotation })
      .on('change', () => this.recycler.startRecycles())
    this.recycler = new Recycler({ ...deps, lifecycle: this.lifecycle, sampler: this.sampler, garbageCollection: this.garbageCollection })
      .on('change', () => this.emit('change'))
    this.commands = new Commands({
      ...deps,
      lifecycle: this.lifecycle,
      recycler: this.recycler,
      garbageCollection: this.garbageCollection,
      diagnostics: this.diagnostics,
      look: at => this.#look(at),
      assertRunning: () => this.#assertRunning()
    })
  }

  start () {
    if (this.#stopping) return this
    const { spawner: { app, args, execArgv, compileCache }, options } = this
    this.#record('fleet.start', { pid: process.pid, app, args, execArgv, meter: this.sampler.meter.name, node: process.version, compileCache, options })
    if (process.pid === 1) this.#record('fleet.warning', { warning: 'pid-1' })
    for (let i = 0; i < options.workers; i++) this.lifecycle.boot(this.#fleet.open())
    this.#timer = setInterval(() => this.#look(), options.intervalMs)
    return this
  }

  /** @see Commands.ready */
  async ready () {
    return this.commands.ready()
  }

  /** @see Commands.recycle @param {number} slot */
  async recycle (slot) {
    return this.commands.recycle(slot)
  }

  /** @see Commands.reload */
  async reload () {
    return this.commands.reload()
  }

  /** @see Commands.scale @param {number} workers 1 to 1024 */
  async scale (workers) {
    return this.commands.scale(workers)
  }

  /** @see Commands.gc @param {number} slot */
  async gc (slot) {
    return this.commands.gc(slot)
  }

  /** @see Commands.heapdump @param {number} slot @param {{ file?: string, then?: 'recycle' }} [how] */
  async heapdump (slot, how) {
    return this.commands.heapdump(slot, how)
  }

  /** @see Commands.cpuprofile @param {number} slot @param {{ durationMs?: number, file?: string }} [how] */
  async cpuprofile (slot, how) {
    return this.commands.cpuprofile(slot, how)
  }

  /** A stop has begun. */
  get isStopping () {
    return this.#stopping !== null
  }

  /** For deps that operate the fleet: what they have to say goes into the journal, the log and to whoever listens. @param {string} event @param {Record<string, any>} fields */
  announce (event, fields) {
    return this.#record(event, fields)
  }

  /** How many slots there are; one that is being scaled away counts no more. */
  get size () {
    return this.#fleet.staying().length
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const { workers, ready } = describeFleet(this.#fleet, now())
    const totals = { workers: this.size, ready, recycles: this.recycler.count, ...this.ledger.totals }
    return { v: VERSION, name: this.name, pid: process.pid, app: this.spawner.app, workers, totals }
  }

  /**
   * Stops the fleet: no more connections, what is in flight finishes. Called again, or with `now`, it hurries: what is
   * in flight is cut.
   *
   * @param {{ now?: boolean }} [how]
   * @returns {Promise<void>} resolves when every worker is gone
   */
  stop ({ now = false } = {}) {
    const isSecond = this.#stopping !== null
    this.#stopping ??= this.#stop()
    if (isSecond || now) this.shutdown.hurry()
    return this.#stopping
  }

  /** @param {{ wishesAlone?: boolean }} [at] */
  async #look (at) {
    if (this.#stopping) return
    await this.sampler.look(at)
    this.garbageCollection.attend()
    this.recycler.startRecycles()
  }

  async #stop () {
    clearInterval(this.#timer)
    this.sampler.stop()
    this.balancer.stop()
    this.lifecycle.dismiss()
    this.outOfRotation.close()
    this.#record('fleet.stopping', {})
    await this.shutdown.run()
    await this.recycler.settled()
    this.ledger.close()
    this.#record('fleet.stop', { recycles: this.recycler.count, failure: this.#failure?.code ?? null })
    await this.flush()
    this.emit('change')
    this.emit('stopped', this.#failure)
  }

  /** @param {WorkerHandle} handle */
  #welcome (handle) {
    this.#listeningSockets.connect(handle)
    this.ledger.connect(handle)
    this.balancer.connect(handle)
    handle.on('missing', ({ key, missing }) => this.#record('fleet.warning', { warning: 'no-handoff', key, missing }))
    handle.on('requested', ({ reason }) => {
      this.#record('worker.request', { slot: handle.slot, pid: handle.pid, reason: reason ?? null })
      handle.requested ??= 'requested'
      this.#look({ wishesAlone: true })
    })
    handle.on('flaw', ({ type, flaw }) => {
      this.#record('worker.protocol-error', { slot: handle.slot, pid: handle.pid, type, flaw })
      handle.requested = 'protocol-error'
      this.#look({ wishesAlone: true })
    })
    handle.on('disconnect', async () => { // it has died, or the app has cut the channel
      if ((await handle.next(['exit'], DEATH_MS)).event === 'exit') return
      if (handle.isWatched || handle.state === 'out-of-rotation') handle.requested ??= 'requested'
    })
    handle.on('message', message => this.emit('message', { slot: handle.slot, pid: handle.pid, message }))
  }

  /** Stops the fleet for an error: `ready()` and whatever else is waited for rejects with it. @param {RecycleError} error */
  abandon (error) {
    this.#failure ??= error
    this.#record('fleet.failed', { code: this.#failure.code, error: this.#failure.message })
    this.emit('change')
    this.stop()
  }

  /** @param {string} event @param {Record<string, any>} fields */
  #record (event, fields) {
    const t = Date.now() // eslint-disable-line no-restricted-properties -- a time of day, for people and other journals
    const line = { v: VERSION, t, event, ...fields }
    this.write(line)
    this.emit('event', line)
    return line
  }

  #assertRunning () {
    if (this.#failure) throw this.#failure
    if (this.#stopping) throw new RecycleError('RECYCLE_STOPPED')
  }
}

module.exports = { Supervisor }
