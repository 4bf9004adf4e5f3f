'use strict'

/**
 * The one loop of the supervisor: whenever a fact or what is desired has changed, or a time has come, the plan is made
 * anew (lib/core/plan.js) and its steps begin. What a step does is in recycling/ and workers/.
 *
 *     facts of the fleet ─┐
 *     what is desired ────┼─▶ plan() ─▶ steps, each a task of its own ─▶ facts
 *     now ────────────────┘
 */

const { EventEmitter } = require('node:events')
const { boundsOf } = require('../core/container-budget')
const { plan } = require('../core/plan')
const { canWait } = require('../tables/recycle-backoff')
const { isOver } = require('../tables/reasons')
const { now } = require('./clock')
/** @import { Facts, WorkerFacts } from '../core/fleet-facts' */
/** @import { WorkerHandle } from './workers/worker-handle' */

class Reconciler {
  #isScheduled = false
  #rounds = new EventEmitter().setMaxListeners(0)
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {Pick<import('./parts').Deps, 'options' | 'fleet' | 'tasks' | 'stopping' | 'figuresOf' | 'memory'> & Judged}
   *   deps
   *
   * @typedef {object} Judged
   * @property {Record<import('../core/plan').Action['type'], (action: any) => Promise<unknown>>} steps what carries
   *   each action out; what it changes at once is in the facts when it returns
   * @property {(handle: WorkerHandle) => WorkerFacts['task']} taskOf
   * @property {() => boolean} canForesee a worker whose memory is going to cross its budget is going to be replaced
   * @property {() => number} atFirst see Desired
   * @property {() => boolean} canStandBy a standby that boots now is of use
   */
  constructor ({ options, fleet, tasks, stopping, steps, figuresOf, taskOf, memory, canForesee, atFirst, canStandBy }) {
    this.options = options
    this.fleet = fleet
    this.tasks = tasks
    this.stopping = stopping
    this.steps = steps
    this.figuresOf = figuresOf
    this.taskOf = taskOf
    this.memory = memory
    this.canForesee = canForesee
    this.atFirst = atFirst
    this.canStandBy = canStandBy
    stopping.addEventListener('abort', () => {
      clearTimeout(this.#timer)
      this.#rounds.emit('round')
    })
  }

  /** A fact has changed, or what is desired. Several changes of one turn make one plan. */
  changed () {
    if (this.#isScheduled || this.stopping.aborted) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.stopping.aborted) return
      this.tasks.run('plan', async () => this.#reconcile())
      this.#rounds.emit('round')
    })
  }

  /**
   * Resolves when it is so, which is looked at after each change.
   *
   * @param {() => boolean} isSo
   * @throws {import('../core/errors').RecycleError} what stopped the fleet meanwhile
   */
  async until (isSo) {
    this.stopping.throwIfAborted()
    while (!isSo()) {
      await new Promise(resolve => this.#rounds.once('round', resolve))
      this.stopping.throwIfAborted()
    }
  }

  #reconcile () {
    const { standby, maxSurge, maxUnavailable, sizing } = this.options
    const standbys = standby > 0 && this.canStandBy() ? standby : 0
    // The load asks for them now: as many boot at a time as there are CPUs to boot them.
    const maxBoots = boundsOf(this.options) ? Math.max(1, sizing.cpus) : 1
    const { numbers: slots, rollout: { generation } } = this.fleet
    const desired = { slots, generation, standbys, maxSurge, maxUnavailable, maxBoots, atFirst: this.atFirst() }
    const standbyHandles = [...this.fleet.standbyPool.handles]
    const { actions, wakeAt } = plan(this.#facts(standbyHandles), desired, now())
    for (const action of actions) {
      const handle = action.type === 'retire-standby' ? standbyHandles[action.standby] : undefined
      this.tasks.run(action.type, () => this.steps[action.type]({ ...action, handle }))
    }
    clearTimeout(this.#timer)
    if (wakeAt < Infinity) this.#timer = setTimeout(() => this.changed(), Math.max(0, wakeAt - now()))
  }

  /** @param {WorkerHandle[]} standbys @returns {Facts} */
  #facts (standbys) {
    const { standbyPool } = this.fleet
    return {
      slots: this.fleet.list().map(slot => ({
        slot: slot.slot,
        incumbent: slot.incumbent && this.#describe(slot.incumbent),
        isLeaving: slot.leaving.size > 0 || slot.successor !== null,
        recycle: slot.recycle && slot.recycle.how,
        isReplaced: slot.recycle?.isReplaced === true,
        isNew: slot.isNew,
        bootNotBefore: slot.boots.notBefore,
        unservedNotBefore: slot.boots.unservedNotBefore,
        recycleNotBefore: Math.max(slot.boots.notBefore, slot.recycling.notBefore)
      })),
      standbys: standbys.map(handle => this.#describe(handle)),
      standbyNotBefore: Math.max(standbyPool.boots.notBefore, standbyPool.recycling.notBefore),
      bootMs: Math.max(0, ...this.fleet.all().map(({ bootMs }) => bootMs ?? 0)),
      memory: this.memory()
    }
  }

  /** Not where a command waits for it. @param {WorkerHandle} handle */
  #canWait ({ condemnation: { reason, requested }, generation }) {
    return canWait(reason) && requested === null && this.fleet.rollout.requested(generation) === null
  }

  /** @param {WorkerHandle} handle @returns {WorkerFacts} */
  #describe (handle) {
    const facts = handle.facts()
    const figures = this.figuresOf(handle)
    const sample = figures?.sample ?? null
    const isOverHard = facts.reason === 'hard-rss' ||
      (sample !== null && isOver(sample, facts.budget, facts.budget.hardBytes))
    const crossesAt = this.canForesee() ? figures?.crossesAt(facts.budget.softBytes) ?? null : null
    const judged = { bytes: sample?.rssBytes ?? 0, isSampled: figures?.isJudged ?? false, isOverHard, crossesAt }
    return { ...facts, ...judged, task: this.taskOf(handle), canWait: this.#canWait(handle) }
  }
}

module.exports = { Reconciler }
