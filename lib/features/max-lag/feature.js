'use strict'

/** `--max-lag`: a worker whose event loop is late for a while is replaced. */

const SHORTEST_MS = 1000 // a hundred ticks: one of them is not the 99th percentile
const RESOLUTION_MS = 10 // of the timer whose ticks Node measures: so far apart are they where nothing delays them

/** Over how long the percentile is taken. @param {{ intervalMs: number, samples: number }} options */
const periodOf = ({ intervalMs, samples }) => Math.max(SHORTEST_MS, intervalMs * samples)

/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-lag',
  options: ({ row, types }) => [
    row('maxLag', '--max-lag <time>', types.time(10, '10ms'), null, 'none',
      "delay of a worker's event loop, 99th percentile over --samples intervals, before it is replaced", 'maxLagMs')
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxLagMs !== null,
  settings: options => ({ periodMs: periodOf(options) }),
  figures: {
    lagP99Ms: {
      unit: 'ms',
      beat: ({ orNull, duration }) => orNull(duration),
      metric: ['event_loop_lag_p99_seconds',
        'With --max-lag: event-loop delay, 99th percentile of the latest period.'],
      limit: {
        reason: 'lag',
        budget: 'maxLagMs',
        isOverBy: 'latest',
        sentence: ({ figure, most }, { time }) => `its event loop is ${time(figure)} late, above ${time(most)} (lag)`
      }
    }
  },
  primary: () => watchLag,
  worker: () => measureDelay
})

/**
 * A figure may be a period old, and says nothing of before the worker was ready, or of while the machine slept.
 * @param {import('../../primary/parts').Parts} kernel
 */
function watchLag ({ options, now }) {
  let wokeAt = 0
  return {
    wake: () => { wokeAt = now() },
    probe: (/** @type {WorkerHandle} */ handle) => (/** @type {number} */ at) => {
      const isKnown = at - Math.max(Number(handle.upSince), wokeAt) >= 3 * periodOf(options)
      return { lagP99Ms: isKnown ? handle.latest.lagP99Ms ?? null : null }
    }
  }
}

/**
 * In a worker: the delay of the event loop, 99th percentile over one period after the other. Node's timer runs in the
 * turn of a look too, before or after it: what delayed both is recorded in any case.
 * @param {unknown} _ @param {{ periodMs: number }} settings
 */
function measureDelay (_, { periodMs }) {
  const histogram = require('node:perf_hooks').monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const { setImmediate } = require('node:timers') // the app may replace the global one
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
