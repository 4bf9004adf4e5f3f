'use strict'

/**
 * Whether enough workers are ready: the intended number less `maxUnavailable`. It counts slots, so a slot that is recycled
 * with its replacement ready first is ready throughout. A slot that was added counts once it has been ready, so that
 * scaling up does not make the fleet unready; a slot that is scaled away no longer counts. Workers out of rotation are
 * not missed, as long as another worker is ready. A worker that fails its health check (`--health`) is not ready.
 */

const { sayCrashing } = require('../../core/crashes')

class Health {
  #intended
  /** The last requested number of workers. */
  #target

  /** @param {import('../control-verbs').Supervised} supervisor */
  constructor (supervisor) {
    this.supervisor = supervisor
    this.#intended = this.#target = supervisor.options.workers
  }

  /** @param {Record<string, any>} line of the journal */
  hear (line) {
    if (line.event === 'fleet.scale') {
      this.#target = line.to
      this.#intended = Math.min(this.#intended, line.to)
    }
    if (line.event === 'worker.ready') this.#intended = Math.max(this.#intended, Math.min(this.#slotsThatAre('ready'), this.#target))
  }

  /** @returns {{ isReady: boolean, text: string }} */
  readiness () {
    const { isStopping, handover, options: { maxUnavailable } } = this.supervisor
    if (handover?.isLeaving || handover?.hasLeft) return { isReady: true, text: 'ready: another primary serves' }
    if (isStopping) return { isReady: false, text: 'not ready: the fleet is stopping' }
    const { crashing } = this.supervisor.status()
    const { failing, paused } = this.#notServing
    const ready = this.#slotsThatAre('ready') - failing - paused
    const needed = Math.max(1, this.#intended - maxUnavailable - this.#slotsThatAre('out-of-rotation'))
    const isReady = ready >= needed
    return { isReady, text: `${isReady ? 'ready' : 'not ready'}: ${ready} of ${this.#intended} workers are, ${needed} must be${failing > 0 ? `; ${failing} ${failing === 1 ? 'fails its' : 'fail their'} health check` : ''}${paused > 0 ? `; ${paused} ${paused === 1 ? 'is' : 'are'} out of rotation` : ''}${crashing ? `; ${sayCrashing(crashing)}` : ''}` }
  }

  /** Workers that are ready by their state, and have failed as many probes as is too many, or are paused. */
  get #notServing () {
    /** @type {{ state: string, healthFailures: number | null, paused: string | null }[]} */
    const workers = this.supervisor.status().workers.filter((/** @type {{ state: string }} */ { state }) => state === 'ready')
    const { healthFailureThreshold } = this.supervisor.options
    const isFailing = (/** @type {{ healthFailures: number | null }} */ { healthFailures }) => (healthFailures ?? 0) >= healthFailureThreshold
    return { failing: workers.filter(isFailing).length, paused: workers.filter(worker => worker.paused && !isFailing(worker)).length }
  }

  /** @param {string} which */
  #slotsThatAre (which) {
    /** @type {{ state: string, slot: number }[]} */
    const workers = this.supervisor.status().workers
    return new Set(workers.filter(({ state }) => state === which).map(({ slot }) => slot)).size
  }
}

module.exports = { Health }
