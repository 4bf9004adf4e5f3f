'use strict'

/**
 * The supervisor runs a fleet of workers from its start to its stop. What happens goes through announce(), and from
 * there to the journal, the log and the listeners for `event`; parts.js has what makes it happen.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { budgetFor } = require('../core/container-budget')
const { longestSilence } = require('../features')
const { ENDS } = require('../journal/events')
const { watchClock } = require('./clock')
const { nameOfApp } = require('./fleet-name')
const { assembleParts } = require('./parts')
const { hooksInWorkers } = require('./hooks')
const { describeFleet } = require('./status')
const { whyNoRevival } = require('./succession/program')

/** @import { JournalLine } from '../lines' */

const VERSION = 1
/** Events after which workers are told what the next primary is to know. */
const TOLD = new Set([
  'worker.ready', 'worker.crash', 'fleet.scale', 'fleet.unpin', 'fleet.reload', 'fleet.trial', ...ENDS.keys()
])

/**
 * A running fleet. Emits `event` with every journal line, `message` ({ slot, pid, message }) with what the app sends by
 * `process.send`, and `stopped` at the end, with the error that ended it or null.
 *
 * @typedef {object} Given
 * @property {string} app as given
 * @property {string[]} args @property {import('../tables/options').Options} options
 * @property {import('./outputs').Outputs} outputs
 * @property {ReturnType<typeof import('./measuring/meter').pickMeter>} meter
 * @property {import('./sockets/inherited-sockets').InheritedSockets} [inherited]
 * @property {import('./succession/takeover').Takeover | null} [takeover] of a running fleet
 *
 * @typedef {ReturnType<Supervisor['status']>} Status
 * @typedef {object} Events
 * @property {[line: JournalLine]} event
 * @property {[about: { slot: number | null, pid: number, message: unknown }]} message
 * @property {[failure: RecycleError | null]} stopped @property {[]} handed-over @property {[]} resumed
 *
 * @extends {EventEmitter<Events>}
 */
class Supervisor extends EventEmitter {
  /** @type {Promise<void> | null} */
  #stopped = null
  /** @type {RecycleError | null} */
  #failure = null
  #isStarted = false
  #stopWatching = () => {}
  #ended = new AbortController()
  /** A stop waits for nothing any more. */
  #hurried = new AbortController()
  /** Why this process, as PID 1, cannot collect the exits of orphans. @type {string | null} */
  #notReaped = null

  /**
   * @param {Given} given @param {object} deps @param {(line: JournalLine) => void} deps.write takes every journal line
   * @param {() => Promise<unknown>} deps.flush
   * @param {() => string | null} [deps.journalTrouble] why the journal cannot be written now
   * @param {import('./orphans').Orphans | null} [deps.orphans] null: this process has children that are not the fleet's
   */
  constructor (given, { write, flush, journalTrouble = () => null, orphans = null }) {
    super()
    this.setMaxListeners(0)
    this.options = given.options
    this.write = write
    this.flush = flush
    this.journalTrouble = journalTrouble
    this.orphans = orphans
    this.parts = assembleParts(given, {
      record: this.announce.bind(this),
      abandon: error => this.abandon(error),
      onMessage: message => this.emit('message', message)
    })
    this.name = given.options.name ?? nameOfApp(this.parts.spawner.appPath.named)
    const { commands } = this.parts
    this.ready = commands.ready.bind(commands)
    this.recycle = (/** @type {number} */ slot) => commands.recycle(slot)
    this.reload = commands.reload.bind(commands)
    this.rollback = commands.rollback.bind(commands)
    this.scale = commands.scale.bind(commands)
    this.cpuprofile = commands.cpuprofile.bind(commands)
    this.signal = commands.signal.bind(commands)
    Object.assign(this, commands.ofFeatures)
    this.handover = this.parts.handover
      .on('to-stop', () => { this.stop() })
      .on('handed-over', () => this.emit('handed-over'))
      .on('resumed', () => this.emit('resumed'))
      .on('left', () => { this.#stopped ??= this.#end() })
    this.succession = this.parts.succession
  }

  /** Begins; a second call changes nothing. */
  start () {
    if (this.#isStarted || this.isStopping) return this
    this.#isStarted = true
    const { options, parts: { fleet, tasks, meter, memoryWatch, sampler, changed, features, succession } } = this
    const { takeover, spawner: { app, args, execArgv, compileCache } } = this.parts
    this.announce('fleet.start', {
      pid: process.pid, predecessor: takeover?.pid ?? null, app, args, execArgv, meter: meter.name,
      node: process.version, compileCache, hooks: hooksInWorkers(options), options
    })
    this.#watchOrphans()
    const why = options.revive ? whyNoRevival() : null
    if (why !== null) this.announce('fleet.warning', { warning: 'no-revival', why })
    memoryWatch.start()
    if (succession) {
      tasks.run('prepare', () => succession.prepare())
    } else {
      fleet.resize(options.workers)
      this.parts.adoption.begin()
      changed()
    }
    sampler.begin()
    features.begin(this.#ended.signal)
    this.#stopWatching = watchClock(longestSilence(options), sleptMs => { // readings over that time say nothing
      features.wake()
      this.announce('fleet.slept', { sleptMs })
    })
    this.ready().then(() => this.#sayReady(), () => {}) // it stops before it is ready
    return this
  }

  #sayReady () {
    const { fleet, listeningSockets } = this.parts
    const { maxRssBytes } = budgetFor(this.options, this.size)
    this.announce('fleet.ready',
      { pid: process.pid, listening: listeningSockets.urls(), workers: fleet.serving().length, maxRssBytes })
    listeningSockets.warnOfUnused()
  }

  /** A stop has begun. */
  get isStopping () {
    return this.#stopped !== null
  }

  /** How many workers there are to be. */
  get size () {
    return this.parts.fleet.desired
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const told = describeFleet(this.parts, this.#notReaped, this.journalTrouble())
    return { v: VERSION, name: this.name, pid: process.pid, ...told }
  }

  /** Metrics that features add to `/metrics`. @returns {Promise<string>} in Prometheus's text format */
  async scrape () {
    const { features, legacy } = this.parts
    const [text] = await Promise.all([features.scrape(), legacy.ask()])
    return text
  }

  /**
   * Stops the fleet: no more connections, what is in flight finishes. Called again, or with `now`, it hurries: what is
   * in flight is cut.
   * @param {{ now?: boolean }} [how] @returns {Promise<void>} resolves when every worker is gone
   */
  stop ({ now = false } = {}) {
    const isSecond = this.#stopped !== null
    if (isSecond || now) this.#hurried.abort()
    this.#stopped ??= this.#stop()
    if (isSecond || now) (this.handover.isLeaving ? this.parts.departure : this.parts.shutdown).hurry()
    return this.#stopped
  }

  /** Orphans come to PID 1, and to no other process as a rule. */
  #watchOrphans () {
    if (process.pid !== 1) return
    const why = this.#notReaped = this.orphans ? this.orphans.watch() : 'recycle is used as a library'
    if (why !== null) this.announce('fleet.warning', { warning: 'pid-1', why })
  }

  async #stop () {
    this.announce('fleet.stopping', {})
    const decided = this.handover.close('the fleet is stopping')
    for (const handle of this.parts.fleet.all()) handle.send('stopping')
    const wait = this.#isInService ? this.parts.features.beforeStop(this.#hurried.signal) : null
    if (wait !== null) await wait
    this.parts.tenure.end(this.#failure ?? new RecycleError('RECYCLE_STOPPED'))
    await this.#stopWorkers(decided).catch(error => this.parts.failures.note('stop', error))
    await this.#end()
  }

  /** The fleet serves, is not to stop at once, and no other primary takes part. */
  get #isInService () {
    const { fleet, tenure } = this.parts
    return !this.handover.isUnderWay && tenure.isSole && !this.#failure && !this.#hurried.signal.aborted &&
      fleet.serving().length > 0
  }

  /** @param {Promise<unknown>} decided which primary runs the fleet */
  async #stopWorkers (decided) {
    await decided
    if (this.handover.hasLeft) return
    await this.#leaveTakeover()
    this.#endSupport()
    await this.parts.shutdown.run()
    await this.parts.spawner.source?.ended(this.options.stopTimes.killMs)
    await this.parts.tasks.settled()
    const failure = this.#failure?.code ?? null
    this.announce('fleet.stop', { pid: process.pid, recycles: this.parts.recycler.own, failure })
  }

  /**
   * No other primary runs the fleet when this one has stopped: where this one has not led, or has failed, its
   * predecessor does.
   */
  get isLast () {
    const { tenure } = this.parts
    return tenure.isSole || (tenure.hasBegun && !this.#failure)
  }

  /** While the predecessor runs. */
  async #leaveTakeover () {
    const { takeover } = this.parts
    if (takeover === null || takeover.isSole) return
    if (this.isLast) return takeover.stopping()
    this.parts.listeningSockets.letGo()
    this.emit('handed-over')
    await takeover.fail(this.#failure?.message ?? 'it has been told to stop')
  }

  #endSupport () {
    this.parts.sampler.end()
    this.#stopWatching()
    this.parts.balancer.stop()
    this.#ended.abort()
    this.parts.spawner.source?.close()
  }

  async #end () {
    this.#endSupport()
    await this.parts.tasks.settled()
    this.parts.ledger.close()
    this.orphans?.close()
    this.parts.spawner.code.close()
    await this.flush().catch(error => this.parts.failures.note('flush', error))
    queueMicrotask(() => this.emit('stopped', this.#failure))
  }

  /**
   * Stops the fleet for an error: `ready()` and whatever else is waited for rejects with it.
   * @param {RecycleError} error
   */
  abandon (error) {
    if (this.isStopping) return
    this.#failure = error
    this.announce('fleet.failed', { code: error.code, error: error.message })
    this.stop()
  }

  /**
   * The line of an event goes into the journal, the log and to the listeners for `event`. They run after the step that
   * is under way: an error of theirs is theirs alone.
   * @type {import('../journal/events').Recording}
   */
  announce (event, fields) {
    const t = Date.now() // eslint-disable-line no-restricted-properties -- a time of day, for people and other journals
    const line = /** @type {any} */ ({ v: VERSION, t, event, ...fields })
    this.write(line)
    queueMicrotask(() => this.emit('event', line))
    if (TOLD.has(event)) this.parts.legacy.tellSoon()
    return line
  }
}

module.exports = { Supervisor }
