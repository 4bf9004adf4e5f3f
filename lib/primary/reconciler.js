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
const { plan } = require('../core/plan')
const { isOver } = require('../core/verdict')
const { now } = require('./clock')

/** @typedef {import('./workers/worker-handle').WorkerHandle} WorkerHandle */

class Reconciler {
  #isScheduled = false
  #rounds = new EventEmitter().setMaxListeners(0)
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {object} deps
   * @param {import('../core/options').Options} deps.options
   * @param {import('./workers/fleet').Fleet} deps.fleet
   * @param {import('./recycling/rollout').Rollout} deps.rollout
   * @param {import('./tasks').Tasks} deps.tasks
   * @param {AbortSignal} deps.stopping
   * @param {Record<import('../core/plan').Action['type'], (action: any) => Promise<unknown>>} deps.steps what carries each action
   *   out; what it changes at once is in the facts when it returns
   * @param {(handle: WorkerHandle) => import('./measuring/figures').Figures | null} deps.figuresOf
   * @param {(handle: WorkerHandle) => import('../core/plan').WorkerFacts['task']} deps.taskOf
   */
  constructor ({ options, fleet, rollout, tasks, stopping, steps, figuresOf, taskOf }) {
    this.options = options
    this.fleet = fleet
    this.rollout = rollout
    this.tasks = tasks
    this.stopping = stopping
    this.steps = steps
    this.figuresOf = figuresOf
    this.taskOf = taskOf
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
      this.#reconcile()
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
    const { standby: standbys, maxSurge, maxUnavailable } = this.options
    const desired = { workers: this.fleet.desired, generation: this.rollout.generation, standbys, maxSurge, maxUnavailable }
    const standbyHandles = [...this.fleet.standbyPool.handles]
    const { actions, wakeAt } = plan(this.#facts(standbyHandles), desired, now())
    for (const action of actions) {
      const handle = action.type === 'retire-standby' ? standbyHandles[action.standby] : undefined
      this.tasks.run(action.type, () => this.steps[action.type]({ ...action, handle }))
    }
    clearTimeout(this.#timer)
    if (wakeAt < Infinity) this.#timer = setTimeout(() => this.changed(), wakeAt - now())
  }

  /** @param {WorkerHandle[]} standbys @returns {import('../core/plan').Facts} */
  #facts (standbys) {
    const { standbyPool } = this.fleet
    return {
      slots: this.fleet.list().map(slot => ({
        slot: slot.slot,
        incumbent: slot.incumbent && this.#describe(slot.incumbent),
        isLeaving: slot.leaving.size > 0,
        recycle: slot.recycle && slot.recycle.how,
        isNew: slot.isNew,
        bootNotBefore: slot.boots.notBefore,
        recycleNotBefore: Math.max(slot.boots.notBefore, slot.freshOverBudget.notBefore)
      })),
      standbys: standbys.map(handle => this.#describe(handle)),
      standbyNotBefore: Math.max(standbyPool.boots.notBefore, standbyPool.freshOverBudget.notBefore)
    }
  }

  /** @param {WorkerHandle} handle @returns {import('../core/plan').WorkerFacts} */
  #describe (handle) {
    const { state, generation, reason, condemnedAt, budget } = handle
    const sample = this.figuresOf(handle)?.sample ?? null
    const isOverHard = reason === 'hard-rss' || (sample !== null && isOver(sample, budget, budget.hardBytes))
    return { state, generation, reason, bytes: sample?.rssBytes ?? 0, condemnedAt, task: this.taskOf(handle), isOverHard }
  }
}

module.exports = { Reconciler }
