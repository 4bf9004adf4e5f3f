'use strict'

/**
 * The 2017 experiment, repeated: does a worker serve more requests if it is recycled before it collects the garbage of
 * its old space? Every profile runs under recycle, so that they differ in V8 flags and budget alone; all are compared
 * with `default`.
 *
 *     npm run bench:gc -- [--apps garbage,cache] [--profiles default,huge-heap] [--workers 1,5] [--connections 50]
 *                         [--generator autocannon] [--load saturation] [--requests 100000] [--rate n] [--quick]
 *
 * --generator: autocannon, the best known one, or raw, which counts drops, and times each request of a fixed rate from
 * when it was due. With `autocannon,raw` both measure by turns. --load rate needs raw; it is 60 % of what `default`
 * does at saturation, found before each round, unless --rate gives it. Results: gc-node<n>.json by autocannon,
 * gc-raw-node<n>.json by raw, gc-generators-node<n>.json by both.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { autocannon } = require('./support/autocannon')
const { temporaryFolder } = require('./support/folder')
const { readTraces, reasonsOf } = require('./support/gc-log')
const { APPS, PROFILES, COMPARED, LOADS, groupName, optionsOf } = require('./support/gc-profiles')
const { BadFlag } = require('./support/flags')
const { load } = require('./support/load')
const { oncePerRound, openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage } = require('./support/usage')

const TRACE = ['--trace-gc', `--require=${path.join(__dirname, 'support', 'gc-trace.js')}`]
const MIB = 1024 ** 2
const GENERATORS = ['autocannon', 'raw']
const SHARE = 0.6 // of saturation
const LONGEST_S = 120 // limit of one measurement

const bench = openBench({
  name: 'gc',
  options: {
    apps: { default: Object.keys(APPS).join(','), of: Object.keys(APPS) },
    profiles: { default: COMPARED.join(','), of: PROFILES },
    workers: `1,${2 * os.availableParallelism() + 1}`,
    connections: { default: '50', like: /^[1-9]\d*$/ },
    load: { default: 'saturation', of: Object.keys(LOADS) },
    requests: '100000',
    rate: '',
    generator: { default: 'autocannon', of: GENERATORS }
  },
  quick: { apps: 'garbage', profiles: 'default,huge-heap', workers: '1', connections: '4', requests: '300', rate: '200' },
  saveAs: ({ generator }) => generator === 'autocannon' ? 'gc' : generator === 'raw' ? 'gc-raw' : 'gc-generators'
})
const list = (/** @type {string} */ text) => text.split(',')
const [apps, profiles, kinds] = [bench.values.apps, bench.values.profiles, bench.values.load].map(list)
const requests = Number(bench.values.requests)
const warm = bench.values.quick ? 0.2 : 3 // seconds
const generators = list(bench.values.generator)
if (kinds.includes('rate') && generators.includes('autocannon')) {
  throw new BadFlag('--load rate takes --generator raw; autocannon does not time a request from when it was due')
}

bench.run({
  groups: list(bench.values.connections)
    .flatMap(connections => apps.flatMap(app => kinds.flatMap(kind => list(bench.values.workers).map(workers => {
      const how = { app, workers: Number(workers), connections: Number(connections) }
      const rateOf = kind === 'rate' ? oncePerRound(() => findRate(how)) : () => null
      return {
        name: groupName({ ...how, load: kind }),
        ...generators.length === 1 ? { beside: ['default'] } : {}, // a ratio of two generators would compare nothing
        subjects: Object.fromEntries(profiles.flatMap(profile => generators.map(generator => [
          generators.length === 1 ? profile : `${profile}, by ${generator}`,
          async at => measure({ ...how, profile, generator, rate: await rateOf(at) })
        ])))
      }
    })))),
  columns: [
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'p50', title: 'p50 ms', digits: 1, brief: true },
    { key: 'p90', title: 'p90 ms', digits: 1, brief: true },
    { key: 'p99', title: 'p99 ms', digits: 1, ratio: true, less: true },
    { key: 'p999', title: 'p99.9 ms', digits: 1, less: true, brief: true },
    { key: 'max', title: 'max ms', digits: 0, less: true, brief: true },
    { set: 'collections', key: 'scavenges', title: 'scavenges', less: true, brief: true },
    { set: 'collections', key: 'scavengeMs', title: 'ms', less: true, brief: true },
    { set: 'collections', key: 'longestScavengeMs', title: 'longest ms', digits: 1, less: true, brief: true },
    { set: 'collections', key: 'markSweeps', title: 'mark-sweeps', less: true, brief: true },
    { set: 'collections', key: 'markSweepMs', title: 'ms', less: true, brief: true },
    { set: 'collections', key: 'longestMarkSweepMs', title: 'longest ms', digits: 1, less: true, brief: true },
    { set: 'costs', key: 'rssPeakMiB', title: 'peak MiB', less: true, brief: true },
    { set: 'costs', key: 'rssMeanMiB', title: 'mean MiB', less: true, brief: true },
    { set: 'costs', key: 'cpuS', title: 'CPU s/1,000', digits: 3, ratio: true, less: true },
    { set: 'costs', key: 'faults', title: 'faults/request', digits: 1, less: true, brief: true },
    { set: 'costs', key: 'switches', title: 'switches/request', digits: 1, less: true, brief: true },
    { set: 'costs', key: 'recycles', title: 'recycles', less: true, brief: true },
    { set: 'costs', key: 'collects', title: 'collects', less: true, brief: true },
    { set: 'costs', key: 'refused', title: 'not let in', total: true, less: true },
    { set: 'costs', key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  plot: { key: 'rps', title: 'Throughput beside default, 1 worker', ratio: true, groups: `, 1 worker, 50 connections, ${LOADS.saturation}` },
  goals: [{ key: 'dropped', atMost: 0 }, { key: 'cut', atMost: 0 }],
  note: 'autocannon cannot count drops (it ignores Connection: close); its column is empty. `cut` is what the supervisor counted.'
}).then(({ groups }) => {
  for (const group of groups) for (const line of reasonsOf(group)) console.log(`${group.name}: ${line}`)
})

/**
 * @param {{ app: string, workers: number, connections: number, profile: string, generator: string, rate: number
 *   | null }} how
 */
async function measure ({ app, workers, connections, profile, generator, rate }) {
  const folder = temporaryFolder()
  const journal = path.join(folder, 'journal.ndjson')
  const traces = path.join(folder, 'gc')
  fs.mkdirSync(traces)
  const options = optionsOf(profile, app)
  const server = await startFleet(
    { ...options, app, workers, journal, nodeOption: [...TRACE, ...options.nodeOption] }, traces
  )
  const how = { port: server.port, connections, rate, seconds: LONGEST_S }
  // Otherwise code that runs for the first time would be a large part of the figures
  await load({ ...how, seconds: warm })
  const from = Date.now()
  const usage = new Usage(server.pid)
  const figures = await (generator === 'autocannon' ? autocannon : load)({ ...how, requests })
  const used = usage.stop()
  const window = { from, to: Date.now() }
  await server.stop()
  const { nodeOption, ...rest } = options
  const flags = [...Object.entries(rest).map(([name, value]) => `${name}=${value}`), ...nodeOption].join(' ')
  return {
    flags: flags || undefined,
    generator,
    ...figures,
    rate,
    ...perRequest(used, figures.requests),
    ...readTraces(traces, window),
    ...recyclesIn(journal, window)
  }
}

/** @param {Record<string, any>} options @param {string} traces */
function startFleet ({ app, ...options }, traces) {
  const file = path.join(__dirname, 'apps', `${app}.js`)
  return startServer('recycle.js', [JSON.stringify({ interval: '200ms', ...options, app: file })], { env: { GC_TRACE_DIR: traces } })
}

/**
 * A rate below saturation: measured before each round, because the speed of a machine varies over hours.
 *
 * @param {{ app: string, workers: number, connections: number }} how
 */
async function findRate ({ app, workers, connections }) {
  if (Number(bench.values.rate)) return Number(bench.values.rate)
  const server = await startServer('recycle.js', [JSON.stringify({ ...optionsOf('default', app), workers, app: path.join(__dirname, 'apps', `${app}.js`) })])
  await load({ port: server.port, connections, seconds: warm })
  const { rps } = await load({ port: server.port, connections, seconds: bench.values.quick ? 0.5 : 3 })
  await server.stop()
  return Math.round(SHARE * rps)
}

/** @param {ReturnType<Usage['stop']>} used @param {number} requests */
function perRequest (used, requests) {
  if (!used) return {}
  return {
    cpuS: used.cpuMs / requests,
    faults: used.minorFaults / requests,
    majorFaults: used.majorFaults,
    switches: used.switches / requests,
    rssPeakMiB: used.rssPeakBytes / MIB,
    rssMeanMiB: used.rssMeanBytes / MIB
  }
}

/**
 * The recycles in the journal within the window. A recycle counts if its verdict or its end is in it.
 *
 * @param {string} journal of a fleet that has stopped
 * @param {{ from: number, to: number }} window
 */
function recyclesIn (journal, { from, to }) {
  const lines = fs.readFileSync(journal, 'utf8').trim().split('\n').map(line => JSON.parse(line))
  const during = (/** @type {string} */ what) =>
    lines.filter(({ event, t }) => event === what && t >= from && t <= to).length
  const late = new Set(lines.filter(({ event, t }) => event === 'worker.condemn' && t > to).map(({ pid }) => pid))
  const recycled = lines.filter(({ event, t, oldPid }) => event === 'recycled' && t >= from && !late.has(oldPid))
  return {
    recycles: recycled.length,
    cut: recycled.reduce((sum, { cut }) => sum + cut, 0),
    collects: during('collected'),
    crashes: during('worker.crash')
  }
}
