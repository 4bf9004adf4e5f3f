'use strict'

/**
 * The metrics that the app has in prom-client, added up over the workers, and served by the admin port beside recycle's
 * own. A scrape of the app itself gets those of one worker, which begin anew at each recycle.
 */

const LONGEST = 8 * 1024 ** 2 // characters of a worker's metrics

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'app-metrics',
  options: ({ row, types }) => [
    row('appMetrics', '--no-app-metrics', types.boolean(), true, 'on',
      'with --admin: do not serve the metrics that the app has in prom-client, added up over the workers')
  ],
  group: 'Output and control:',
  isOn: ({ admin, appMetrics }) => admin !== null && appMetrics,
  api: ['exposeMetrics'],
  fromPrimary: ({ kind }) => ({
    'app-metrics': kind('what are the metrics of the app?')
  }),
  fromWorker: ({ kind, orNull, text }) => ({
    'app-metrics': kind('the metrics of the app, as JSON; null: it has none, or too many',
      { json: orNull(text(LONGEST)) })
  }),
  settings: () => ({ longest: LONGEST }),
  warnings: {
    'app-metrics-unread': ({ why }) => `the app's metrics of one worker are left out of /metrics: ${why}`
  },
  primary: () => kernel => new (require('./primary').AppMetrics)(kernel),
  worker: true
})
