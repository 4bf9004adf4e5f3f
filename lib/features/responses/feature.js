'use strict'

/** With `--admin`: how many responses of the app have a status of 5xx, and how long its responses take. */

/**
 * @typedef {readonly { figure: 'serverErrors' | 'responseP50Ms' | 'responseP99Ms', name: 'errorsPerSecond' | 'p50' |
 *   'p99', by: 'growth' | 'most' }[]} Moments what the live page draws of each figure: its growth a second over all
 *   workers, or the largest of any worker
 */

/** @type {Readonly<import('..').Feature & { moments: Moments }>} */
module.exports = Object.freeze({
  name: 'responses',
  options: () => [],
  group: 'Output and control:',
  isOn: ({ admin }) => admin !== null,
  figures: {
    serverErrors: {
      unit: 'total',
      beat: ({ count }) => count,
      metric: ['server_errors', 'With --admin: responses with 5xx since the worker began.']
    },
    responseP50Ms: {
      unit: 'ms',
      beat: ({ orNull, duration }) => orNull(duration),
      metric: ['response_p50_seconds',
        'With --admin: median time from a request to the end of its response, in the latest second.']
    },
    responseP99Ms: {
      unit: 'ms',
      beat: ({ orNull, duration }) => orNull(duration),
      metric: ['response_p99_seconds', 'With --admin: 99th percentile of it.']
    }
  },
  moments: [
    { figure: 'serverErrors', name: 'errorsPerSecond', by: 'growth' },
    { figure: 'responseP50Ms', name: 'p50', by: 'most' },
    { figure: 'responseP99Ms', name: 'p99', by: 'most' }
  ],
  worker: true
})
