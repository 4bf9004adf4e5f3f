'use strict'

/**
 * Has the fleet run other code: at once, or first in slots of its own beside the others, until it is promoted or
 * rejected.
 */

const { RecycleError } = require('../../core/errors')
const { Rollout } = require('../workers/rollout')
const { Part } = require('../part')
/** @import { WorkerHandle } from '../workers/worker-handle' */

/** @extends {Part<{ sampler: import('../measuring/sampler').Sampler, legacy: import('../legacy').Legacy }>} */
class Reloading extends Part {
  /** The generation of the latest rollback. */
  #back = -1

  /** @returns {Promise<undefined>} @throws {RecycleError} RECYCLE_ROLLOUT_STOPPED, RECYCLE_REJECTED: by a rollback */
  async all () {
    const { rollout } = this.fleet
    const isStale = this.fleet.all().some(handle => handle.generation === rollout.generation)
    await this.#rollOut(rollout.begin(isStale))
  }

  /**
   * To the release before.
   * @returns {Promise<{ app: string, named: string | null }>} `named`: where the link leads all the same
   * @throws {RecycleError} RECYCLE_NO_RELEASE, RECYCLE_ROLLOUT_STOPPED
   */
  async back () {
    const { rollout } = this.fleet
    if (rollout.isOnTrial) {
      throw new RecycleError('RECYCLE_NO_RELEASE',
        { why: 'a reload has new code on trial; recycle reload --abort takes that back' })
    }
    const failed = rollout.stopped?.isReplaced === false ? 'the latest reload has failed' : null
    const undone = rollout.wasRejected ? 'the latest code was rejected' : failed
    if (undone !== null) {
      throw new RecycleError('RECYCLE_NO_RELEASE',
        { why: `${undone}, and the fleet runs ${this.spawner.app} all along` })
    }
    const release = this.spawner.appPath.before(rollout.generation)
    if (typeof release === 'string') throw new RecycleError('RECYCLE_NO_RELEASE', { why: release })
    const generation = this.#back = rollout.goBack()
    const named = this.spawner.appPath.back(generation, release)
    await this.#rollOut(generation)
    return { app: release.real, named }
  }

  /**
   * Workers of the new code join, in new slots. No reload is under way.
   * @param {number} workers
   * @returns {Promise<{ generation: number, before: number }>} resolves when they serve; `before`: the generation that
   *   the fleet has
   * @throws {RecycleError} RECYCLE_REJECTED: they do not; the trial is over then
   */
  async try (workers) {
    const { rollout } = this.fleet
    const { generation: before } = rollout
    const slots = this.fleet.free(workers)
    const generation = rollout.try(slots)
    this.spawner.keep(before)
    this.record('fleet.trial', { generation, before, slots })
    this.changed()
    await this.until(() => this.failing !== null ||
      slots.every(slot => this.fleet.slots.get(slot)?.incumbent?.isServing))
    const { failing } = this
    if (failing === null) return { generation, before }
    const why = `it does not start: ${failing}`
    const { t: at, isReplaced } = await this.reject(why)
    throw new RecycleError('RECYCLE_REJECTED', { why, generation, before, at, isReplaced })
  }

  /**
   * Why the last worker of the trial has failed, where they do again and again; null: they do not.
   * @returns {string | null}
   */
  get failing () {
    const slot = this.fleet.failing(this.fleet.rollout.trial?.slots ?? [])
    return slot ? slot.unready?.why ?? 'it exits at once' : null
  }

  /**
   * The fleet is to run the code on trial.
   * @throws {RecycleError} RECYCLE_ROLLOUT_STOPPED, RECYCLE_REJECTED: by a rollback
   */
  async promote () {
    const { rollout } = this.fleet
    const slots = rollout.trial?.slots ?? []
    this.spawner.settle(rollout.promote())
    await this.#rollOut(rollout.generation)
    await this.#closed(slots)
  }

  /**
   * @param {string} why
   * @returns {Promise<import('../../lines').JournalLine<'fleet.rejected'>>} when the workers of that code are gone
   */
  async reject (why) {
    const { rollout } = this.fleet
    const { generation, slots } = /** @type {NonNullable<typeof rollout.trial>} */ (rollout.trial)
    const isReplaced = !this.spawner.canRun(rollout.generation, generation)
    rollout.reject(isReplaced)
    this.spawner.settle(rollout.generation, generation)
    this.legacy.tellSoon() // its workers may take long to drain
    this.changed()
    await this.#closed(slots)
    const line = this.record('fleet.rejected', { generation, before: rollout.generation, isReplaced, why })
    await this.#tell()
    return line
  }

  /** @param {number} generation @throws {RecycleError} RECYCLE_ROLLOUT_STOPPED, RECYCLE_REJECTED: by a rollback */
  async #rollOut (generation) {
    const { rollout } = this.fleet
    this.spawner.keep(rollout.proven)
    this.fleet.tryAnew()
    this.record('fleet.reload', { generation })
    this.sampler.lookNow({ requestedAlone: true })
    const isOld = (/** @type {WorkerHandle | undefined} */ handle) =>
      handle !== undefined && handle.generation < generation
    await this.until(() => rollout.wasStopped(generation) ||
      (this.fleet.isComplete && !this.fleet.all().some(isOld) &&
        !this.fleet.staying().some(({ recycle }) => isOld(recycle?.old))))
    if (rollout.wasStopped(generation)) {
      const { appPath } = this.spawner
      if (rollout.generation === generation) appPath.settle(generation) // with the code before gone: it is gone on with
      else appPath.notBack(generation)
      await this.#tell()
      throw new RecycleError('RECYCLE_ROLLOUT_STOPPED', { failures: Rollout.PATIENCE, ...rollout.stopped })
    }
    if (this.#back > generation) {
      throw new RecycleError('RECYCLE_REJECTED', { why: 'recycle rollback has taken the reload back' })
    }
    rollout.finish(generation)
    this.changed() // a comparison may wait for it
    if (rollout.generation === generation) this.spawner.settle(generation)
    this.spawner.appPath.settle(generation)
    this.record('fleet.reloaded', { generation, app: this.spawner.appPath.known(generation) })
    await this.#tell()
  }

  /** Before the outcome is given out: this primary may die as that is known. */
  async #tell () {
    await this.tasks.run('tell', () => this.legacy.tell())
  }

  /** @param {readonly number[]} slots */
  async #closed (slots) {
    this.changed()
    await this.until(() => slots.every(slot => !this.fleet.slots.has(slot)))
  }
}

module.exports = { Reloading }
