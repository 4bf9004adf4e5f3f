'use strict'

/**
 * Carries out recycles: gives the condemned their turn, and sees each through, from the successor's spawning until the
 * old worker is gone and its account is in the journal.
 */

const { EventEmitter } = require('node:events')
const { backoffMs } = require('../core/backoff')
const { nextTurns } = require('../core/turn')
const { now } = require('./clock')
const { Rollout } = require('./rollout')
const { drainAndRetire, reprieve } = require('./deeds')

/** @typedef {import('./handle').Handle} Handle @typedef {import('./fleet').Slot} Slot */

/** Emits `change` at the end of each recycle, and when a slot is gone. */
class Recycler extends EventEmitter {
  /** Recycles so far. */
  count = 0
  /** @type {Set<Promise<void>>} */
  #underWay = new Set()

  /**
   * @param {object} rooms
   * @param {import('../core/options').Options} rooms.options
   * @param {import('./fleet').Fleet} rooms.fleet
   * @param {import('./rollout').Rollout} rooms.rollout
   * @param {import('./crew').Crew} rooms.crew
   * @param {import('./watch').Watch} rooms.watch
   * @param {import('./collection').Collection} rooms.collection
   * @param {(event: string, fields: Record<string, any>) => Record<string, any>} rooms.record
   * @param {() => Promise<void>} rooms.changed resolves when anything has changed in the fleet
   */
  constructor ({ options, fleet, rollout, crew, watch, collection, record, changed }) {
    super()
    this.setMaxListeners(0)
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.crew = crew
    this.watch = watch
    this.collection = collection
    this.record = record
    this.changed = changed
    crew.on('standby', () => this.giveTurns())
    crew.on('unready', () => this.#rolloutFailed()) // whoever was drained first has been replaced by one that does not come up
  }

  /** Begins every recycle for which there is room now. */
  giveTurns () {
    if (this.crew.isDismissed) return
    const { reserve } = this.crew
    reserve.tend()
    const slots = this.fleet.list()
    const condemned = slots
      .filter(slot => slot.recycling === null && !slot.isDissolving && slot.incumbent?.isServing && slot.incumbent.reason !== null && !this.collection.holds(slot.incumbent))
      .map(slot => ({ slot: slot.slot, bytes: slot.incumbent?.sample?.rssBytes ?? 0, since: slot.incumbent?.condemnedAt ?? 0, notBefore: slot.notBefore }))
    const { maxUnavailable } = this.options
    const surging = slots.filter(slot => slot.recycling !== null).length + reserve.unusable
    const house = { workers: slots.length, ready: this.fleet.serving().length, surging, maxSurge: reserve.room, maxUnavailable }
    for (const turn of nextTurns(condemned, house, now())) {
      const recycle = this.#recycle(/** @type {Slot} */ (this.fleet.slots.get(turn.slot)), turn.how)
      this.#underWay.add(recycle)
      recycle.then(() => this.#underWay.delete(recycle))
    }
  }

  /** Scales a slot away, when its recycle is over and somebody serves who stays. @param {Slot} slot */
  async dissolve (slot) {
    slot.isDissolving = true
    const isNeeded = () => this.fleet.serving().length > 0 && !this.fleet.staying().some(({ incumbent }) => incumbent?.isServing)
    while (!this.crew.isDismissed && (slot.recycling !== null || isNeeded())) await this.changed()
    if (this.crew.isDismissed) return
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
    const { crew } = this
    const old = /** @type {Handle} */ (slot.incumbent)
    const reason = /** @type {string} */ (old.reason)
    slot.recycling = old
    let why = how === 'surge' ? await crew.raise(slot) : null
    if (why === null && !crew.isDismissed) {
      const calledAt = slot.incumbent?.calledAt ?? null
      this.fleet.vacate(slot, old)
      const { account, drainMs } = await drainAndRetire(old, reason, this.options, this.record)
      if (how === 'drain-first' && !crew.isDismissed) why = await crew.raise(slot)
      const line = await this.#account(slot, old, { reason, how: calledAt !== null && how === 'surge' ? 'standby' : how, ...account, drainMs, tookMs: now() - began })
      if (why === null) old.emit('recycled', { line })
    }
    slot.recycling = null
    if (why !== null) this.#replacementFailed(slot, old, why)
    else if (this.rollout.wish(old.generation)) this.rollout.succeeded()
    crew.refill(slot)
    this.emit('change')
    this.giveTurns()
  }

  /** @param {Slot} slot @param {Handle} old @param {Record<string, any>} fields */
  async #account (slot, old, fields) {
    const { incumbent } = slot
    slot.recycles++
    slot.lastReason = fields.reason
    this.count++
    const after = incumbent && await this.watch.read(incumbent)
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

  /** The old worker stays in service, or its slot is refilled. @param {Slot} slot @param {Handle} old @param {string} why */
  #replacementFailed (slot, old, why) {
    if (this.crew.isDismissed) return
    const nextTryMs = backoffMs(slot.failures)
    slot.notBefore = now() + nextTryMs
    this.record('worker.unready', { slot: slot.slot, oldPid: old.isServing ? old.pid : null, why, failures: slot.failures, nextTryMs })
    old.emit('recycled', { why })
    if (this.rollout.wish(old.generation) !== null) this.#rolloutFailed()
    else if (old.reason === 'reload' && old.isServing) reprieve(old, this.record) // the rollout was stopped meanwhile
  }

  /** A replacement did not come up; after some in a row nobody else is replaced. */
  #rolloutFailed () {
    if (!this.rollout.failed()) return
    this.record('fleet.warning', { warning: 'rollout-stopped', failures: Rollout.PATIENCE })
    for (const { incumbent, recycling } of this.fleet.list()) {
      if (incumbent?.reason === 'reload' && !recycling) reprieve(incumbent, this.record)
    }
    this.emit('change')
  }
}

module.exports = { Recycler }
