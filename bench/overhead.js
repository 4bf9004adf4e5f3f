'use strict'

/**
 * The cost of running under recycle. The app is "hello world", so that its own work hides nothing. Compared are bare
 * cluster with both of its policies, recycle with nothing to recycle, by both of its schedules, and recycle replacing a
 * worker every second. Bare cluster with a worker killed and forked every second shows the share of a process boot in
 * the last.
 *
 * Three kinds of load: as fast as possible, for throughput; at a fixed rate well below that, for latency, which a
 * closed loop understates; and all subjects at the same time, each with its share of the rate, for the CPU time of a
 * request: other load of the machine then affects all of them equally.
 *
 *     npm run bench:overhead -- [--rounds 5] [--seconds 5] [--connections 50] [--workers 2×CPU+1]
 *       [--rates 20000,4000]  (requests per second, keep-alive and with a connection per request) [--quick]
 */

const os = require('node:os')
const path = require('node:path')
const { load } = require('./support/load')
const { oncePerRound, openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage, rssOf } = require('./support/usage')

const app = path.join(__dirname, 'apps', 'hello.js')
const RECYCLE_EVERY_MS = '1000'

const bench = openBench({
  name: 'overhead',
  options: { seconds: '5', connections: '50', rates: '20000,4000', workers: String(2 * os.availableParallelism() + 1) },
  quick: { seconds: '0.5', connections: '10', rates: '500,200', workers: '2' }
})
const { values } = bench
const [rate, closeRate = rate] = values.rates.split(',').map(Number)
const workers = Number(values.workers)
const warmSeconds = values.quick ? 0 : 5
const fleet = (/** @type {number} */ workers, /** @type {Record<string, any>} */ more = {}) =>
  JSON.stringify({ app, workers, ...more })

const PLAIN = { plain: true }
const EVEN = 'cluster, round robin'
const SHARED = 'cluster, shared socket'
const KILLED = 'cluster, 1 killed a second'
const idle = (/** @type {number} */ workers) => ({
  [EVEN]: ['bare-cluster.js', 'rr', String(workers), app],
  [SHARED]: ['bare-cluster.js', 'none', String(workers), app],
  'recycle, idle': ['recycle.js', fleet(workers)],
  'recycle --schedule shared, idle': ['recycle.js', fleet(workers, { schedule: 'shared' })]
})
const { [EVEN]: even, [SHARED]: shared, ...recycles } = idle(workers)
const SUBJECTS = {
  [EVEN]: even,
  [SHARED]: shared,
  [KILLED]: [...shared, RECYCLE_EVERY_MS],
  ...recycles,
  'recycle, 1 a second': ['recycle.js', fleet(workers), RECYCLE_EVERY_MS]
}

const KINDS = [
  { name: 'keep-alive', keepAlive: true, rate: null },
  { name: 'a connection per request', keepAlive: false, rate: null },
  { name: `keep-alive, ${rate.toLocaleString('en-US')} requests/s`, keepAlive: true, rate },
  { name: `a connection per request, ${closeRate.toLocaleString('en-US')} requests/s`, keepAlive: false, rate: closeRate }
]

const TOGETHER = [
  { name: 'keep-alive, all at the same time', keepAlive: true, rate, workers },
  { name: 'keep-alive, all at the same time, 1 worker each', keepAlive: true, rate, workers: 1 },
  { name: 'a connection per request, all at the same time', keepAlive: false, rate: closeRate, workers }
]

bench.run({
  groups: [
    ...KINDS.map(({ name, ...kind }) => ({
      name,
      by: kind.rate ? 'p99' : 'rps',
      beside: [EVEN, SHARED],
      subjects: Object.fromEntries(Object.entries(SUBJECTS)
        .map(([name, [script, ...args]]) => [name, () => measure(script, args, kind)]))
    })),
    ...TOGETHER.map(({ name, workers, ...kind }) => {
      const subjects = workers > 1 ? idle(workers) : { ...idle(1), 'recycle --plain, idle': ['recycle.js', fleet(1, PLAIN)] }
      return { name, by: 'cpuUs', beside: [EVEN, SHARED], subjects: together(subjects, kind) }
    })
  ],
  columns: [
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2, ratio: true, less: true },
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'primaryMiB', title: 'primary MiB', digits: 1, less: true },
    { key: 'refused', title: 'not let in', total: true, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  plot: { key: 'cpuUs', title: "CPU per request beside bare cluster's better policy", ratio: true },
  goals: [
    ...KINDS.filter(({ rate }) => !rate).flatMap(({ name: group }) => [
      { group, subject: 'recycle, idle', key: 'rps', ratioAtLeast: 0.98 },
      { group, subject: 'recycle, idle', key: 'rps', ratioAtLeast: 0.98, beside: EVEN }, // the one with equal shares
      { group, subject: 'recycle, 1 a second', key: 'rps', ratioAtLeast: 0.9 },
      // The one with as many boots
      { group, subject: 'recycle, 1 a second', key: 'rps', ratioAtLeast: 0.98, beside: KILLED }
    ]),
    ...KINDS.map(({ name: group }) => ({ group, subject: 'recycle, idle', key: 'p99', ratioAtMost: 1.05 })),
    ...TOGETHER.map(({ name: group }) => ({ group, subject: 'recycle, idle', key: 'cpuUs', ratioAtMost: 1.02 })), // the inverse of 0.98 of the throughput
    { subject: 'recycle, idle', key: 'primaryMiB', above: 8 },
    { subject: 'recycle, 1 a second', key: 'dropped', atMost: 0 }
  ]
})

/** @param {string} script @param {string[]} args @param {{ keepAlive: boolean, rate: number | null }} kind */
async function measure (script, args, kind) {
  const server = await startServer(script, args)
  const how = { port: server.port, connections: Number(values.connections), ...kind }
  const usage = new Usage(server.pid)
  // In the first seconds connections are rebalanced, and code runs for the first time.
  const figures = await load({ ...how, warmSeconds, seconds: Number(values.seconds) })
  const used = usage.stop()
  const primaryMiB = rssOf(server.pid) / 1024 ** 2
  await server.stop()
  return { ...figures, cpuUs: used && used.cpuMs * 1000 / figures.requests, primaryMiB }
}

/**
 * @param {Record<string, string[]>} subjects script and arguments
 * @param {{ keepAlive: boolean, rate: number }} kind `rate`: of all of them
 * @returns {import('./support/rounds').Group['subjects']}
 */
function together (subjects, kind) {
  const measured = oncePerRound(() => measureTogether(subjects, kind))
  return Object.fromEntries(Object.keys(subjects).map(name => [name, async at => (await measured(at))[name]]))
}

/**
 * @param {Record<string, string[]>} subjects @param {{ keepAlive: boolean, rate: number }} kind
 * @returns {Promise<Record<string, any>>} by subject
 */
async function measureTogether (subjects, { keepAlive, rate }) {
  const names = Object.keys(subjects)
  const servers = await Promise.all(Object.values(subjects).map(([script, ...args]) => startServer(script, args)))
  const how = { connections: Number(values.connections), keepAlive, rate: rate / names.length }
  if (warmSeconds > 0) await Promise.all(servers.map(({ port }) => load({ ...how, port, seconds: warmSeconds })))
  const measured = await Promise.all(servers.map(async ({ pid, port }) => {
    const usage = new Usage(pid, 1000) // rarely: a reading takes CPU time from all of them
    // As long as one after the other
    const figures = await load({ ...how, port, seconds: Number(values.seconds) * names.length })
    const used = usage.stop()
    return { ...figures, cpuUs: used && used.cpuMs * 1000 / figures.requests, primaryMiB: rssOf(pid) / 1024 ** 2 }
  }))
  await Promise.all(servers.map(server => server.stop()))
  return Object.fromEntries(names.map((name, i) => [name, measured[i]]))
}
