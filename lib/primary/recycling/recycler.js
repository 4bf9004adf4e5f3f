'use strict'

/**
 * Carries out recycles: gives the condemned their turn, and sees each through, from the successor's spawning until the
 * old worker is gone and its account is in the journal.
 */

const { EventEmitter } = require('node:events')
const { backoffMs } = require('../../core/backoff')
const { nextRecycles } = require('../../core/recycle-order')
const { now } = require('../clock')
const { Rollout } = require('./rollout')
const { drainAndRetire, keep } = require('../workers/worker-actions')

/** @typedef {import('../workers/worker-handle').WorkerHandle} WorkerHandle @typedef {import('../workers/fleet').Slot} Slot */

/** Emits `change` at the end of each recycle, and when a slot is gone. */
class Recycler extends EventEmitter {
  /** Recycles so far. */
  count = 0
  /** @type {Set<Promise<void>>} */
  #underWay = new Set()

  /**
   * @param {object} deps
   * @param {import('../../core/options').Options} deps.options
   * @param {import('../workers/fleet').Fleet} deps.fleet
   * @param {import('./rollout').Rollout} deps.rollout
   * @param {import('../workers/lifecycle').Lifecycle} deps.lifecycle
   * @param {import('../measuring/sampler').Sampler} deps.sampler
   * @param {import('./garbage-collection').GarbageCollection} deps.garbageCollection
   * @param {(event: string, fields: Record<string, any>) => Record<string, any>} deps.record
   * @param {() => Promise<void>} deps.changed resolves when anything has changed in the fleet
   */
  constructor ({ options, fleet, rollout, lifecycle, sampler, garbageCollection, record, changed }) {
    super()
    this.setMaxListeners(0)
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.lifecycle = lifecycle
    this.sampler = sampler
    this.garbageCollection = garbageCollection
    this.record = record
    this.changed = changed
    lifecycle.on('standby', () => this.startRecycles())
    lifecycle.on('unready', () => this.#rolloutFailed()) // whoever was drained first has been replaced by one that does not come up
  }

  /** Begins every recycle for which there is room now. */
  startRecycles () {
    if (this.lifecycle.isDismissed) return
    const { standbyPool } = this.lifecycle
    standbyPool.tend()
    const slots = this.fleet.list()
    const condemned = slots
      .filter(slot => slot.recycling === null && !slot.isDissolving && slot.incumbent?.isServing && slot.incumbent.reason !== null && !this.garbageCollection.holds(slot.incumbent))
      .map(slot => ({ slot: slot.slot, bytes: slot.incumbent?.sample?.rssBytes ?? 0, since: slot.incumbent?.condemnedAt ?? 0, notBefore: slot.notBefore }))
    const { maxUnavailable } = this.options
    const surging = slots.filter(slot => slot.recycling !== null).length + standbyPool.unusable
    const capacity = { workers: slots.length, ready: this.fleet.serving().length, surging, maxSurge: standbyPool.room, maxUnavailable }
    for (const turn of nextRecycles(condemned, capacity, now())) {
      const recycle = this.#recycle(/** @type {Slot} */ (this.fleet.slots.get(turn.slot)), turn.how)
      this.#underWay.add(recycle)
      recycle.then(() => this.#underWay.delete(recycle))
    }
  }

  /** Scales a slot away, when its recycle is over and somebody serves who stays. @param {Slot} slot */
  async dissolve (slot) {
    slot.isDissolving = true
    const isNeeded = () => this.fleet.serving().length > 0 && !this.fleet.staying().some(({ incumbent }) => incumbent?.isServing)
    while (!this.lifecycle.isDismissed && (slot.recycling !== null || isNeeded())) await this.changed()
    if (this.lifecycle.isDismissed) return
    const { incumbent } = slot
    if (incumbent && !incumbent.isGone) {
      incumbent.reason ??= 'scale'
      this.fleet.vacate(slot, incumbent)
      const { account, drainMs } = await drainAndRetire(incumbent, 'scale', this.options, this.record)
      this.record('scaled', { slot: slot.slot, pid: null, oldPid: incumbent.pid, reason: 'scale', ...account, drainMs })
      incumbent.emit('recycled', { why: 'its slot was scaled away' })
    }
    this.fleet.close(slot)
    this.emit('change')
  }

  /** Resolves when every recycle under way has ended, its account in the journal. */
  async settled () {
    await Promise.all(this.#underWay)
  }

  /** @param {Slot} slot @param {'surge' | 'drain-first'} how */
  async #recycle (slot, how) {
    const began = now()
    const { lifecycle } = this
    const old = /** @type {WorkerHandle} */ (slot.incumbent)
    const reason = /** @type {string} */ (old.reason)
    slot.recycling = old
    let why = how === 'surge' ? await lifecycle.raise(slot) : null
    if (why === null && !lifecycle.isDismissed) {
      const calledAt = slot.incumbent?.calledAt ?? null
      this.fleet.vacate(slot, old)
      const { account, drainMs } = await drainAndRetire(old, reason, this.options, this.record)
      if (how === 'drain-first' && !lifecycle.isDismissed) why = await lifecycle.raise(slot)
      const line = await this.#account(slot, old, { reason, how: calledAt !== null && how === 'surge' ? 'standby' : how, ...account, drainMs, tookMs: now() - began })
      if (why === null) old.emit('recycled', { line })
    }
    slot.recycling = null
    if (why !== null) this.#replacementFailed(slot, old, why)
    else if (this.rollout.requested(old.generation)) this.rollout.succeeded()
    lifecycle.refill(slot)
    this.emit('change')
    this.startRecycles()
  }

  /** @param {Slot} slot @param {WorkerHandle} old @param {Record<string, any>} fields */
  async #account (slot, old, fields) {
    const { incumbent } = slot
    slot.recycles++
    slot.lastReason = fields.reason
    this.count++
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

  /** The old worker stays in service, or its slot is refilled. @param {Slot} slot @param {WorkerHandle} old @param {string} why */
  #replacementFailed (slot, old, why) {
    if (this.lifecycle.isDismissed) return
    const nextTryMs = backoffMs(slot.failures)
    slot.notBefore = now() + nextTryMs
    this.record('worker.not-ready', { slot: slot.slot, oldPid: old.isServing ? old.pid : null, why, failures: slot.failures, nextTryMs })
    old.emit('recycled', { why })
    if (this.rollout.requested(old.generation) !== null) this.#rolloutFailed()
    else if (old.reason === 'reload' && old.isServing) keep(old, this.record) // the rollout was stopped meanwhile
  }

  /** A replacement did not come up; after some in a row nobody else is replaced. */
  #rolloutFailed () {
    if (!this.rollout.failed()) return
    this.record('fleet.warning', { warning: 'rollout-stopped', failures: Rollout.PATIENCE })
    for (const { incumbent, recycling } of this.fleet.list()) {
      if (incumbent?.reason === 'reload' && !recycling) keep(incumbent, this.record)
    }
    this.emit('change')
  }
}

module.exports = { Recycler }
