'use strict'

/** With `--admin`: how many responses of the app have a status of 5xx, and how long its responses take. */

/**
 * @typedef {readonly { figure: string, name: 'errorsPerSecond' | 'p50' | 'p99', by: 'growth' | 'most' }[]} Moments what
 *   the live page draws of each figure: its growth a second over all workers, or the largest of any worker
 */

/** @type {Readonly<import('..').Feature & { moments: Moments }>} */
module.exports = Object.freeze({
  name: 'responses',
  options: () => [],
  group: 'Output and control:',
  isOn: ({ admin }) => admin !== null,
  figures: {
    serverErrors: {
      beat: ({ count }) => count,
      metric: { name: 'server_errors', help: 'With --admin: responses with 5xx since the worker began.' }
    },
    responseP50Ms: {
      beat: ({ orNull, duration }) => orNull(duration),
      metric: {
        name: 'response_p50_seconds',
        help: 'With --admin: median time from a request to the end of its response, in the latest second.',
        value: ms => ms / 1000
      }
    },
    responseP99Ms: {
      beat: ({ orNull, duration }) => orNull(duration),
      metric: { name: 'response_p99_seconds', help: 'With --admin: 99th percentile of it.', value: ms => ms / 1000 }
    }
  },
  moments: [
    { figure: 'serverErrors', name: 'errorsPerSecond', by: 'growth' },
    { figure: 'responseP50Ms', name: 'p50', by: 'most' },
    { figure: 'responseP99Ms', name: 'p99', by: 'most' }
  ],
  worker: () => require('./worker').measureResponses
})
