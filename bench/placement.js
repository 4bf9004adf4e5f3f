'use strict'

/**
 * Which worker has which connection, and what that costs: few busy connections among many quiet ones, where all the
 * busy ones, or half of them, are of one worker at first, as those of a proxy may be; and "hello world" as fast as
 * possible, where nothing is to be gained. Compared are recycle with both schedules, bare cluster with both policies,
 * and another version of recycle.
 *
 *     npm run bench:placement -- [--rounds 5] [--seconds 10] [--workers 5] [--quiet 200] [--busy 4] [--rate 600] [--cost 2] [--connections 50] [--beside <folder>] [--quick]
 *
 * --rate: requests a second of the busy connections together; --cost: ms of CPU of each; --connections: of "hello
 * world"; --beside: the folder of another version.
 */

const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { load } = require('./support/load')
const { openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { skewedLoad } = require('./support/skewed-load')
const { Usage } = require('./support/usage')

const apps = path.join(__dirname, 'apps')
const WARM_SECONDS = 15 // until the load of short requests is gathered

const bench = openBench({
  name: 'placement',
  options: { seconds: '10', workers: '5', quiet: '200', busy: '4', rate: '600', cost: '2', connections: '50', beside: { default: '' } },
  quick: { seconds: '1', workers: '2', quiet: '10', busy: '2', rate: '40', connections: '4' }
})
const { values } = bench
const [seconds, workers, quiet, busy, rate] =
  [values.seconds, values.workers, values.quiet, values.busy, values.rate].map(Number)
const warmSeconds = values.quick ? 1 : WARM_SECONDS

const OURS = 'recycle'
const SHARED = 'recycle --schedule shared'
const ROUND_ROBIN = 'cluster, round robin'
const QUEUE = 'cluster, shared socket'
const BEFORE = 'recycle, the other version'
const OTHERS = [SHARED, ROUND_ROBIN, QUEUE, ...values.beside ? [BEFORE] : []]

/** Script and arguments. @param {string} app @returns {Record<string, string[]>} */
const subjectsOf = app => ({
  [OURS]: ['recycle.js', JSON.stringify({ app, workers })],
  [SHARED]: ['recycle.js', JSON.stringify({ app, workers, schedule: 'shared' })],
  [ROUND_ROBIN]: ['bare-cluster.js', 'rr', values.workers, app],
  [QUEUE]: ['bare-cluster.js', 'none', values.workers, app],
  ...values.beside && { [BEFORE]: [path.resolve(values.beside, 'bench', 'support', 'recycle.js'), JSON.stringify({ app, workers })] }
})

const SKEWS = { 'the busy connections of one worker': busy, 'half of them of one worker': Math.ceil(busy / 2) }
/** By name, whether connections stay open. */
const HELLO = { 'hello world, keep-alive': true, 'hello world, a connection per request': false }

bench.run({
  groups: [
    ...Object.entries(SKEWS).map(([name, together]) => ({
      name,
      by: 'p99',
      beside: OTHERS,
      subjects: Object.fromEntries(Object.entries(subjectsOf(path.join(apps, 'spin.js'))).map(([subject, call]) => [subject, () => measure(call, port => skewedLoad({ port, quiet, busy, together, rate, path: `/${values.cost}`, warmSeconds, seconds }))]))
    })),
    ...Object.entries(HELLO).map(([name, keepAlive]) => ({
      name,
      by: 'rps',
      beside: OTHERS,
      subjects: Object.fromEntries(Object.entries(subjectsOf(path.join(apps, 'hello.js'))).map(([subject, call]) => [subject, () => measure(call, port => load({ port, connections: Number(values.connections), keepAlive, warmSeconds, seconds }))]))
    }))
  ],
  columns: [
    { key: 'p99', title: 'p99 ms', digits: 1, ratio: true, less: true },
    { key: 'p50', title: 'p50 ms', digits: 1, less: true },
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: [
    ...Object.keys(SKEWS).map(group => ({ group, subject: OURS, key: 'p99', ratioAtMost: 0.5 })),
    ...Object.keys(HELLO).flatMap(group => [{ group, subject: OURS, key: 'rps', ratioAtLeast: 0.98 }, { group, subject: OURS, key: 'cpuUs', ratioAtMost: 1.05 }]),
    { subject: OURS, key: 'dropped', atMost: 0 }
  ]
})

/** @param {string[]} call script and arguments @param {(port: number) => Promise<{ rps: number }>} run */
async function measure ([script, ...args], run) {
  const server = await startServer(script, args)
  const warm = sleep(1000 * warmSeconds).then(() => new Usage(server.pid))
  const figures = await run(server.port)
  const used = (await warm).stop()
  await server.stop()
  return { ...figures, cpuUs: used && used.cpuMs * 1000 / (figures.rps * seconds) }
}
