'use strict'

/**
 * In a worker: the delay of the event loop, 99th percentile over one period after the other. Node records how far two
 * ticks of a timer are apart, which is its resolution where nothing delays them.
 */

const { monitorEventLoopDelay, performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')

const RESOLUTION_MS = 10
const PERCENTILE = 99

class LoopDelay {
  /** Of the latest whole period, ms; null: none has passed yet. @type {number | null} */
  p99Ms = null
  #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #since = performance.now()

  /** @param {number} periodMs */
  constructor (periodMs) {
    this.periodMs = periodMs
    this.#histogram.enable()
  }

  /**
   * To be called at an interval. Node's timer runs in this turn too, before or after this: what delayed both is
   * recorded in any case.
   */
  look () {
    if (performance.now() - this.#since < this.periodMs) return
    this.#since = performance.now()
    setImmediate(() => {
      this.p99Ms = this.#histogram.count === 0
        ? 0
        : Math.max(0, Math.round(this.#histogram.percentile(PERCENTILE) / 1e6) - RESOLUTION_MS)
      this.#histogram.reset()
    })
  }
}

module.exports = { LoopDelay }
