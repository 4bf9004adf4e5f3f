'use strict'

/**
 * `--max-rss auto` with `--workers auto`: how many workers the memory is enough for is known once one of them has
 * loaded the app. Until then no more boot than would fit if each took much; then there are as many as get a budget that
 * a fresh worker fits in.
 */

const { drawBudget } = require('../../tables/budget')
const { workersAtFirst, workersThatFit } = require('../../core/container-budget')
const { fewestWorkers } = require('../../core/recycle-order')
const { Part } = require('../part')

/** @extends {Part<object, 'options' | 'fleet' | 'takeover' | 'resize' | 'record'>} */
class AutoSize extends Part {
  /**
   * Memory that the latest worker took when it was new, by the metric of its budget; null: not known.
   * @type {number | null}
   */
  freshBytes = null

  /** The number is to be found yet, and no predecessor has it. */
  isOpen = this.options.sizing.isAutoBudget && this.options.sizing.isAutoWorkers && this.takeover === null

  /** How many workers may be there until then. */
  get atFirst () {
    return this.isOpen ? workersAtFirst(this.options.sizing) : Infinity
  }

  /** @param {number | null} freshBytes of a worker */
  observe (freshBytes) {
    this.freshBytes = freshBytes ?? this.freshBytes
    if (!this.isOpen) return
    this.isOpen = false
    // Else a command has set the number
    if (freshBytes !== null && this.fleet.desired === this.options.workers) this.#settle(freshBytes)
  }

  /** @param {number} freshBytes */
  #settle (freshBytes) {
    const { sizing, workers } = this.options
    const to = Math.min(workers, Math.max(fewestWorkers(this.options), workersThatFit(sizing, freshBytes)))
    if (to === workers) return
    const isServing = (/** @type {number} */ slot) => Number(this.fleet.slots.get(slot)?.incumbent?.isServing ?? false)
    const { desired, limitBytes, source } = sizing
    this.record('fleet.warning', { warning: 'few-workers', workers: to, desired, limitBytes, source, freshBytes })
    this.resize(to, 'memory',
      { leaveFirst: this.fleet.wanted.toReversed().sort((a, b) => isServing(a) - isServing(b)) })
    for (const handle of this.fleet.all()) {
      handle.budget = drawBudget(this.options, to, Math.random())
      this.record('worker.budget', { slot: handle.slot, pid: handle.pid, budget: handle.budget })
    }
  }
}

module.exports = { AutoSize }
