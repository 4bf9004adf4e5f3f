'use strict'

const { untilNext } = require('../../native/every')
const { Part } = require('../part')
/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * When workers are looked at: every --interval, and at once where a replacement is requested.
 * @extends {Part<{ sampler: import('./sampler').Sampler }>}
 */
class Looks extends Part {
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /** Looks are at multiples of the interval, however long one takes. */
  begin () {
    this.#timer = setTimeout(() => {
      this.begin()
      this.look()
    }, untilNext(this.memoryWatch.nextLookMs))
  }

  end () {
    clearTimeout(this.#timer)
  }

  /** @param {{ requestedAlone?: boolean }} [at] */
  look (at) {
    this.tasks.run('look', async () => {
      if (this.tenure.isOver) return
      await this.sampler.look(at)
      if (at?.requestedAlone !== true && !this.tenure.isOver) this.memoryWatch.look()
      this.changed()
    })
  }

  /**
   * Has this worker replaced.
   * @param {WorkerHandle} handle @param {import('../../tables/reasons').Asked} reason
   * @param {{ isCommanded?: boolean }} [how]
   */
  replace (handle, reason, how) {
    handle.condemnation.request(reason, how)
    this.look({ requestedAlone: true })
  }
}

module.exports = { Looks }
