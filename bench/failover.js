'use strict'

/**
 * The CPU time of a request in a fleet of one worker with and without --failover, both at the same time and each at the
 * same rate, so that other load of the machine affects both.
 *
 *     npm run bench:failover -- [--rounds 7] [--seconds 10] [--connections 50] [--rates 4000,1000,1000] [--quick]
 *
 * The rates are those of hello world with keep-alive, of an app that takes 0.3 ms, and of hello world with a connection
 * per request. Requests have 7 headers.
 */

const path = require('node:path')
const { load } = require('./support/load')
const { oncePerRound, openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage } = require('./support/usage')

const HEADERS = ['User-Agent: bench/1.0', 'Accept: */*', 'Accept-Encoding: gzip, br', 'Accept-Language: en', 'X-Request-Id: 0123456789abcdef', 'X-Forwarded-For: 10.0.0.1']
const SUBJECTS = { '--no-failover': { failover: false }, default: {} }

const bench = openBench({
  name: 'failover',
  options: { rounds: '7', seconds: '10', connections: '50', rates: '4000,1000,1000' },
  quick: { seconds: '1', connections: '5', rates: '200,100,100' }
})
const { values } = bench
const [rate, busyRate = rate, closeRate = rate] = values.rates.split(',').map(Number)
const warmSeconds = values.quick ? 0.2 : 8 // code is compiled meanwhile, of which there is more with it
const GROUPS = [
  { name: 'hello world, keep-alive', app: 'hello.js', keepAlive: true, rate },
  { name: '0.3 ms a request, keep-alive', app: 'busy.js', keepAlive: true, rate: busyRate },
  { name: 'hello world, a connection per request', app: 'hello.js', keepAlive: false, rate: closeRate }
]

bench.run({
  groups: GROUPS.map(({ name, ...how }) => {
    const measured = oncePerRound(() => measure(how))
    return { name, by: 'cpuUs', beside: ['--no-failover'], subjects: Object.fromEntries(Object.keys(SUBJECTS).map(subject => [subject, async at => (await measured(at))[subject]])) }
  }),
  columns: [
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'p99', title: 'p99 ms', digits: 2, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: GROUPS.map(({ name: group }) => ({ group, subject: 'default', key: 'cpuUs', ratioAtMost: 1.03 }))
})

/** @param {{ app: string, keepAlive: boolean, rate: number }} how @returns {Promise<Record<string, any>>} by subject */
async function measure ({ app, keepAlive, rate }) {
  const names = Object.keys(SUBJECTS)
  const servers = await Promise.all(Object.values(SUBJECTS).map(more => startServer('recycle.js', [JSON.stringify({ app: path.join(__dirname, 'apps', app), workers: 1, ...more })])))
  const how = { connections: Number(values.connections), keepAlive, rate, headers: HEADERS }
  await Promise.all(servers.map(({ port }) => load({ ...how, port, seconds: warmSeconds })))
  const measured = await Promise.all(servers.map(async ({ pid, port }) => {
    const usage = new Usage(pid, 1000)
    const figures = await load({ ...how, port, seconds: Number(values.seconds) })
    const used = usage.stop()
    return { ...figures, cpuUs: used && used.cpuMs * 1000 / figures.requests }
  }))
  await Promise.all(servers.map(server => server.stop()))
  return Object.fromEntries(names.map((name, i) => [name, measured[i]]))
}
