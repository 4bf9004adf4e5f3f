'use strict'

/**
 * The one loop of the supervisor: whenever a fact or what is desired has changed, or a time has come, the plan is made
 * anew (lib/core/plan.js) and its steps begin. What a step does is in recycling/ and workers/.
 *
 *     facts of the fleet ─┐
 *     what is desired ────┼─▶ plan() ─▶ steps, each a task of its own ─▶ facts
 *     now ────────────────┘
 */

const { boundsOf } = require('../core/container-budget')
const { plan } = require('../core/plan')
const { canWait } = require('../tables/recycle-backoff')
const { isOver } = require('../tables/reasons')
const { now } = require('./clock')
const { Part } = require('./part')
/** @import { Facts, WorkerFacts } from '../core/fleet-facts' */
/** @import { WorkerHandle } from './workers/worker-handle' */

/**
 * @typedef {object} Steps parts that carry actions out, or judge workers
 * @property {import('./workers/lifecycle').Lifecycle} lifecycle
 * @property {import('./recycling/rotation').Rotation} rotation
 * @property {import('./recycling/recycler').Recycler} recycler
 * @property {import('./measuring/sampler').Sampler} sampler @property {import('./rounds').Rounds} rounds
 */

/** @extends {Part<Steps>} */
class Reconciler extends Part {
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** @param {import('./part').Deps & Steps} given */
  constructor (given) {
    super(given)
    given.rounds.on('plan', () => this.tasks.run('plan', async () => this.#reconcile()))
    given.tenure.on('over', () => clearTimeout(this.#timer))
  }

  /**
   * A step for each action, with its slot, or its standby; what it changes at once is in the facts when it returns.
   * @type {Record<import('../core/plan').Action['type'], (action: any) => Promise<unknown>>}
   */
  #steps = {
    boot: ({ slot }) => this.recycler.boot(slot),
    recycle: ({ slot, how, hasNoRoom }) => this.recycler.recycle(slot, how, hasNoRoom),
    wait: ({ slot }) => this.recycler.waitForRoom(slot),
    'before-recycle': ({ slot }) => this.features.beforeRecycle(slot.incumbent),
    rejoin: () => this.rotation.rejoin(),
    'scale-away': ({ slot }) => this.recycler.scaleAway(slot),
    close: async ({ slot }) => this.lifecycle.close(slot),
    'boot-standby': () => this.recycler.bootStandby(),
    'retire-standby': ({ standby, reason }) => this.recycler.retireStandby(standby, reason)
  }

  #reconcile () {
    const { standby, maxSurge, maxUnavailable, sizing } = this.options
    const standbys = standby > 0 && this.lifecycle.canStandBy ? standby : 0
    // The load asks for them now: as many boot at a time as there are CPUs to boot them.
    const maxBoots = boundsOf(this.options) ? Math.max(1, sizing.cpus) : 1
    const { numbers: slots, rollout: { generation } } = this.fleet
    const desired = { slots, generation, standbys, maxSurge, maxUnavailable, maxBoots, atFirst: this.autoSize.atFirst }
    const handles = [...this.fleet.standbyPool.handles]
    const { actions, wakeAt } = plan(this.#facts(handles), desired, now())
    for (const action of actions) {
      const slot = 'slot' in action && this.fleet.open(action.slot)
      const standby = 'standby' in action && handles[action.standby]
      this.tasks.run(action.type, () => this.#steps[action.type]({ ...action, slot, standby }))
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
      memory: this.memoryWatch.latest
    }
  }

  /** @param {WorkerHandle} handle @returns {WorkerFacts} */
  #describe (handle) {
    const { state, generation, budget, figures, sample } = handle
    const { reason, row, at, isWaiting, requested } = handle.condemnation
    return {
      ...{ state, generation, reason, condemnedAt: at, isWaiting },
      bytes: sample?.rssBytes ?? 0,
      isSampled: figures?.isJudged ?? false,
      isOverHard: row?.over === 'hard' || (sample !== null && isOver(sample, budget, budget.hardBytes)),
      task: this.features.taskOf(handle),
      // Not where a command waits for it
      canWait: canWait(reason) && requested === null && this.fleet.rollout.requested(generation) === null
    }
  }
}

module.exports = { Reconciler }
