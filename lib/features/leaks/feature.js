'use strict'

/** `--memory-by-route`: which route leaks, from live memory after collections and requests by route. */

const { MOST_ROUTES, LONGEST_ROUTE } = require('./bounds')

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'leaks',
  options: ({ row, types }) => [
    row('memoryByRoute', '--memory-by-route', types.boolean(), false, 'off',
      'count requests by route and find out which route leaks: bytes that its requests keep')
  ],
  group: 'Memory and other limits:',
  isOn: options => options.memoryByRoute,
  fromWorker: ({ kind, count, duration, listOf, text }) => ({
    memory: kind('with --memory-by-route, after a collection: what is alive, requests by route, ' +
      'and the names of routes that are new', {
      upMs: duration,
      liveBytes: count,
      markSweeps: count,
      requests: listOf(count, MOST_ROUTES),
      routes: listOf(text(LONGEST_ROUTE), MOST_ROUTES)
    })
  }),
  events: {
    'worker.memory': { level: 'quiet' },
    'fleet.leak': {
      level: 'warn',
      sentence: ({ route, bytesPerRequest, low, high }, { size }) => {
        const [about, from, to] = [bytesPerRequest, low, high].map(bytes => size(Number(bytes)))
        return `${route} leaks: it keeps about ${about} of each request (${from} to ${to})`
      }
    }
  },
  primary: () => kernel => new (require('./primary').LeakingRoutes)(kernel),
  worker: true,
  metrics: [{
    name: 'leaking_route_bytes_per_request',
    help: 'Memory that a request keeps, as estimated, of each route that leaks.',
    labels: ['route'],
    values: ({ memoryByRoute }) => (memoryByRoute?.routes ?? [])
      .filter(({ leaks, bytesPerRequest }) => leaks && bytesPerRequest !== null)
      .map(({ route, bytesPerRequest }) => [{ route }, Number(bytesPerRequest)])
  }],
  status: {
    key: 'memoryByRoute',
    lines: ({ lack, text }, paint) => [paint(lack === null ? 'yellow' : 'dim', text)]
  },
  report: 'memoryByRoute'
})
