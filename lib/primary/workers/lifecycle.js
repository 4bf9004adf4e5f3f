'use strict'

/**
 * The lives of workers: each is obtained for a place, becomes ready, and leaves it, as intended or not.
 *
 * A worker has started when it has been ready for a second, or has had a connection then. One that dies before that is
 * a failure of its place, which is tried again ever more slowly; one that dies later is replaced at once, whatever has
 * ended it: a client can. A fleet of which no worker ever starts ends; one that has served does not end by itself.
 */

const { RecycleError } = require('../../core/errors')
const { now } = require('../clock')
const { Part } = require('../part')
const { boots, howItDied, nextUnlessDebugged } = require('./boot')
const { kill, leave } = require('./retirement')
/** @import { Outcome } from '../../core/account' */
/** @import { Left } from './process' */
/** @import { Place } from './slot' */
/** @import { WorkerHandle } from './worker-handle' */

const TOO_MANY_DEATHS = 5
const EARLY_MS = 1000
const MOST_NAMED = 10 // requests in flight, in the journal
const CALL_MS = 2000 // a standby has loaded everything: it is silent for longer only if it is stuck

/**
 * Emits `spawned` with the handle. The fleet ends when no worker has started: after five in a row, or two for the same
 * cause.
 * @extends {Part<{ crashWatch: import('./crash-watch').CrashWatch, slotAddresses:
 *   import('./slot-addresses').SlotAddresses }>}
 */
class Lifecycle extends Part {
  /** Some worker of this primary has started. */
  #hasServed = false
  /** Workers that did not, before that. */
  #deaths = 0
  /** Where one of them listens, though not for recycle. @type {string | null} */
  #telling = null
  /** Of what the latest one died, or why it was given up; null: not known. @type {string | null} */
  #latestCause = null

  /** Some worker has started, here or of the primary before. */
  get hasServed () {
    return this.#hasServed || this.takeover?.isSole === true
  }

  /**
   * Obtains a worker for a place: for a slot a standby is taken, where one fits, else one is spawned. It is seated when
   * this returns. It accepts nothing before it is called, which is when it has booted; while another primary runs the
   * fleet it stands by in its slot.
   * @param {Place} place
   * @returns {Promise<{ why: string | null, hasCrashed?: boolean, isScaledAway?: boolean }>} resolves when it is ready
   *   (`why` is null), or is given up
   */
  async acquire (place) {
    const { variant } = place
    place.variant = null // the worker after it is an ordinary one again, whatever becomes of this one
    const standby = place.slot === null || variant ? null : this.fitting(place)
    const handle = standby ?? this.#spawn(place, variant)
    if (standby) this.fleet.standbyPool.remove(standby)
    place.seat(handle)
    let why = standby ? null : await boots(handle, this.options.readyTimeoutMs)
    if (why === null && (place.slot === null || !this.tenure.hasBegun)) handle.standBy()
    else why ??= await this.#serves(handle, Number(place.slot))
    if (why === null) return { why }
    const hasCrashed = handle.isGone
    const givenUp = this.#giveUp(handle, why)
    if (standby && place.slot !== null && !this.tenure.isOver) {
      place.vacate(handle)
      return this.acquire(place)
    }
    await givenUp
    return { why, hasCrashed, isScaledAway: handle.condemnation.row?.isOfSlot }
  }

  /** @param {import('./slot').Slot} slot @returns {WorkerHandle} one that there is already, and that is to leave */
  adoptLeaving (slot) {
    const handle = this.#spawn(slot, null)
    slot.leaving.add(handle)
    return handle
  }

  /**
   * Calls a worker that stands by in its slot.
   * @param {WorkerHandle} handle @returns {Promise<void>} resolves when it serves, or is given up
   */
  async call (handle) {
    const why = await this.#serves(handle, Number(handle.slot))
    if (why !== null) await this.#giveUp(handle, why)
  }

  /** Ends one that does not leave. @param {WorkerHandle} handle @param {import('../../core/kills').KilledFor} why */
  kill (handle, why) {
    this.tasks.run('kill', () => kill(handle, why, this.features))
  }

  /**
   * @param {WorkerHandle} handle that is up @param {number} slot
   * @returns {Promise<string | null>} null: it accepts; else why not
   */
  async #serves (handle, slot) {
    // A standby has loaded everything; another one may do so yet, where --ready-on is not `listening`.
    const timeoutMs = handle.stoodBy
      ? CALL_MS
      : Math.max(CALL_MS, this.options.readyTimeoutMs - (now() - handle.spawnedAt))
    handle.serve(slot)
    const { event, value } = await nextUnlessDebugged(handle, ['ready', 'exit'], timeoutMs)
    if (event === 'ready') return null
    return event === 'exit'
      ? `it ${await howItDied(handle, value)}`
      : `it was called to serve, and did not answer within ${Math.round(timeoutMs)} ms`
  }

  /**
   * The worker finishes what it may have accepted since it was called.
   * @param {WorkerHandle} handle @param {string} why
   */
  async #giveUp (handle, why) {
    if (handle.isGone || handle.state === 'draining') return
    handle.givenUp = why
    // The next one finds the port taken
    if (why.includes('; it listens on') || why.includes('; its child process')) {
      this.#telling ??= why.replace(/^it /, '')
    }
    const times = { deadlineMs: handle.calledAt === null ? 0 : this.options.killTimeoutMs, lingerMs: 0 }
    const { account, drainMs } = await leave(handle, { why: 'not-ready', times, to: 'none' }, this)
    this.record('stopped',
      { slot: handle.slot, pid: null, oldPid: handle.pid, reason: 'not-ready', ...account, drainMs })
    this.slotAddresses.evaded(handle)
  }

  /** @param {Place} slot @returns {WorkerHandle | null} a standby that listens where the slot's clients are */
  fitting (slot) {
    const generation = this.fleet.rollout.of(slot.slot)
    const { must, late } = this.slotAddresses.requiredOf(slot, generation)
    const addresses = [...must, ...late]
    return this.fleet.usableStandbys(generation)
      .find(standby => addresses.every(key => standby.addresses.has(key))) ?? null
  }

  /** A standby that boots now can be called into the fleet's slots: it runs their code, and not code on trial. */
  get canStandBy () {
    return this.#codeOf(this.fleet.standbyPool) === this.fleet.rollout.generation
  }

  /**
   * The generation that a worker which is spawned there now runs: that on trial, where it has taken the place of the
   * code before.
   * @param {Place} place
   */
  #codeOf ({ slot }) {
    const { rollout } = this.fleet
    const generation = rollout.of(slot)
    if (rollout.trial === null || generation === rollout.trial.generation) return generation
    return this.spawner.canRun(generation, rollout.trial.generation) ? generation : rollout.trial.generation
  }

  /** @param {Place} place @param {Place['variant']} variant @returns {WorkerHandle} */
  #spawn (place, variant) {
    const generation = this.#codeOf(place)
    const required = this.slotAddresses.requiredOf(place, generation)
    const handle = this.spawner.spawn(place.slot, { generation, workers: this.fleet.desired, required, variant })
    const { slot, budget, app } = handle
    handle.process.whenBegun(() => this.record('worker.spawn',
      { slot, pid: handle.pid, generation: handle.generation, app, budget, ...handle.isAdopted && { adopted: true } }))
    handle.on('waived', late => this.slotAddresses.waived(handle, late))
    handle.on('standby', () => this.#onUp(handle))
    handle.on('ready', () => this.#onUp(handle))
    handle.on('exit', () => this.#onExit(handle))
    this.emit('spawned', handle)
    return handle
  }

  /** A slot that has been scaled away. @param {import('./slot').Slot} slot */
  close ({ slot, addresses }) {
    this.fleet.close(slot)
    this.slotAddresses.left(addresses)
  }

  /** @param {WorkerHandle} handle */
  #onUp (handle) {
    const place = /** @type {Place} */ (this.fleet.placeOf(handle))
    const { slot, pid, readyMs, isServing } = handle
    this.slotAddresses.up(handle)
    const up = { slot, pid, readyMs, addresses: [...handle.addresses] }
    if (isServing) this.record('worker.ready', { ...up, oldPid: place.recycle?.old.pid ?? null })
    else this.record('worker.standby', up)
    if (isServing && place.slot !== null) {
      const { addresses } = place
      place.ready(handle)
      if (handle.isAdopted) this.#hasServed = true
      this.slotAddresses.left(addresses)
      this.slotAddresses.warnOfUneven()
    }
    const { boots } = place
    const { failures } = boots
    setTimeout(() => { if (!handle.isGone) this.#started(handle, boots, failures) }, EARLY_MS).unref()
    this.changed()
  }

  /**
   * A worker that is ready clears the failures from before its own spawn.
   * @param {WorkerHandle} handle @param {import('../../core/backoff').Backoff} boots
   * @param {number} [failures] before it
   */
  #started (handle, boots, failures = boots.failures) {
    if (boots.failures === failures) boots.succeeded()
    this.#hasServed = true
    this.spawner.source?.succeeded(handle.process)
  }

  /** @param {WorkerHandle} handle */
  #onExit (handle) {
    const place = /** @type {Place} */ (this.fleet.placeOf(handle))
    const left = /** @type {Left} */ (handle.left)
    const { killedFor } = handle.process
    const isIntended = handle.state === 'draining' && (handle.account !== null || killedFor !== null)
    const isStarted = handle.upSince !== null && (now() - handle.upSince >= EARLY_MS || handle.connections > 0)
    if (isStarted) this.#started(handle, place.boots)
    handle.become(isIntended ? 'retired' : 'crashed')
    place.remove(handle)
    const how = { ...left, killedFor, oomKilled: this.memoryWatch.wasOomKilled(handle) }
    const tell = (/** @type {Outcome | null} */ outcome) => {
      const { slot, pid, connections, latest: { inFlight, requests } } = handle
      const line = { slot, pid, ...how, connections, inFlight, requests }
      const requestsInFlight = handle.requests.slice(0, MOST_NAMED)
      if (isIntended) this.record('worker.retire', line)
      else this.record('worker.crash', { ...line, ...outcome, requestsInFlight })
      return outcome
    }
    handle.outcome = this.#settle(handle, tell)
    // Else a boot has failed, which is told as that
    const isOfNote = handle.upSince !== null || (this.hasServed && this.fleet.serving().length === 0)
    if (!isIntended && isOfNote) this.crashWatch.crashed(handle, how)
    if ((!isIntended || handle.givenUp !== null) && !isStarted) this.#failed(handle, place, left)
    this.changed()
  }

  /**
   * @param {WorkerHandle} handle that is gone
   * @param {(outcome: Outcome | null) => Outcome | null} tell called once: in this turn where its connections are few
   */
  #settle (handle, tell) {
    let isTold = false
    return new Promise(resolve => {
      const done = (/** @type {Outcome | null} */ outcome) => {
        if (!isTold) resolve(tell(outcome))
        isTold = true
      }
      const settled = this.features.left(handle, done)
      if (settled) this.tasks.run('settle', () => settled).then(() => done(null)) // else it has failed
      else done(null)
    })
  }

  /** @param {WorkerHandle} handle @param {Place} place @param {Left} left */
  #failed (handle, { boots }, left) {
    boots.failed(now())
    this.spawner.source?.failed(handle.process)
    const cause = handle.exception ?? handle.givenUp?.replace(/(?:pid|port) \d+/g, '') ?? null
    const isSame = cause !== null && cause === this.#latestCause
    this.#latestCause = cause
    if (this.hasServed || (++this.#deaths < TOO_MANY_DEATHS && !isSame) || this.fleet.serving().length > 0) return
    const deaths = this.#deaths
    howItDied(handle, left).then(how => this.abandon(new RecycleError('RECYCLE_APP_DIES',
      { deaths, how: this.#telling ?? how, wasReady: handle.upSince !== null })))
  }
}

module.exports = { Lifecycle }
