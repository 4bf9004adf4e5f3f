'use strict'

/**
 * The steps of the plan that start and end workers. A recycle is seen through from the successor's spawning until the
 * old worker is gone and its account is in the journal.
 */

const { RecycleError, notDone } = require('../../core/errors')
const { now } = require('../clock')
const { leave } = require('../workers/retirement')
const { Rollout } = require('../workers/rollout')
const { Part } = require('../part')
/** @import { Place, Slot } from '../workers/slot' */
/** @import { FinalAccount } from '../workers/retirement' */
/** @import { Lifecycle } from '../workers/lifecycle' */
/** @import { Sampler } from '../measuring/sampler' */
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * @typedef {FinalAccount & { reason: string, how: 'surge' | 'standby' | 'drain-first' | 'upgrade', drainMs: number,
 *   tookMs: number }} Course
 * @typedef {{ recycles: number, lastReason: string | null }} RecyclesOfSlot `lastReason`: why the last one
 * @typedef {import('../../lines').JournalLine<'recycled'>} Recycled `pid`: of the worker that follows
 */

/** @extends {Part<{ lifecycle: Lifecycle, sampler: Sampler }>} */
class Recycler extends Part {
  /** So far: in all, and of each slot. @type {{ recycles: number, slots: Record<number, RecyclesOfSlot> }} */
  totals = { recycles: 0, slots: {} }
  /** Of these, by this primary: what its `fleet.stop` says, by which a reader knows that no line of them is missing. */
  own = 0
  /** Outcome of the latest recycle of a worker that is to go. @type {WeakMap<WorkerHandle, Recycled | Error>} */
  #outcomes = new WeakMap()

  /** @param {number} slot @param {string} reason */
  count (slot, reason) {
    const { recycles = 0 } = this.totals.slots[slot] ?? {}
    this.totals.slots[slot] = { recycles: recycles + 1, lastReason: reason }
    this.totals.recycles++
  }

  /** Fills an empty slot. @param {Slot} slot */
  async boot (slot) {
    const { why, hasCrashed = false, isScaledAway = false } = await this.lifecycle.acquire(slot)
    if (isScaledAway) return // which says nothing of the code
    slot.unready = why === null ? null : { why, hasCrashed }
    if (why === null) this.fleet.rollout.succeeded()
    if (why === null || this.tenure.isOver) return
    if (!hasCrashed) this.#recordNotReady(slot, null, why) // else its crash is in the journal
    this.#rolloutFailed(why) // the predecessor may have been drained first
  }

  /**
   * @param {Slot} slot @param {'surge' | 'drain-first'} how
   * @param {boolean} [hasNoRoom] the memory has none for the replacement beside the old worker
   */
  async recycle (slot, how, hasNoRoom = false) {
    const began = now()
    const old = /** @type {WorkerHandle} */ (slot.incumbent)
    const reason = /** @type {string} */ (old.reason)
    slot.recycle = { old, how }
    if (hasNoRoom) this.record('worker.no-room', { slot: slot.slot, pid: old.pid, how })
    /** @type {string | null} */
    let why
    try {
      why = how === 'surge' ? await this.#replace(slot) : null
      if (why === null && !this.tenure.isOver) {
        const isByStandby = how === 'surge' && slot.incumbent?.stoodBy === true
        slot.vacate(old)
        slot.recycle = { old, how, isReplaced: how === 'surge' }
        // Clients wait for it to be gone
        const lingerMs = this.fleet.serving().length > 0 ? null : this.options.stopLingerMs
        const { account, drainMs } = await leave(old, { why: reason, times: { lingerMs } }, this)
        if (how === 'drain-first') why = await this.#replace(slot)
        const line = await this.#account(slot, old,
          { reason, how: isByStandby ? 'standby' : how, ...account, drainMs, tookMs: now() - began })
        if (why === null) this.#outcomes.set(old, line)
      }
    } finally {
      slot.recycle = null
    }
    if (this.tenure.isOver) return
    if (why !== null) this.#replacementFailed(slot, old, why)
    else if (this.fleet.rollout.requested(old.generation)) this.fleet.rollout.succeeded()
    this.changed()
  }

  /**
   * Waits for a recycle that is being requested, or is under way.
   * @param {Slot} slot @param {WorkerHandle} old its worker @returns {Promise<Recycled>}
   * @throws {RecycleError} RECYCLE_NOT_DONE, RECYCLE_NOT_READY, RECYCLE_STOPPED
   */
  async outcomeOf (slot, old) {
    const before = this.#outcomes.get(old)
    await this.until(() => this.#outcomes.get(old) !== before ||
      ((old.state === 'crashed' || (old.isGone && old.givenUp !== null)) && slot.recycle?.old !== old))
    const outcome = this.#outcomes.get(old)
    if (outcome === undefined || outcome === before) {
      throw notDone(slot.slot, 'the recycle', old.givenUp ?? 'its worker crashed first')
    }
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  /**
   * Adopts a worker that was leaving as its primary died: it goes on with that when others can take its connections.
   * @param {Slot} slot
   */
  async seeOff (slot) {
    const began = now()
    const old = this.lifecycle.adoptLeaving(slot)
    const after = this.until(() => this.fleet.serving().length > 0)
    const { account, drainMs } = await leave(old, { why: 'adopted', after }, this)
    await this.#account(slot, old, { reason: 'adopted', how: 'surge', ...account, drainMs, tookMs: now() - began })
    this.changed()
  }

  /** The worker is condemned, and the memory has no room for its replacement. @param {Slot} slot */
  async waitForRoom ({ slot, incumbent }) {
    if (!incumbent) return
    incumbent.condemnation.wait()
    this.record('worker.no-room', { slot, pid: incumbent.pid, how: 'wait' })
  }

  /**
   * Has a slot's worker leave for good. The slot closes when it is gone, or takes a new one if it is to stay after all.
   * @param {Slot} slot
   */
  async scaleAway (slot) {
    const { slot: number } = slot
    const old = /** @type {WorkerHandle} */ (slot.incumbent)
    old.condemnation.dismiss('scale')
    slot.isNew = true
    slot.vacate(old)
    const { account, drainMs } = await leave(old, { why: 'scale' }, this)
    this.record('scaled', { slot: number, pid: null, oldPid: old.pid, reason: 'scale', ...account, drainMs })
    this.#outcomes.set(old, notDone(number, 'the recycle', 'its slot was closed'))
    this.changed()
  }

  async bootStandby () {
    const { standbyPool } = this.fleet
    const { why } = await this.lifecycle.acquire(standbyPool)
    if (why !== null && !this.tenure.isOver) this.#recordNotReady(standbyPool, null, why)
  }

  /**
   * A standby has nothing to drain; the app hears that it is to go, as any worker's does.
   * @param {WorkerHandle} handle @param {string} reason
   */
  async retireStandby (handle, reason) {
    await leave(handle, { why: reason, times: { lingerMs: 0 } }, this)
    this.changed()
  }

  /**
   * A standby that does not fit leaves first, where a spawned replacement would be one process too many.
   * @param {Slot} slot @returns {Promise<string | null>} null: it serves; else why not
   */
  async #replace (slot) {
    const { standbyPool } = this.fleet
    const [spare] = this.fleet.usableStandbys()
    const beside = standbyPool.handles.size + this.fleet.list().filter(({ recycle }) => recycle?.how === 'surge').length
    if (spare && !this.lifecycle.fitting(slot) && beside > Math.max(this.options.standby, this.options.maxSurge)) {
      await this.retireStandby(spare, 'unfit')
    }
    if (this.tenure.isOver) return 'the fleet is stopping'
    return (await this.lifecycle.acquire(slot)).why
  }

  /** @param {Slot} slot @param {WorkerHandle} old @param {Course} fields @returns {Promise<Recycled>} */
  async #account (slot, old, fields) {
    const { incumbent } = slot
    this.count(slot.slot, fields.reason)
    this.own++
    const after = incumbent && await this.sampler.read(incumbent)
    return this.record('recycled', {
      slot: slot.slot,
      pid: incumbent?.pid ?? null,
      oldPid: old.pid,
      ...fields,
      readyMs: incumbent?.readyMs ?? null,
      rssBefore: old.sample?.rssBytes ?? null,
      rssAfter: after?.rssBytes ?? null
    })
  }

  /**
   * The old worker stays in service, or its slot is empty.
   * @param {Slot} slot @param {WorkerHandle} old @param {string} why
   */
  #replacementFailed (slot, old, why) {
    this.#recordNotReady(slot, old.isServing ? old.pid : null, why)
    this.#outcomes.set(old,
      new RecycleError('RECYCLE_NOT_READY', { what: `the replacement of slot ${slot.slot}`, slot: slot.slot, why }))
    if (this.fleet.rollout.requested(old.generation) !== null) this.#rolloutFailed(why)
    else if (old.condemnation.row?.isOfRollout && old.isServing) this.sampler.keep(old) // it was stopped meanwhile
  }

  /** @param {Place} place @param {number | null} oldPid @param {string} why */
  #recordNotReady ({ slot, boots: { failures, notBefore, unservedNotBefore } }, oldPid, why) {
    const nextTry = this.fleet.serving().length > 0 ? notBefore : unservedNotBefore
    this.record('worker.not-ready', { slot, oldPid, why, failures, nextTryMs: Math.max(0, nextTry - now()) })
  }

  /** @param {string} why a replacement did not come up; after some in a row the reload is stopped */
  #rolloutFailed (why) {
    const { rollout } = this.fleet
    const serves = (/** @type {number} */ generation) =>
      this.fleet.serving().some(handle => handle.generation === generation)
    if (!rollout.failed(why, (before, wanted) => !serves(wanted) && this.spawner.canRun(before, wanted))) return
    const { generation, isReplaced } = /** @type {NonNullable<typeof rollout.stopped>} */ (rollout.stopped)
    this.spawner.settle(rollout.generation, isReplaced ? undefined : generation)
    if (!isReplaced) this.fleet.tryAnew()
    this.record('fleet.warning', { warning: 'rollout-stopped', failures: Rollout.PATIENCE, why, isReplaced })
    for (const { incumbent, recycle } of this.fleet.list()) {
      if (incumbent?.condemnation.row?.isOfRollout && !recycle) this.sampler.keep(incumbent)
    }
    this.changed()
  }
}

module.exports = { Recycler }
