'use strict'

/**
 * The cost of counting requests by route in a worker (`--memory-by-route`; lib/features/leaks/worker.js), in CPU
 * time of each request. Requests are published as Node.js publishes them, without sockets, so that nothing but
 * recycle's own part is measured.
 *
 *     npm run bench:routes -- [--rounds 9] [--quick]
 */

const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')
const { openBench } = require('./support/rounds')

const script = path.join(__dirname, 'support', 'counting-routes.js')
const URLS = {
  'a path of words': ['/api/users/me/orders'],
  'a path with an id and a query': ['/api/users/#/orders?page=2&sort=date'],
  'a path with a UUID': ['/api/sessions/3f9a8c7b-1234-4abc-9def-1234567890ab/renew'],
  "a framework's route": ['/api/users/#/orders', '/api/users/:id/orders']
}

const bench = openBench({ name: 'routes', options: { rounds: '9' } })
const seconds = bench.values.quick ? '0.1' : '1'

bench.run({
  groups: Object.entries(URLS).map(([name, args]) => ({
    name,
    subjects: { without: () => measure('without', args), with: () => measure('with', args) },
    beside: ['without']
  })),
  columns: [{ key: 'us', title: 'CPU µs/request', digits: 3, less: true }],
  goals: [{ subject: 'with', key: 'us', above: 1 }],
  plot: { key: 'us', title: 'CPU of a request in the connection tracker, µs' }
})

/** @param {string} how @param {string[]} args */
async function measure (how, args) {
  const { stdout } = await promisify(execFile)(process.execPath, [script, how, seconds, ...args])
  return { us: Number(stdout) }
}
