'use strict'

/** `--max-lag`: a worker whose event loop is late for a while is replaced. */

const { lagPeriodMs, isLagKnown } = require('./lag-period')

/** @typedef {{ maxLagMs: number | null }} Options */

/**
 * @typedef {object} Sampled
 * @property {number | null} [lagP99Ms] delay of its event loop, 99th percentile of the latest period; null: none has
 *   passed since it was ready
 */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-lag',
  options: ({ row, types }) => [
    row('maxLag', '--max-lag <time>', types.time(10, '10ms'), null, 'none',
      "delay of a worker's event loop, 99th percentile over --samples intervals, before it is replaced", 'maxLagMs')
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxLagMs !== null,
  settings: options => ({ periodMs: lagPeriodMs(options) }),
  figures: {
    lagP99Ms: {
      beat: ({ orNull, duration }) => orNull(duration),
      metric: {
        name: 'event_loop_lag_p99_seconds',
        help: 'With --max-lag: event-loop delay, 99th percentile of the latest period.',
        value: ms => ms / 1000
      }
    }
  },
  primary: () => watchLag,
  worker: () => require('./worker').measureDelay,
  limit: {
    reason: 'lag',
    budget: 'maxLagMs',
    figure: 'lagP99Ms',
    isOverBy: 'latest',
    sentence: ({ figure, most }, { time }) => `its event loop is ${time(figure)} late, above ${time(most)} (lag)`
  }
})

/**
 * A figure of before the worker was ready, or of while the machine slept, says nothing.
 *
 * @param {import('../interface').PrimaryKernel} kernel
 */
function watchLag ({ options, now }) {
  let wokeAt = 0
  return {
    wake: () => { wokeAt = now() },
    probe: (/** @type {import('../interface').Probed} */ { latest, upSince }) => ({
      read: (/** @type {number} */ at) =>
        ({ lagP99Ms: isLagKnown(Math.min(at - upSince(), at - wokeAt), options) ? latest().lagP99Ms ?? null : null })
    })
  }
}
