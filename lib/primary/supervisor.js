'use strict'

/**
 * The one place where looking, deciding, acting and recording come together:
 *
 *     every interval   watch.look() ─▶ condemned ─▶ recycler.giveTurns() ─▶ raise, drain, retire, account
 *
 * Judging is watch.js and lib/core/, the lives of workers are crew.js, recycles recycler.js, who is who fleet.js, what
 * may be asked of it orders.js. What happens goes through #record(), and from there to the journal, the log and whoever listens.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { Aside } = require('./aside')
const { Balance } = require('./balance')
const { now } = require('./clock')
const { Collection } = require('./collection')
const { Crew } = require('./crew')
const { Fleet } = require('./fleet')
const { Inspection } = require('./inspection')
const { Listeners } = require('./listeners')
const { nameOfApp } = require('./name')
const { Orders } = require('./orders')
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
    this.orders = new Orders({
      ...rooms,
      crew: this.crew,
      recycler: this.recycler,
      collection: this.collection,
      inspection: this.inspection,
      look: at => this.#look(at),
      assertRunning: () => this.#assertRunning()
    })
  }

  start () {
    if (this.#stopping) return this
    const { spawner: { app, args, execArgv, compileCache }, options } = this
    this.#record('fleet.start', { pid: process.pid, app, args, execArgv, meter: this.watch.meter.name, node: process.version, compileCache, options })
    if (process.pid === 1) this.#record('fleet.warning', { warning: 'pid-1' })
    for (let i = 0; i < options.workers; i++) this.crew.boot(this.#fleet.open())
    this.#timer = setInterval(() => this.#look(), options.intervalMs)
    return this
  }

  /** @see Orders.ready */
  async ready () {
    return this.orders.ready()
  }

  /** @see Orders.recycle @param {number} slot */
  async recycle (slot) {
    return this.orders.recycle(slot)
  }

  /** @see Orders.reload */
  async reload () {
    return this.orders.reload()
  }

  /** @see Orders.scale @param {number} workers 1 to 1024 */
  async scale (workers) {
    return this.orders.scale(workers)
  }

  /** @see Orders.gc @param {number} slot */
  async gc (slot) {
    return this.orders.gc(slot)
  }

  /** @see Orders.heapdump @param {number} slot @param {{ file?: string, then?: 'recycle' }} [how] */
  async heapdump (slot, how) {
    return this.orders.heapdump(slot, how)
  }

  /** @see Orders.cpuprofile @param {number} slot @param {{ durationMs?: number, file?: string }} [how] */
  async cpuprofile (slot, how) {
    return this.orders.cpuprofile(slot, how)
  }

  /** A stop has begun. */
  get isStopping () {
    return this.#stopping !== null
  }

  /** For rooms that operate the fleet: what they have to say goes into the journal, the log and to whoever listens. @param {string} event @param {Record<string, any>} fields */
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
    handle.on('flaw', ({ type, flaw }) => {
      this.#record('worker.protocol-error', { slot: handle.slot, pid: handle.pid, type, flaw })
      handle.wish = 'protocol-error'
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
