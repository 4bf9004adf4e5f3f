'use strict'

/**
 * The experiment of 2017, done again: can a worker that is recycled in time do without garbage collection, and does it pay?
 * Everything runs under recycle, so that the profiles differ in their flags and budgets alone; all beside `default`.
 *
 *     npm run bench:gc -- [--apps garbage,cache] [--profiles default,huge-heap] [--workers 1,5] [--connections 4,50]
 *                         [--load saturation,rate] [--requests 100000] [--warm 3] [--rate n] [--generator raw|autocannon]
 *                         [--rounds 5] [--minutes n] [--quick]
 *
 * Profiles that are not among the defaults: new-space-1g, a new space of 1 GiB and its copy; serial-scavenge, one thread scavenges. `rate` is 60 % of what `default` does
 * at saturation, as a probe finds it before each round, unless --rate says. Groups are done in the order of connections (50 first), apps (the published
 * one first), saturation, rate: with --minutes, the last ones are left out.
 *
 * The load is raw sockets, since on a few cores a heavier client takes from the workers what it needs; --generator autocannon is a
 * second opinion at saturation. What else is in the results: minor faults and context switches per request, since they explain most of it.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { autocannon } = require('./support/autocannon')
const { temporaryFolder } = require('./support/folder')
const { readTraces, reasonsOf } = require('./support/gc-log')
const { APPS, PROFILES, ON_REQUEST, LOADS, groupName, optionsOf } = require('./support/gc-profiles')
const { load } = require('./support/load')
const { oncePerRound, openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage } = require('./support/usage')

const TRACE = ['--trace-gc', `--require=${path.join(__dirname, 'support', 'gc-trace.js')}`]
const MIB = 1024 ** 2
const SHARE = 0.6 // of saturation
const PATIENCE_S = 120 // for one measurement, however many requests it was to have

const bench = openBench({
  name: 'gc',
  options: {
    apps: { default: Object.keys(APPS).join(','), of: Object.keys(APPS) },
    profiles: { default: PROFILES.filter(name => !ON_REQUEST.includes(name)).join(','), of: PROFILES },
    workers: `1,${2 * os.availableParallelism() + 1}`,
    connections: '50,4',
    load: { default: Object.keys(LOADS).join(','), of: Object.keys(LOADS) },
    requests: '100000',
    warm: '3',
    rate: '',
    generator: { default: 'raw', of: ['raw', 'autocannon'] }
  },
  quick: { apps: 'garbage', profiles: 'default,huge-heap', workers: '1', connections: '4', requests: '300', warm: '0.2', rate: '200' },
  selects: ['apps', 'profiles', 'workers', 'connections', 'load']
})
const list = (/** @type {string} */ text) => text.split(',')
const [apps, profiles, kinds] = [bench.values.apps, bench.values.profiles, bench.values.load].map(list)
const [requests, warm] = [Number(bench.values.requests), Number(bench.values.warm)]
const { generator } = bench.values

bench.run({
  groups: list(bench.values.connections).flatMap(connections => apps.flatMap(app => kinds.flatMap(kind => list(bench.values.workers).map(workers => {
    const how = { app, workers: Number(workers), connections: Number(connections) }
    const rateOf = kind === 'rate' ? oncePerRound(() => findRate(how)) : () => null
    return {
      name: groupName({ ...how, load: kind }),
      beside: ['default'],
      subjects: Object.fromEntries(profiles.map(profile => [profile, async at => measure({ ...how, profile, rate: await rateOf(at) })]))
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
  plots: ['1 worker', '\\d+ workers'].flatMap((workers, i) => [
    { key: 'rps', title: 'Throughput beside default, saturation', ...plotOf(workers, i, LOADS.saturation) },
    { key: 'p999', title: 'p99.9 beside default, at the same rate', ...plotOf(workers, i, LOADS.rate) },
    { key: 'cpuS', title: 'CPU per request beside default, at the same rate', ...plotOf(workers, i, LOADS.rate) },
    { key: 'rssPeakMiB', title: 'Peak memory beside default, at the same rate', ...plotOf(workers, i, LOADS.rate) }
  ]),
  goals: [{ key: 'dropped', atMost: 0 }]
}).then(({ groups }) => {
  for (const group of groups) for (const line of reasonsOf(group)) console.log(`${group.name}: ${line}`)
})

/** @param {string} workers a pattern @param {number} i @param {string} load */
function plotOf (workers, i, load) {
  return { name: i === 0 ? 'one' : 'many', groups: `, ${workers}, 50 connections, ${load}`, ratio: true }
}

/** @param {{ app: string, workers: number, connections: number, profile: string, rate: number | null }} how */
async function measure ({ app, workers, connections, profile, rate }) {
  const folder = temporaryFolder()
  const journal = path.join(folder, 'journal.ndjson')
  const traces = path.join(folder, 'gc')
  fs.mkdirSync(traces)
  const options = optionsOf(profile, app)
  const server = await startFleet({ ...options, app, workers, journal, nodeOption: [...TRACE, ...options.nodeOption] }, traces)
  const how = { port: server.port, connections, rate, seconds: PATIENCE_S }
  await load({ ...how, seconds: warm }) // code that runs cold would be most of what is measured
  const from = Date.now()
  const usage = new Usage(server.pid)
  const figures = await (generator === 'autocannon' && rate === null ? autocannon : load)({ ...how, requests })
  const used = usage.stop()
  const window = { from, to: Date.now() }
  await server.stop()
  const { nodeOption, ...rest } = options
  const flags = [...Object.entries(rest).map(([name, value]) => `${name}=${value}`), ...nodeOption].join(' ')
  return { flags: flags || undefined, ...figures, rate, ...perRequest(used, figures.requests), ...readTraces(traces, window), ...recyclesIn(journal, window) }
}

/** @param {Record<string, any>} options @param {string} traces */
function startFleet ({ app, ...options }, traces) {
  const file = path.join(__dirname, 'apps', `${app}.js`)
  return startServer('recycle.js', [JSON.stringify({ interval: '200ms', ...options, app: file })], { env: { GC_TRACE_DIR: traces } })
}

/**
 * What a rate below saturation is, now: the machine is faster in one hour than in the next.
 *
 * @param {{ app: string, workers: number, connections: number }} how
 */
async function findRate ({ app, workers, connections }) {
  if (Number(bench.values.rate)) return Number(bench.values.rate)
  const server = await startServer('recycle.js', [JSON.stringify({ ...optionsOf('default', app), workers, app: path.join(__dirname, 'apps', `${app}.js`) })])
  await load({ port: server.port, connections, seconds: warm })
  const { rps } = await load({ port: server.port, connections, seconds: 3 })
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
 * What the supervisor says of the same time. A recycle counts where its verdict fell into it, or its end.
 *
 * @param {string} journal of a fleet that has stopped
 * @param {{ from: number, to: number }} window
 */
function recyclesIn (journal, { from, to }) {
  const lines = fs.readFileSync(journal, 'utf8').trim().split('\n').map(line => JSON.parse(line))
  const during = (/** @type {string} */ what) => lines.filter(({ event, t }) => event === what && t >= from && t <= to).length
  const late = new Set(lines.filter(({ event, t }) => event === 'worker.condemn' && t > to).map(({ pid }) => pid))
  const recycled = lines.filter(({ event, t, oldPid }) => event === 'recycled' && t >= from && !late.has(oldPid))
  return {
    recycles: recycled.length,
    cut: recycled.reduce((sum, { cut }) => sum + cut, 0),
    collects: during('collected'),
    crashes: during('worker.crash')
  }
}
