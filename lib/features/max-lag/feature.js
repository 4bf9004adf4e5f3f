'use strict'

/** `--max-lag`: a worker whose event loop is late for a while is replaced. */

const SHORTEST_MS = 1000 // a hundred ticks: one of them is not the 99th percentile

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
  worker: true
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
