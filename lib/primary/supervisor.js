'use strict'

/**
 * The one place where looking, deciding, acting and recording come together:
 *
 *     every interval   meter ─▶ Sample ─▶ window ─▶ verdict() ─▶ condemned ─▶ nextTurns() ─▶ #recycle()
 *
 * Deciding is lib/core/, the deeds are recycling.js, who is who is fleet.js. What happens goes through #record(), and
 * from there to the journal, the log and whoever listens.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { backoffMs } = require('../core/backoff')
const { makeSample, figure } = require('../core/sample')
const { nextTurns } = require('../core/turn')
const { verdict, isOver } = require('../core/verdict')
const { Fleet } = require('./fleet')
const { Listeners } = require('./listeners')
const { Switchboard } = require('./switchboard')
const { Rollout } = require('./rollout')
const { becomesReady, drain, retire, kill, howItLeft } = require('./recycling')
const { isTraced } = require('./meter/procfs')

/** @typedef {import('./handle').Handle} Handle @typedef {import('./fleet').Slot} Slot */

const VERSION = 1
const TOO_MANY_DEATHS = 5
const EARLY_MS = 1000

/**
 * A running fleet. Emits `event` with every journal line, `message` ({ slot, pid, message }) with what the app sends by
 * `process.send`, and `stopped` at the end.
 */
class Supervisor extends EventEmitter {
  #fleet = new Fleet()
  #listeners = new Listeners()
  #rollout = new Rollout()
  #probes = new WeakMap()
  #deaths = 0
  #recycles = 0
  #isLooking = false
  #lastLook = Date.now()
  #saidOverBudget = false
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
    this.options = options
    this.spawner = spawner
    this.meter = meter
    this.write = write
    this.flush = flush
    this.switchboard = new Switchboard(() => this.#fleet.serving(), sender => this.#successorOf(sender))
    this.setMaxListeners(0)
  }

  start () {
    const { app, args } = this.spawner
    this.#record('fleet.start', { pid: process.pid, app, args, meter: this.meter.name, node: process.version, options: this.options })
    for (let i = 0; i < this.options.workers; i++) this.#boot(this.#fleet.open())
    this.#timer = setInterval(() => this.#look(), this.options.intervalMs)
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
    const { incumbent } = this.#slot(slot)
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
    const generation = this.#rollout.begin()
    this.#record('fleet.reload', { generation })
    await this.#look()
    await this.#until(() => this.#rollout.wasStopped(generation) ||
      this.#fleet.all().every(handle => handle.generation >= generation && handle.isServing))
    if (this.#rollout.wasStopped(generation)) throw new RecycleError('RECYCLE_ROLLOUT_STOPPED', { failures: Rollout.PATIENCE })
    this.#rollout.finish(generation)
  }

  /** Resolves when the fleet has `workers` workers. @param {number} workers 1 or more */
  async scale (workers) {
    if (!(Number.isInteger(workers) && workers >= 1 && workers <= 1024)) {
      throw new RecycleError('RECYCLE_BAD_OPTION', { option: 'workers', given: workers, accepts: 'a whole number from 1 to 1024' })
    }
    this.#assertRunning()
    const slots = this.#fleet.list()
    this.#record('fleet.scale', { from: slots.length, to: workers })
    for (let i = slots.length; i < workers; i++) this.#boot(this.#fleet.open())
    await Promise.all([this.ready(), ...slots.slice(workers).map(slot => this.#dissolve(slot))])
  }

  /** How many slots there are. */
  get size () {
    return this.#fleet.slots.size
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const now = Date.now()
    const workers = this.#fleet.list().flatMap(slot => [slot.incumbent, slot.successor, ...slot.leaving]
      .filter(handle => handle !== null)
      .map(handle => describe(slot, handle, now)))
    return {
      v: VERSION,
      pid: process.pid,
      app: this.spawner.app,
      workers,
      totals: {
        workers: this.#fleet.slots.size,
        ready: this.#fleet.serving().length,
        recycles: this.#recycles,
        ...this.switchboard.totals
      }
    }
  }

  /**
   * Stops the fleet: no more connections, what is in flight finishes. Called again, or with `now`, it hurries: what is
   * in flight is cut.
   *
   * @param {{ now?: boolean }} [how]
   * @returns {Promise<void>} resolves when every worker is gone
   */
  stop ({ now = false } = {}) {
    if (this.#stopping || now) this.#hurry()
    this.#stopping ??= this.#stop(now)
    return this.#stopping
  }

  // Looking and deciding

  async #look () {
    if (this.#isLooking || this.#stopping) return
    this.#isLooking = true
    const now = Date.now()
    // After a sleep of our own (a laptop lid, SIGSTOP) nobody was heard, and nobody is to blame.
    const slept = now - this.#lastLook > 2 * this.options.intervalMs + EARLY_MS
    this.#lastLook = now
    await Promise.all(this.#fleet.serving().map(async handle => {
      if (slept) handle.heardAt = now
      const reading = await this.#probes.get(handle)?.read(now)
      if (handle.isServing) this.#judge(handle, reading, now)
    }))
    this.#isLooking = false
    this.#giveTurns()
  }

  /** @param {Handle} handle @param {import('../core/sample').Reading | null} reading @param {number} now */
  #judge (handle, reading, now) {
    const silent = now - handle.heardAt
    const isSpared = silent >= handle.budget.stuckMs && (handle.latest.debugged || isTraced(handle.pid))
    const sample = makeSample(now, reading, {
      requests: handle.latest.requests,
      silentMs: isSpared ? 0 : silent,
      wish: handle.wish ?? this.#rollout.wish(handle.generation)
    })
    this.#noticeFreshWeight(handle, sample)
    handle.observe(sample)
    this.#record('worker.sample', { slot: handle.slot, pid: handle.pid, ...sample, connections: handle.latest.connections, inFlight: handle.latest.inFlight, elu: handle.latest.elu })
    if (handle.reason !== null) return
    const reason = verdict(handle.window, handle.budget, now)
    if (reason !== null) this.#condemn(handle, reason, sample)
  }

  /** @param {Handle} handle @param {import('../core/verdict').Reason} reason @param {import('../core/sample').Sample} sample */
  #condemn (handle, reason, sample) {
    handle.reason = reason
    const { softBytes, hardBytes, metric } = handle.budget
    const bytes = figure(sample, metric)
    this.#record('worker.condemn', { slot: handle.slot, pid: handle.pid, reason, metric, bytes, softBytes, hardBytes, requests: sample.requests, silentMs: sample.silentMs, ageMs: sample.t - handle.window.readyAt })
  }

  /** A worker over budget from its very first sample will be over it again: said once, and its slot recycles ever slower. @param {Handle} handle @param {import('../core/sample').Sample} sample */
  #noticeFreshWeight (handle, sample) {
    if (handle.sample !== null) return
    const slot = this.#slot(handle.slot)
    if (!isOver(sample, handle.budget, handle.budget.softBytes)) {
      slot.hasty = 0
      return
    }
    slot.notBefore = Date.now() + backoffMs(++slot.hasty)
    if (this.#saidOverBudget) return
    this.#saidOverBudget = true
    this.#record('fleet.warning', {
      warning: 'fresh-over-budget',
      slot: handle.slot,
      pid: handle.pid,
      bytes: figure(sample, handle.budget.metric),
      softBytes: handle.budget.softBytes
    })
  }

  #giveTurns () {
    if (this.#stopping) return
    const condemned = this.#fleet.list()
      .filter(slot => !slot.isBusy && slot.incumbent?.isServing && slot.incumbent.reason !== null)
      .map(slot => ({ slot: slot.slot, bytes: slot.incumbent?.sample?.rssBytes ?? 0, notBefore: slot.notBefore }))
    const surging = this.#fleet.list().filter(slot => slot.isBusy).length
    const { maxSurge, maxUnavailable } = this.options
    const house = { workers: this.#fleet.slots.size, ready: this.#fleet.serving().length, surging, maxSurge, maxUnavailable }
    for (const { slot, how } of nextTurns(condemned, house, Date.now())) this.#recycle(this.#slot(slot), how)
  }

  // Acting

  /** Starts the worker of an empty slot. @param {Slot} slot */
  async #boot (slot) {
    if (this.#stopping) return
    const handle = this.#spawn(slot)
    slot.incumbent = handle
    const why = await becomesReady(handle, this.options.readyTimeoutMs)
    if (why !== null && !handle.isGone && handle.state === 'spawning') await kill(handle)
  }

  /** Spawns a successor beside the incumbent and puts it in its place. @param {Slot} slot @returns {Promise<string | null>} null: it serves; else why not */
  async #raise (slot) {
    const handle = this.#spawn(slot)
    slot.successor = handle
    const why = await becomesReady(handle, this.options.readyTimeoutMs)
    if (why === null) {
      this.#fleet.promote(slot)
      return null
    }
    if (!handle.isGone && handle.state === 'spawning') await kill(handle)
    return why
  }

  /** @param {Slot} slot @param {'surge' | 'drain-first'} how */
  async #recycle (slot, how) {
    const old = /** @type {Handle} */ (slot.incumbent)
    const reason = /** @type {string} */ (old.reason)
    slot.isBusy = true
    const began = Date.now()
    let why = how === 'surge' ? await this.#raise(slot) : null
    if (why === null && !this.#stopping) {
      slot.leaving.add(old)
      if (slot.incumbent === old) slot.incumbent = null
      const { account, drainMs } = await this.#drainAndRetire(old, reason)
      if (how === 'drain-first' && !this.#stopping) why = await this.#raise(slot)
      const { incumbent } = slot
      slot.recycles++
      slot.lastReason = reason
      this.#recycles++
      const after = incumbent && await this.#probes.get(incumbent)?.read(Date.now())
      const line = this.#record('recycled', {
        slot: slot.slot,
        pid: incumbent?.pid ?? null,
        oldPid: old.pid,
        reason,
        how,
        ...account,
        readyMs: incumbent?.readyAt ? incumbent.readyAt - incumbent.spawnedAt : null,
        drainMs,
        tookMs: Date.now() - began,
        rssBefore: old.sample?.rssBytes ?? null,
        rssAfter: after?.rssBytes ?? null
      })
      old.emit('recycled', { line })
    }
    slot.isBusy = false
    if (why !== null) {
      this.#replacementFailed(slot, old, why)
      old.emit('recycled', { why })
    } else if (reason === 'reload') this.#rollout.succeeded()
    if (slot.incumbent === null && !this.#stopping) this.#respawn(slot)
    this.emit('change')
    this.#giveTurns()
  }

  /** @param {Slot} slot @param {Handle} old @param {string} why */
  #replacementFailed (slot, old, why) {
    if (this.#stopping) return
    slot.notBefore = Date.now() + backoffMs(slot.failures)
    this.#record('worker.unready', { slot: slot.slot, why, failures: slot.failures, nextTryMs: backoffMs(slot.failures) })
    if (old.reason !== 'reload' || !this.#rollout.failed()) return
    this.#record('fleet.warning', { warning: 'rollout-stopped', failures: Rollout.PATIENCE })
    for (const handle of this.#fleet.serving()) {
      if (handle.reason === 'reload' && !this.#slot(handle.slot).isBusy) handle.reason = null
    }
  }

  /**
   * @param {Handle} handle
   * @param {string} reason
   * @param {{ lingerMs?: number | null, handoff?: boolean }} [how]
   */
  async #drainAndRetire (handle, reason, { lingerMs = null, handoff = this.options.handoff } = {}) {
    const began = Date.now()
    if (!handle.isGone && handle.state !== 'draining') handle.become('draining')
    const { connections, inFlight } = handle.latest
    this.#record('worker.drain', { slot: handle.slot, pid: handle.pid, reason, connections, inFlight })
    const { killTimeoutMs, drainTimeoutMs } = this.options
    const deadlineMs = reason === 'stuck' ? killTimeoutMs : drainTimeoutMs
    const account = await drain(handle, { reason, deadlineMs, lingerMs, handoff })
    const drainMs = Date.now() - began
    if (account.lost) await kill(handle)
    const wasKilled = account.lost || await retire(handle, killTimeoutMs)
    return { account, drainMs, wasKilled }
  }

  /** Scales a slot away. @param {Slot} slot */
  async #dissolve (slot) {
    await this.#until(() => !slot.isBusy)
    const { incumbent } = slot
    this.#fleet.close(slot)
    if (!incumbent || incumbent.isGone) return
    incumbent.reason ??= 'scale'
    slot.leaving.add(incumbent)
    this.#dissolving.add(incumbent)
    const { account, drainMs } = await this.#drainAndRetire(incumbent, 'scale')
    this.#dissolving.delete(incumbent)
    this.#record('scaled', { slot: slot.slot, pid: null, oldPid: incumbent.pid, reason: 'scale', ...account, drainMs })
  }

  /** Workers of slots that are no more. @type {Set<Handle>} */
  #dissolving = new Set()

  /** @param {boolean} now */
  async #stop (now) {
    clearInterval(this.#timer)
    this.#record('fleet.stopping', { now })
    this.#listeners.closeAll()
    const { stopLingerMs, drainTimeoutMs } = this.options
    const leaving = [...this.#fleet.all(), ...this.#dissolving].map(async handle => {
      if (handle.state === 'draining') { // a recycle under way has it in hand; it is told to close what is idle
        handle.send('drain', { reason: 'stop', deadlineMs: now ? 0 : drainTimeoutMs, lingerMs: stopLingerMs, handoff: false })
        if (!handle.isGone) await handle.next(['exit'], drainTimeoutMs + this.options.killTimeoutMs + EARLY_MS)
        return
      }
      handle.reason ??= 'stop'
      const { account, drainMs } = await this.#drainAndRetire(handle, 'stop', { lingerMs: stopLingerMs, handoff: false })
      this.#record('stopped', { slot: handle.slot, pid: null, oldPid: handle.pid, reason: 'stop', ...account, drainMs })
    })
    if (now) this.#hurry()
    await Promise.all(leaving)
    this.switchboard.close()
    this.#record('fleet.stop', { recycles: this.#recycles, failure: this.#failure?.code ?? null })
    await this.flush()
    this.emit('change')
    this.emit('stopped', this.#failure)
  }

  #hurry () {
    for (const handle of [...this.#fleet.all(), ...this.#dissolving]) {
      handle.send('drain', { reason: 'stop', deadlineMs: 0, lingerMs: 0, handoff: false })
      setTimeout(() => handle.kill('SIGKILL'), this.options.killTimeoutMs).unref()
    }
  }

  // The lives of workers

  /** @param {Slot} slot @returns {Handle} */
  #spawn (slot) {
    const mustListenOn = slot.incumbent?.addresses ?? this.#fleet.serving()[0]?.addresses ?? new Set()
    const handle = this.spawner.spawn(slot.slot, { generation: this.#rollout.generation, mustListenOn: new Set(mustListenOn) })
    this.#record('worker.spawn', { slot: slot.slot, pid: handle.pid, generation: handle.generation, budget: handle.budget })
    this.switchboard.connect(handle)
    handle.on('listen', query => this.#onListen(handle, query))
    handle.on('unlisten', ({ key }) => { if (handle.state !== 'draining') this.#listeners.leave(key, handle) })
    handle.on('missing', ({ key, missing }) => this.#record('fleet.warning', { warning: 'no-handoff', key, missing }))
    handle.on('wish', ({ reason }) => this.#onWish(handle, reason))
    handle.on('disconnect', () => { if (handle.isServing) handle.wish ??= 'asked' }) // the app has cut the channel
    handle.on('message', message => this.emit('message', { slot: handle.slot, pid: handle.pid, message }))
    handle.on('ready', () => this.#onReady(slot, handle))
    handle.on('exit', () => this.#onExit(slot, handle))
    return handle
  }

  /** @param {Handle} handle @param {{ id: number, key: string, query: any, data: unknown }} message */
  #onListen (handle, { id, key, query, data }) {
    const { errno, handle: socket, data: shared } = this.#listeners.open(key, query, data, handle)
    handle.send('listener', { id, errno, data: shared }, socket)
  }

  /** @param {Handle} handle @param {string | undefined} reason */
  #onWish (handle, reason) {
    this.#record('worker.wish', { slot: handle.slot, pid: handle.pid, wish: reason ?? null })
    handle.wish ??= 'asked'
    this.#look()
  }

  /** @param {Slot} slot @param {Handle} handle */
  #onReady (slot, handle) {
    this.#record('worker.ready', { slot: slot.slot, pid: handle.pid, readyMs: /** @type {number} */ (handle.readyAt) - handle.spawnedAt, addresses: [...handle.addresses] })
    this.#probes.set(handle, this.meter.probe(handle.pid, handle.budget))
    setTimeout(() => {
      if (handle.isGone) return
      slot.failures = 0
      this.#deaths = 0
    }, EARLY_MS).unref()
    this.emit('change')
  }

  /** @param {Slot} slot @param {Handle} handle */
  #onExit (slot, handle) {
    const { code, signal } = /** @type {NonNullable<Handle['left']>} */ (handle.left)
    const isIntended = handle.state === 'draining'
    const isEarly = handle.readyAt === null || Date.now() - handle.readyAt < EARLY_MS
    handle.become(isIntended ? 'retired' : 'crashed')
    this.#probes.get(handle)?.close()
    this.#listeners.forget(handle)
    this.#fleet.remove(slot, handle)
    this.#record(isIntended ? 'worker.retire' : 'worker.crash', { slot: slot.slot, pid: handle.pid, code, signal, inFlight: handle.latest.inFlight })
    if (!isIntended && isEarly) {
      slot.failures++
      this.#deaths++
      if (this.#deaths >= TOO_MANY_DEATHS && this.#fleet.serving().length === 0) this.#fail(howItLeft({ code, signal }))
    }
    this.emit('change')
    if (slot.incumbent === null && !slot.isBusy && this.#fleet.slots.get(slot.slot) === slot) this.#respawn(slot)
  }

  /** @param {Slot} slot */
  #respawn (slot) {
    setTimeout(() => {
      if (slot.incumbent === null && !slot.isBusy && this.#fleet.slots.get(slot.slot) === slot) this.#boot(slot)
    }, backoffMs(slot.failures))
  }

  /** @param {string} how the last worker left */
  #fail (how) {
    if (this.#failure) return
    this.#failure = new RecycleError('RECYCLE_APP_DIES', { deaths: this.#deaths, how })
    this.#record('fleet.failed', { code: this.#failure.code, error: this.#failure.message })
    this.emit('change')
    this.stop()
  }

  // Small things

  /** @param {string} event @param {Record<string, any>} fields */
  #record (event, fields) {
    const line = { v: VERSION, t: Date.now(), event, ...fields }
    this.write(line)
    this.emit('event', line)
    return line
  }

  /** @param {Handle} sender @returns {Handle | null} */
  #successorOf (sender) {
    const incumbent = this.#fleet.slots.get(sender.slot)?.incumbent
    return incumbent && incumbent !== sender ? incumbent : null
  }

  /** @param {number} number @returns {Slot} */
  #slot (number) {
    const slot = this.#fleet.slots.get(number)
    if (!slot) throw new RecycleError('RECYCLE_NO_SLOT', { slot: number, slots: [...this.#fleet.slots.keys()].join(', ') })
    return slot
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

/** @param {Slot} slot @param {Handle} handle @param {number} now */
function describe (slot, handle, now) {
  const { sample, latest, budget } = handle
  return {
    slot: slot.slot,
    pid: handle.pid,
    state: handle.state,
    generation: handle.generation,
    ageMs: handle.readyAt === null ? 0 : now - handle.readyAt,
    rssBytes: sample?.rssBytes ?? null,
    pssBytes: sample?.pssBytes ?? null,
    ussBytes: sample?.ussBytes ?? null,
    budgetBytes: budget.softBytes,
    elu: latest.elu,
    connections: latest.connections,
    inFlight: latest.inFlight,
    requests: latest.requests,
    recycles: slot.recycles,
    lastReason: slot.lastReason
  }
}

module.exports = { Supervisor }
