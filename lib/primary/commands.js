'use strict'

/** Commands to a fleet. Each command resolves when it has been carried out, and rejects where it cannot be. */

const { boundsOf, whyNoAutoBudget } = require('../core/container-budget')
const { RecycleError, badOption, notDone } = require('../core/errors')
const { fewestWorkers } = require('../core/recycle-order')
const { Part } = require('./part')
const { takeCpuProfile } = require('./recycling/cpu-profiles')
/** @import { JournalLine } from '../lines' */
/** @import { Slot } from './workers/slot' */

const SIGNAL_MS = 5000

/**
 * @extends {Part<{ recycler: import('./recycling/recycler').Recycler, reloading:
 *   import('./recycling/reloading').Reloading, sampler: import('./measuring/sampler').Sampler }>}
 */
class Commands extends Part {
  /** Commands of features, for the fleet and for one worker; their types are in lib/features. */
  ofFeatures = Object.assign({}, this.features.verbs, Object.fromEntries(Object.entries(this.features.commands)
    .map(([name, command]) => [name, async (/** @type {number} */ slot, how = {}) => {
      this.#slotOf(slot)
      return command(slot, /** @type {never} */ (how))
    }])))

  /** Resolves when every slot has a ready worker. @returns {Promise<void>} @throws {RecycleError} RECYCLE_APP_DIES */
  async ready () {
    await this.until(() => this.fleet.isComplete)
  }

  /**
   * Replaces the worker of a slot; resolves with the journal's `recycled` line when the old one is gone.
   * @param {number} slot
   * @param {import('./workers/spawner').Variant | null} [variant] what the next worker is to have in place of an
   *   ordinary one
   * @returns {Promise<import('./recycling/recycler').Recycled>}
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_NOT_READY, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async recycle (slot, variant = null) {
    const place = this.#slotOf(slot)
    const { incumbent } = place
    place.variant = incumbent ? variant : null
    if (!incumbent) throw notDone(slot, 'the recycle', 'it has no worker at the moment')
    const outcome = this.recycler.outcomeOf(place, incumbent)
    this.sampler.replace(incumbent, 'requested', { isCommanded: true })
    return outcome
  }

  /**
   * Replaces every worker that was spawned before this call, a few at a time. A reload during a reload joins it: each
   * worker is replaced until it is newer than the last call. A feature may have the new code prove itself first.
   * @param {import('../features/canary/feature').Reload} [how]
   * @returns {Promise<string | undefined>} what a feature says of it
   * @throws {RecycleError} RECYCLE_ROLLOUT_STOPPED after three replacements in a row that did not become ready;
   *   RECYCLE_REJECTED: by a rollback; what a feature throws
   */
  async reload (how = {}) {
    this.tenure.throwIfOver()
    return this.features.reload(how) ?? this.reloading.all()
  }

  /**
   * As reload(), to the release that the fleet has run before, though the app's name leads to another one now.
   * @returns {Promise<{ app: string }>} its file @throws {RecycleError} RECYCLE_NO_RELEASE, RECYCLE_ROLLOUT_STOPPED
   */
  async rollback () {
    this.tenure.throwIfOver()
    return this.reloading.back()
  }

  /**
   * Resolves when the fleet has `workers` workers. A fleet that sizes itself keeps that number, until it is told
   * `auto`.
   * @param {number | 'auto'} workers 1 to 1024; auto: as many as the load needs again, from the present number on
   * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_STOPPED; RECYCLE_NOT_READY where a slot's workers fail, three in
   *   a row: it stays, and is tried again; RECYCLE_OVERTAKEN by another number
   */
  async scale (workers) {
    if (workers === 'auto') return this.#unpin()
    const { maxSurge, maxUnavailable } = this.options
    const bounds = boundsOf(this.options)
    const refuse = (/** @type {string} */ accepts) => {
      throw badOption('workers', workers, accepts)
    }
    if (!(Number.isInteger(workers) && workers >= 1 && workers <= 1024)) {
      refuse(`a whole number from 1 to 1024${bounds ? ', or auto' : ''}`)
    }
    this.tenure.throwIfOver()
    if (workers < fewestWorkers({ maxSurge, maxUnavailable })) {
      refuse(`more than maxUnavailable, which is ${maxUnavailable}`)
    }
    const { sizing } = this.options
    const freshBytes = workers > this.fleet.desired ? this.autoSize.freshBytes : null
    const noBudget = sizing.isAutoBudget ? whyNoAutoBudget(sizing, workers, freshBytes) : null
    if (noBudget !== null) throw badOption('maxRss', `auto with ${workers} workers`, noBudget)
    this.fleet.isPinned = bounds !== null
    this.resize(workers, 'requested')
    const failing = () => this.fleet.failing(this.fleet.wanted)
    const isLeft = () => this.fleet.list().every(({ slot, recycle, leaving }) =>
      this.fleet.numbers.includes(slot) && (recycle !== null || leaving.size === 0))
    const isOvertaken = () => this.fleet.desired !== workers
    await this.until(() => isOvertaken() || failing() !== undefined || (this.fleet.isComplete && isLeft()))
    if (isOvertaken()) throw new RecycleError('RECYCLE_OVERTAKEN', { workers, by: this.fleet.desired })
    const failed = failing()
    if (failed === undefined) return
    const { slot, boots: { failures }, unready } = failed
    throw new RecycleError('RECYCLE_NOT_READY', {
      what: `the worker of slot ${slot}`,
      slot,
      why: `${failures} have failed in a row${unready ? `: ${unready.why}` : ''}`
    })
  }

  #unpin () {
    const bounds = boundsOf(this.options)
    if (bounds === null) {
      throw badOption('workers', 'auto',
        'a whole number from 1 to 1024; auto only where the fleet was started with --workers <min>..<max>')
    }
    this.tenure.throwIfOver()
    if (this.fleet.isPinned) {
      this.record('fleet.unpin', { workers: this.fleet.desired, min: bounds.min, max: bounds.max })
    }
    this.fleet.isPinned = false
  }

  /**
   * Takes a CPU profile of a worker while it serves.
   * @param {number} slot @param {{ durationMs?: number, file?: string }} [how] 10 s by default; up to 10 minutes
   * @returns {Promise<JournalLine<'cpuprofile'>>}
   * @throws {RecycleError} RECYCLE_NO_SLOT, RECYCLE_BAD_OPTION, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE, RECYCLE_STOPPED
   */
  async cpuprofile (slot, { durationMs = 10_000, file } = {}) {
    this.#slotOf(slot)
    return takeCpuProfile(this, slot, durationMs, file)
  }

  /**
   * Has the apps' own listeners for a signal called, in every worker: the kernel's SIGHUP is held there, as it may be a
   * terminal's.
   * @param {string} name SIGHUP, SIGUSR1, SIGUSR2 or SIGWINCH
   * @returns {Promise<JournalLine<'fleet.signal'> & { failed: { slot: number | null, message: string | null }[] }>}
   *   `failed`: the workers without a listener, or that do not answer
   * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_STOPPED
   */
  async signal (name) {
    const signal = readSignal(name)
    this.tenure.throwIfOver()
    const workers = this.fleet.all().filter(handle => handle.hasEntered && !handle.isGone)
    const answers = await Promise.all(workers.map(async ({ slot, pid }, i) => {
      const answer = await workers[i].call('signal', { signal }, SIGNAL_MS)
      if (answer.why !== null) return { slot, message: answer.why }
      const none = `the app has no listener for ${signal}, in the worker with pid ${pid}`
      return { slot, message: answer.listeners > 0 ? null : none }
    }))
    const failed = answers.filter(({ message }) => message !== null)
    return {
      ...this.record('fleet.signal', { signal, workers: workers.length, told: workers.length - failed.length }),
      failed
    }
  }

  /** @param {number} slot @returns {Slot} */
  #slotOf (slot) {
    this.tenure.throwIfOver()
    const slots = this.fleet.staying()
    const found = slots.find(({ slot: number }) => number === slot)
    if (found) return found
    throw new RecycleError('RECYCLE_NO_SLOT', { slot, slots: slots.map(({ slot }) => slot).join(', ') })
  }
}

/** Signals for the workers' own listeners: those that end no process of a fleet, and mean something to some app. */

const SIGNALS = /** @type {const} */ (['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'])

/** @param {unknown} given with or without SIG @returns {typeof SIGNALS[number]} @throws RECYCLE_BAD_OPTION */
function readSignal (given) {
  const name = `SIG${String(given).toUpperCase().replace(/^SIG/, '')}`
  const found = SIGNALS.find(signal => signal === name)
  if (found) return found
  const instead = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT'].includes(name)
    ? '; recycle stop ends the fleet, and recycle recycle <slot> replaces a worker'
    : ''
  throw badOption('the signal', given, `${SIGNALS.join(', ')}${instead}`)
}

module.exports = { Commands, readSignal }
