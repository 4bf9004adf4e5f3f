'use strict'

/**
 * Whether enough workers are ready: the intended number less `maxUnavailable`. It counts slots, so a slot that is
 * recycled with its replacement ready first is ready throughout. A slot that was added counts once it has been ready,
 * so that scaling up does not make the fleet unready; a slot that is scaled away no longer counts. Workers out of
 * rotation are not missed, as long as another worker is ready. One that a feature finds unfit is not ready.
 */

const { sayCrashing } = require('../../core/crashes')
const { UNFIT } = require('../../features')
/** @import { Worker } from '../worker-columns' */

class FleetReadiness {
  #intended
  /** The last requested number of workers. */
  #target

  /** @param {import('../control-verbs').Supervised} supervisor */
  constructor (supervisor) {
    this.supervisor = supervisor
    this.#intended = this.#target = supervisor.options.workers
  }

  /** @param {import('../../lines').JournalLine} line */
  hear (line) {
    if (line.event === 'fleet.scale') {
      this.#target = line.to
      this.#intended = Math.min(this.#intended, line.to)
    }
    if (line.event === 'worker.ready') {
      this.#intended = Math.max(this.#intended,
        Math.min(slotsThatAre('ready', this.supervisor.status().workers), this.#target))
    }
  }

  /** @returns {{ isReady: boolean, text: string }} */
  verdict () {
    const { isStopping, handover, options: { maxUnavailable } } = this.supervisor
    if (handover?.isLeaving || handover?.hasLeft) return { isReady: true, text: 'ready: another primary serves' }
    if (isStopping) return { isReady: false, text: 'not ready: the fleet is stopping' }
    const { crashing, workers } = this.supervisor.status()
    const { unfit, said, paused } = this.#notServing(workers)
    const ready = slotsThatAre('ready', workers) - unfit - paused
    const needed = Math.max(1, this.#intended - maxUnavailable - slotsThatAre('out-of-rotation', workers))
    const isReady = ready >= needed
    const out = paused > 0 ? `; ${paused} ${paused === 1 ? 'is' : 'are'} out of rotation` : ''
    return {
      isReady,
      text: `${isReady ? 'ready' : 'not ready'}: ${ready} of ${this.#intended} workers are, ${needed} must be` +
        `${said}${out}${crashing ? `; ${sayCrashing(crashing)}` : ''}`
    }
  }

  /**
   * Of the workers that are ready by their state: those that are unfit, and in words, and the others that are paused.
   * @param {Worker[]} all
   */
  #notServing (all) {
    const workers = all.filter(({ state }) => state === 'ready')
    const { options } = this.supervisor
    const unfit = new Set(workers.filter(worker => UNFIT?.is(worker, options)))
    const said = UNFIT && unfit.size > 0 ? `; ${unfit.size} ${UNFIT.say(unfit.size)}` : ''
    return { unfit: unfit.size, said, paused: workers.filter(worker => worker.paused && !unfit.has(worker)).length }
  }
}

/** @param {string} which @param {Worker[]} workers */
function slotsThatAre (which, workers) {
  return new Set(workers.filter(({ state }) => state === which).map(({ slot }) => slot)).size
}

module.exports = { FleetReadiness }
