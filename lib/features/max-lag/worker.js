'use strict'

const { monitorEventLoopDelay, performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers') // the app may replace the global one

const RESOLUTION_MS = 10 // of the timer whose ticks Node measures: so far apart are they where nothing delays them

/**
 * The delay of the event loop, 99th percentile over one period after the other. Node's timer runs in the turn of a look
 * too, before or after it: what delayed both is recorded in any case.
 * @param {unknown} _ @param {{ periodMs: number }} settings
 */
function measureDelay (_, { periodMs }) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let since = performance.now()
  /** Of the latest whole period; null: none has passed yet. @type {number | null} */
  let lagP99Ms = null
  histogram.enable()
  const settle = () => {
    const lateMs = histogram.count === 0 ? 0 : Math.round(histogram.percentile(99) / 1e6) - RESOLUTION_MS
    lagP99Ms = Math.max(0, lateMs)
    histogram.reset()
  }
  return {
    figures () {
      if (performance.now() - since >= periodMs) {
        since = performance.now()
        setImmediate(settle)
      }
      return { lagP99Ms }
    }
  }
}

module.exports = { part: measureDelay }
