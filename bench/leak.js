'use strict'

/**
 * What `recycle leak` costs: the throughput and the latencies of the worker under study beside an ordinary one, and
 * those of a fleet of three, in which one is always under study, beside a fleet without.
 *
 *     npm run bench:leak -- [--rounds 7] [--seconds 5] [--connections 16] [--quick]
 */

const path = require('node:path')
const { load } = require('./support/load')
const { openBench } = require('./support/rounds')
const { startServer } = require('./support/server')

const bench = openBench({
  name: 'leak',
  options: { rounds: '7', seconds: '5', connections: '16' },
  quick: { seconds: '0.5', connections: '4' }
})
const { values } = bench

/** @param {string} app @param {string[]} flags */
const subject = (app, flags) => async () => {
  const server = await startServer('studied.js', [path.join(__dirname, 'apps', app), ...flags])
  const how = { port: server.port, connections: Number(values.connections) }
  await load({ ...how, seconds: Number(values.seconds) / 2 })
  const figures = await load({ ...how, seconds: Number(values.seconds) })
  await server.stop()
  return figures
}

/** @param {string} name @param {string} app @param {string[]} [more] */
const group = (name, app, more = []) => ({ name, beside: ['ordinary'], subjects: { ordinary: subject(app, more), 'under study': subject(app, [...more, '--profiled']) } })

bench.run({
  groups: [group('a worker, hello world', 'hello.js'), group('a worker, 0.3 ms a request', 'busy.js'), group('a fleet of three, 0.3 ms a request', 'busy.js', ['--fleet'])],
  columns: [
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'p50', title: 'p50 ms', digits: 2, less: true },
    { key: 'p99', title: 'p99 ms', digits: 2, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: [{ key: 'dropped', atMost: 0 }]
})
