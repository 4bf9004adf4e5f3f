'use strict'

/**
 * The one place where looking, deciding, acting and recording come together:
 *
 *     every interval   watch.look() ─▶ condemned ─▶ recycler.giveTurns() ─▶ raise, drain, retire, account
 *
 * Judging is watch.js and lib/core/, the lives of workers are crew.js, recycles recycler.js, who is who fleet.js. What
 * happens goes through #record(), and from there to the journal, the log and whoever listens.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { Aside } = require('./aside')
const { Balance } = require('./balance')
const { Collection } = require('./collection')
const { Crew } = require('./crew')
const { Fleet } = require('./fleet')
const { Inspection } = require('./inspection')
const { Listeners } = require('./listeners')
const { nameOfApp } = require('./name')
const { Rollout } = require('./rollout')
const { Shutdown } = require('./shutdown')
const { Switchboard } = require('./switchboard')
const { Watch } = require('./watch')
const { Recycler } = require('./recycler')
const { describeFleet } = require('./status')

/** @typedef {import('./handle').Handle} Handle */

const VERSION = 1
const DEATH_MS = 1000 // a worker's exit comes this much later than its channel's end, at the most

/**
 * A running fleet. Emits `event` with every journal line, `message` ({ slot, pid, message }) with what the app sends by
 * `process.send`, and `stopped` at the end, with the error that ended it or null.
 */
class Supervisor extends EventEmitter {
  #fleet = new Fleet()
  #listeners = new Listeners()
  #rollout = new Rollout()
  /** @type {Promise<void> | null} */
  #stopping = null
  /** @type {RecycleError | null} */
  #failure = null
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {import('../core/options').Options} options
   * @param {object} rooms
   * @param {import('./spawner').Spawner} rooms.spawner
   * @param {ReturnType<typeof import('./meter').pickMeter>} rooms.meter
   * @param {(line: Record<string, any>) => void} rooms.write takes every journal line
   * @param {() => Promise<void>} rooms.flush
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
    const rooms = { options, fleet: this.#fleet, rollout: this.#rollout, spawner, meter, record: this.#record.bind(this), changed }
    this.watch = new Watch(rooms)
    this.switchboard = new Switchboard(() => this.#fleet.serving(), sender => this.#fleet.successorOf(sender))
    this.balance = new Balance(rooms)
    this.crew = new Crew(rooms)
      .on('spawned', handle => this.#welcome(handle))
      .on('standby', handle => this.watch.attend(handle))
      .on('ready', handle => this.watch.attend(handle))
      .on('change', () => {
        this.aside.look()
        this.emit('change')
      })
      .on('hopeless', details => this.abandon(new RecycleError('RECYCLE_APP_DIES', details)))
    this.aside = new Aside(rooms)
      .on('change', () => this.emit('change'))
    this.shutdown = new Shutdown({ ...rooms, listeners: this.#listeners })
    this.inspection = new Inspection({ ...rooms, aside: this.aside })
    this.collection = new Collection({ ...rooms, watch: this.watch, aside: this.aside })
      .on('change', () => this.recycler.giveTurns())
    this.recycler = new Recycler({ ...rooms, crew: this.crew, watch: this.watch, collection: this.collection })
      .on('change', () => this.emit('change'))
  }

  start () {
    if (this.#stopping) return this
    const { spawner: { app, args, execArgv, compileCache }, options } = this
    this.#record('fleet.start', { pid: process.pid, app, args, execArgv, meter: this.watch.meter.name, node: process.version, compileCache, options })
    for (let i = 0; i < options.workers; i++) this.crew.boot(this.#fleet.open())
    this.#timer = setInterval(() => this.#look(), options.intervalMs)
    return this
  }

  /** Resolves when every slot has a worker that is ready. @returns {Promise<void>} @throws {RecycleError} RECYCLE_APP_DIES */
  async ready () {
    await this.#until(() => this.#fleet.staying().every(slot => slot.incumbent?.isServing))
  }

  /**
   * Replaces the worker of a slot; resolves with the journal's `recycled` line when the old one is gone.
   *
   * @param {number} slot
   * @returns {Promise<Record<string, any>>}
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_NOT_READY, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async recycle (slot) {
    const place = this.#slotOf(slot)
    const { incumbent } = place
    if (!incumbent) throw new RecycleError('RECYCLE_NOT_DONE', { slot, what: 'the recycle', why: 'it has no worker at the moment' })
    /** @type {{ line?: any, why?: string }} */
    let outcome = {}
    incumbent.once('recycled', result => { outcome = result })
    incumbent.wish ??= 'asked'
    await this.#look({ wishesAlone: true })
    await this.#until(() => outcome.line !== undefined || outcome.why !== undefined || (incumbent.isGone && place.recycling !== incumbent && !place.isDissolving))
    if (outcome.line) return outcome.line
    if (outcome.why === undefined || place.isDissolving) {
      throw new RecycleError('RECYCLE_NOT_DONE', { slot, what: 'the recycle', why: outcome.why ?? 'its worker crashed first' })
    }
    throw new RecycleError('RECYCLE_NOT_READY', { slot, why: outcome.why })
  }

  /**
   * Replaces every worker that was spawned before this call, a few at a time. A reload during a reload joins it: each
   * worker is replaced until it is newer than the last call.
   *
   * @throws {RecycleError} RECYCLE_ROLLOUT_STOPPED after three replacements in a row that did not become ready
   */
  async reload () {
    this.#assertRunning()
    const isStale = this.#fleet.all().some(handle => handle.generation === this.#rollout.generation)
    const generation = this.#rollout.begin(isStale)
    this.#record('fleet.reload', { generation })
    await this.#look({ wishesAlone: true })
    const isOld = (/** @type {Handle | null} */ handle) => handle !== null && handle.generation < generation
    await this.#until(() => this.#rollout.wasStopped(generation) || (!this.#fleet.all().some(isOld) &&
      this.#fleet.staying().every(slot => slot.incumbent?.isServing && !isOld(slot.recycling))))
    if (this.#rollout.wasStopped(generation)) throw new RecycleError('RECYCLE_ROLLOUT_STOPPED', { failures: Rollout.PATIENCE })
    this.#rollout.finish(generation)
  }

  /** Resolves when the fleet has `workers` workers. @param {number} workers 1 to 1024 */
  async scale (workers) {
    if (!(Number.isInteger(workers) && workers >= 1 && workers <= 1024)) {
      throw new RecycleError('RECYCLE_BAD_OPTION', { option: 'workers', given: workers, accepts: 'a whole number from 1 to 1024' })
    }
    this.#assertRunning()
    const slots = this.#fleet.staying()
    this.#record('fleet.scale', { from: slots.length, to: workers })
    for (let i = slots.length; i < workers; i++) this.crew.boot(this.#fleet.open())
    for (const slot of slots.slice(workers)) this.recycler.dissolve(slot)
    await this.#until(() => this.#fleet.list().every(slot => !slot.isDissolving && slot.incumbent?.isServing))
  }

  /**
   * Has a worker collect its garbage out of rotation, so that no request waits for it.
   *
   * @param {number} slot
   * @returns {Promise<Record<string, any>>} the journal's `collected` line
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async gc (slot) {
    this.#assertSlot(slot)
    return this.collection.request(slot)
  }

  /**
   * Writes a heap snapshot of a worker, out of rotation.
   *
   * @param {number} slot
   * @param {{ file?: string, then?: 'recycle' }} [how] `file`: a new one; by default in the working directory, named by slot,
   *   pid and time. `then`: the worker is replaced afterwards
   * @returns {Promise<Record<string, any>>} the journal's `heapdump` line; with `then`, its `recycled` beside
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async heapdump (slot, { file, then } = {}) {
    this.#assertSlot(slot)
    const line = await this.inspection.dumpHeap(slot, file)
    return then === 'recycle' ? { ...line, recycled: await this.recycle(slot) } : line
  }

  /**
   * Takes a CPU profile of a worker while it serves.
   *
   * @param {number} slot
   * @param {{ durationMs?: number, file?: string }} [how] 10 s by default; up to 10 minutes
   * @returns {Promise<Record<string, any>>} the journal's `cpuprofile` line
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_BAD_OPTION, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async cpuprofile (slot, { durationMs = 10_000, file } = {}) {
    this.#assertSlot(slot)
    return this.inspection.profileCpu(slot, durationMs, file)
  }

  /** A stop has begun. */
  get isStopping () {
    return this.#stopping !== null
  }

  /** For rooms that operate the fleet: what they have to say goes into the journal, the log and to whoever listens. @param {string} event @param {Record<string, any>} fields */
  announce (event, fields) {
    this.#record(event, fields)
  }

  /** How many slots there are; one that is being scaled away counts no more. */
  get size () {
    return this.#fleet.staying().length
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const { workers, ready } = describeFleet(this.#fleet, Date.now())
    const totals = { workers: this.size, ready, recycles: this.recycler.count, ...this.switchboard.totals }
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
    await this.watch.look(at)
    this.collection.attend()
    this.recycler.giveTurns()
  }

  async #stop () {
    clearInterval(this.#timer)
    this.watch.stop()
    this.balance.stop()
    this.crew.dismiss()
    this.aside.close()
    this.#record('fleet.stopping', {})
    await this.shutdown.run()
    await this.recycler.settled()
    this.switchboard.close()
    this.#record('fleet.stop', { recycles: this.recycler.count, failure: this.#failure?.code ?? null })
    await this.flush()
    this.emit('change')
    this.emit('stopped', this.#failure)
  }

  /** @param {Handle} handle */
  #welcome (handle) {
    this.#listeners.connect(handle)
    this.switchboard.connect(handle)
    this.balance.connect(handle)
    handle.on('missing', ({ key, missing }) => this.#record('fleet.warning', { warning: 'no-handoff', key, missing }))
    handle.on('wish', ({ reason }) => {
      this.#record('worker.wish', { slot: handle.slot, pid: handle.pid, wish: reason ?? null })
      handle.wish ??= 'asked'
      this.#look({ wishesAlone: true })
    })
    handle.on('disconnect', async () => { // it has died, or the app has cut the channel
      if ((await handle.next(['exit'], DEATH_MS)).event === 'exit') return
      if (handle.isWatched || handle.state === 'aside') handle.wish ??= 'asked'
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
    const line = { v: VERSION, t: Date.now(), event, ...fields }
    this.write(line)
    this.emit('event', line)
    return line
  }

  /** @param {number} slot */
  #assertSlot (slot) {
    this.#assertRunning()
    this.#slotOf(slot)
  }

  /** @param {number} slot */
  #slotOf (slot) {
    const slots = this.#fleet.staying()
    const found = slots.find(({ slot: number }) => number === slot)
    if (found) return found
    throw new RecycleError('RECYCLE_NO_SLOT', { slot, slots: slots.map(({ slot }) => slot).join(', ') })
  }

  #assertRunning () {
    if (this.#failure) throw this.#failure
    if (this.#stopping) throw new RecycleError('RECYCLE_STOPPED')
  }

  /** @param {() => boolean} isSo */
  async #until (isSo) {
    this.#assertRunning()
    while (!isSo()) {
      await new Promise(resolve => this.once('change', resolve))
      this.#assertRunning()
    }
  }
}

module.exports = { Supervisor }
