'use strict'

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/**
 * Has the workers of both codes collect their garbage at the same moments of a comparison, out of rotation: what is
 * left then is no garbage, and V8 by itself collects the old space of a worker too seldom to compare in minutes.
 */

const TASK = { type: 'collect', timeoutMs: 60_000 }
const AT = [0, 0.35, 0.7, 0.92] // of the comparison: the first two before its second half, in which each worker has two
const MOST_OLD = 6 // workers: more say little more
const LEAST_SERVING = 3 // one is away at a time
const LONGEST_MS = 2000 // to empty a worker; connections that cannot move, such as those with TLS, would keep it away

class Sweeps {
  #rounds = 0
  #isBusy = false
  #isWorthIt = true

  /** @param {import('../../primary/parts').Parts} kernel @param {() => boolean} isOver the comparison */
  constructor (kernel, isOver) {
    this.kernel = kernel
    this.isOver = isOver
  }

  /**
   * @param {number} share of the comparison that is over, 0 to 1
   * @param {{ fresh: WorkerHandle[], old: WorkerHandle[] }} workers
   */
  look (share, { fresh, old }) {
    if (this.#isBusy || this.#rounds === AT.length || share < AT[this.#rounds]) return
    while (share >= AT[this.#rounds]) this.#rounds++
    this.#collect([...fresh, ...old.slice(0, MOST_OLD)])
  }

  /** Collects in one worker after the other. @param {WorkerHandle[]} workers */
  async #collect (workers) {
    const { outOfRotation, fleet, features, now } = this.kernel
    this.#isBusy = true
    for (const handle of workers) {
      if (!this.#isWorthIt || features.hasSessions || this.isOver() || fleet.serving().length < LEAST_SERVING) break
      const began = now()
      await outOfRotation.take(handle, TASK)
      this.#isWorthIt = now() - began < LONGEST_MS
    }
    this.#isBusy = false
  }
}

module.exports = { Sweeps, AT }
