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
const { Balance } = require('./balance')
const { Crew } = require('./crew')
const { Fleet } = require('./fleet')
const { Listeners } = require('./listeners')
const { Rollout } = require('./rollout')
const { Switchboard } = require('./switchboard')
const { Watch } = require('./watch')
const { Recycler } = require('./recycler')
const { drainAndRetire } = require('./deeds')
const { describeFleet } = require('./status')

/** @typedef {import('./handle').Handle} Handle @typedef {import('./fleet').Slot} Slot */

const VERSION = 1
const REAP_MS = 1000
const ANSWER_MS = 1000

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
    this.write = write
    this.flush = flush
    const rooms = { options, fleet: this.#fleet, rollout: this.#rollout, spawner, meter, record: this.#record.bind(this) }
    this.watch = new Watch(rooms)
    this.switchboard = new Switchboard(() => this.#fleet.serving(), sender => this.#fleet.successorOf(sender))
    this.balance = new Balance(rooms)
    this.crew = new Crew(rooms)
      .on('spawned', handle => this.#welcome(handle))
      .on('ready', handle => this.watch.attend(handle))
      .on('change', () => this.emit('change'))
      .on('hopeless', details => this.#fail(details))
    this.recycler = new Recycler({ ...rooms, crew: this.crew, watch: this.watch })
      .on('change', () => this.emit('change'))
  }

  start () {
    const { spawner: { app, args }, options } = this
    this.#record('fleet.start', { pid: process.pid, app, args, meter: this.watch.meter.name, node: process.version, options })
    for (let i = 0; i < options.workers; i++) this.crew.boot(this.#fleet.open())
    this.#timer = setInterval(() => this.#look(), options.intervalMs)
    return this
  }

  /** Resolves when every slot has a worker that is ready. @returns {Promise<void>} @throws {RecycleError} RECYCLE_APP_DIES */
  async ready () {
    await this.#until(() => this.#fleet.list().every(slot => slot.incumbent?.isServing))
  }

  /**
   * Replaces the worker of a slot; resolves with the journal's `recycled` line when the old one is gone.
   *
   * @param {number} slot
   * @returns {Promise<Record<string, any>>}
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_NOT_READY, RECYCLE_STOPPED
   */
  async recycle (slot) {
    const { incumbent } = this.#fleet.slots.get(slot) ?? this.#noSlot(slot)
    if (!incumbent) throw new RecycleError('RECYCLE_NOT_READY', { slot, why: 'it has no worker at the moment' })
    /** @type {{ line?: any, why?: string }} */
    let outcome = {}
    incumbent.once('recycled', result => { outcome = result })
    incumbent.wish ??= 'asked'
    await this.#look()
    await this.#until(() => outcome.line !== undefined || outcome.why !== undefined || incumbent.state === 'crashed')
    if (outcome.line) return outcome.line
    throw new RecycleError('RECYCLE_NOT_READY', { slot, why: outcome.why ?? 'the old worker crashed first' })
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
    await this.#look()
    const isOld = (/** @type {Handle | null} */ handle) => handle !== null && handle.generation < generation
    await this.#until(() => this.#rollout.wasStopped(generation) || (!this.#fleet.all().some(isOld) &&
      this.#fleet.list().every(slot => slot.incumbent?.isServing && !isOld(slot.recycling))))
    if (this.#rollout.wasStopped(generation)) throw new RecycleError('RECYCLE_ROLLOUT_STOPPED', { failures: Rollout.PATIENCE })
    this.#rollout.finish(generation)
  }

  /** Resolves when the fleet has `workers` workers. @param {number} workers 1 to 1024 */
  async scale (workers) {
    if (!(Number.isInteger(workers) && workers >= 1 && workers <= 1024)) {
      throw new RecycleError('RECYCLE_BAD_OPTION', { option: 'workers', given: workers, accepts: 'a whole number from 1 to 1024' })
    }
    this.#assertRunning()
    const slots = this.#fleet.list()
    this.#record('fleet.scale', { from: slots.length, to: workers })
    for (let i = slots.length; i < workers; i++) this.crew.boot(this.#fleet.open())
    await Promise.all([this.ready(), ...slots.slice(workers).map(slot => this.#dissolve(slot))])
  }

  /** How many slots there are. */
  get size () {
    return this.#fleet.slots.size
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const { workers, ready } = describeFleet(this.#fleet, Date.now())
    const totals = { workers: this.size, ready, recycles: this.recycler.count, ...this.switchboard.totals }
    return { v: VERSION, pid: process.pid, app: this.spawner.app, workers, totals }
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
    if (isSecond || now) this.#hurry()
    return this.#stopping
  }

  async #look () {
    if (this.#stopping) return
    await this.watch.look()
    this.recycler.giveTurns()
  }

  /** Scales a slot away. @param {Slot} slot */
  async #dissolve (slot) {
    await this.#until(() => slot.recycling === null)
    const { incumbent } = slot
    slot.recycling = incumbent
    if (incumbent && !incumbent.isGone) {
      incumbent.reason ??= 'scale'
      this.#fleet.vacate(slot, incumbent)
      const { account, drainMs } = await drainAndRetire(incumbent, 'scale', this.options, this.#record.bind(this))
      this.#record('scaled', { slot: slot.slot, pid: null, oldPid: incumbent.pid, reason: 'scale', ...account, drainMs })
    }
    this.#fleet.close(slot)
    this.emit('change')
  }

  async #stop () {
    clearInterval(this.#timer)
    this.watch.stop()
    this.balance.stop()
    this.crew.dismiss()
    this.#record('fleet.stopping', {})
    await this.#giveUpAddresses()
    const { stopLingerMs: lingerMs, drainTimeoutMs, killTimeoutMs } = this.options
    await Promise.all(this.#fleet.all().map(async handle => {
      if (handle.state === 'draining') { // somebody has it in hand; it is told to close what is idle
        const gone = handle.next(['exit'], drainTimeoutMs + killTimeoutMs + REAP_MS)
        handle.send('drain', { reason: 'stop', deadlineMs: drainTimeoutMs, lingerMs, handoff: false })
        await gone
      } else {
        handle.reason ??= 'stop'
        const { account, drainMs } = await drainAndRetire(handle, 'stop', { ...this.options, handoff: false }, this.#record.bind(this), lingerMs)
        this.#record('stopped', { slot: handle.slot, pid: null, oldPid: handle.pid, reason: 'stop', ...account, drainMs })
      }
    }))
    await this.recycler.settled()
    this.switchboard.close()
    this.#record('fleet.stop', { recycles: this.recycler.count, failure: this.#failure?.code ?? null })
    await this.flush()
    this.emit('change')
    this.emit('stopped', this.#failure)
  }

  /**
   * First the addresses are given up, then keep-alive clients are told to close: in the other order they would come back
   * at once, into a queue that is just being closed. A worker that boots may hold an address too.
   */
  async #giveUpAddresses () {
    const shut = Promise.all(this.#fleet.all().map(async handle => {
      if (handle.state === 'draining') return
      const answer = handle.next(['shut', 'exit'], ANSWER_MS)
      if (handle.hasEntered) {
        handle.send('shut')
      } else {
        handle.become('draining')
        handle.kill('SIGKILL')
      }
      await answer
    }))
    const last = await this.#listeners.closeAll(shut)
    const serving = this.#fleet.serving()
    for (const [i, { key, client }] of last.entries()) {
      const able = serving.filter(handle => handle.addresses.has(key))
      if (able.length > 0) able[i % able.length].send('accept', { key }, client, () => client.close())
      else client.close()
    }
  }

  #hurry () {
    for (const handle of this.#fleet.all()) {
      handle.send('drain', { reason: 'stop', deadlineMs: 0, lingerMs: 0, handoff: false })
      setTimeout(() => handle.kill('SIGKILL'), this.options.killTimeoutMs).unref()
    }
  }

  /** @param {Handle} handle */
  #welcome (handle) {
    this.switchboard.connect(handle)
    this.balance.connect(handle)
    handle.on('listen', ({ id, key, query, data }) => {
      if (this.#stopping) return // what is being given up is not taken again; who asks now is about to go
      const { errno, handle: socket, data: shared } = this.#listeners.open(key, query, data, handle)
      if (errno) handle.renounce(key)
      handle.send('listener', { id, errno, data: shared }, socket)
    })
    handle.on('unlisten', ({ key }) => { if (handle.state !== 'draining') this.#listeners.leave(key, handle) })
    handle.on('exit', () => this.#listeners.forget(handle))
    handle.on('missing', ({ key, missing }) => this.#record('fleet.warning', { warning: 'no-handoff', key, missing }))
    handle.on('wish', ({ reason }) => {
      this.#record('worker.wish', { slot: handle.slot, pid: handle.pid, wish: reason ?? null })
      handle.wish ??= 'asked'
      this.#look()
    })
    handle.on('disconnect', () => { if (handle.isServing) handle.wish ??= 'asked' }) // the app has cut the channel
    handle.on('message', message => this.emit('message', { slot: handle.slot, pid: handle.pid, message }))
  }

  /** @param {{ deaths: number, how: string }} details */
  #fail (details) {
    this.#failure ??= new RecycleError('RECYCLE_APP_DIES', details)
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

  /** @param {number} slot @returns {never} */
  #noSlot (slot) {
    throw new RecycleError('RECYCLE_NO_SLOT', { slot, slots: [...this.#fleet.slots.keys()].join(', ') })
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
