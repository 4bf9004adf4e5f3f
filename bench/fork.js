'use strict'

/**
 * Workers that are forked from a process that has loaded the app (`--fork mold`), beside workers that each boot by
 * themselves: the first byte of a replacement, throughput with a worker replaced every second, memory of a fleet that
 * holds a large table, and the experiment that began this project, with what it lacked.
 *
 *     npm run bench:fork -- [--rounds 5] [--seconds 10] [--connections 50] [--workers 2×CPU+1] [--requests 100000] [--quick]
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { autocannon } = require('./support/autocannon')
const { timeFirstBytes } = require('./support/first-byte')
const { load } = require('./support/load')
const { openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage, pidsOf } = require('./support/usage')

const RECYCLE_EVERY_MS = '1000'
const MOLD = { fork: 'mold', warm: 2000 }
const APP = (/** @type {string} */ name) => path.join(__dirname, 'apps', `${name}.js`)

const bench = openBench({
  name: 'fork',
  options: { seconds: '10', connections: '50', workers: String(2 * os.availableParallelism() + 1), recycles: '5', requests: '100000' },
  quick: { seconds: '0.5', connections: '10', workers: '2', recycles: '1', requests: '300' }
})
const { values } = bench
const workers = Number(values.workers)
const warmSeconds = values.quick ? 0 : 3

/** @type {Record<string, [Record<string, any>, string?]>} options, and how often a worker is replaced */
const FLEETS = {
  spawn: [{}],
  mold: [MOLD],
  'spawn, 1 a second': [{}, RECYCLE_EVERY_MS],
  'mold, 1 a second': [MOLD, RECYCLE_EVERY_MS]
}

/** Mark-sweeps are held off; the budget has the worker replaced before its heap is full. */
const HELD_OFF = { gc: 'no-mark-sweep', maxRss: '180MiB', interval: '200ms' }
const EXPERIMENT = {
  'default GC': {},
  'default GC, single-threaded': { nodeOption: ['--single-threaded', '--v8-pool-size=0'] }, // as the mold's workers are
  'no mark-sweep, spawn': HELD_OFF,
  'no mark-sweep, mold': { ...HELD_OFF, ...MOLD },
  'huge heap, mold': { ...HELD_OFF, gc: 'huge-heap', maxRss: '400MiB', ...MOLD }
}

bench.run({
  groups: [
    ...Object.entries({ 'first byte, an app that loads in a second': 'heavy', 'first byte, hello world': 'pid' }).map(([name, app]) => ({
      name,
      by: 'firstByteMs',
      beside: ['spawn'],
      subjects: Object.fromEntries(Object.entries({ spawn: {}, mold: MOLD })
        .map(([subject, options]) => [subject, () => timeFirstBytes(APP(app), options, Number(values.recycles))]))
    })),
    {
      name: 'throughput, hello world',
      by: 'rps',
      beside: ['spawn'],
      subjects: Object.fromEntries(Object.entries(FLEETS)
        .map(([subject, [options, every]]) => [subject, () => throughput(options, every)]))
    },
    {
      name: 'memory, a table of 200 MB',
      by: 'bootMiB',
      beside: ['spawn'],
      subjects: Object.fromEntries(Object.entries({ spawn: {}, mold: MOLD })
        .map(([subject, options]) => [subject, () => memory(options)]))
    },
    {
      name: 'the experiment, 6,000 Buffers a request',
      by: 'rps',
      beside: ['default GC'],
      subjects: Object.fromEntries(Object.entries(EXPERIMENT)
        .map(([subject, options]) => [subject, () => experiment(options)]))
    }
  ],
  columns: [
    { key: 'firstByteMs', title: 'verdict → first byte, ms', digits: 1, ratio: true, less: true },
    { key: 'longestMs', title: 'longest, ms', digits: 1, less: true },
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2, ratio: true, less: true },
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'bootMiB', title: 'ΣPSS at boot, MiB', ratio: true, less: true },
    { key: 'afterMiB', title: 'ΣPSS after the requests, MiB', ratio: true, less: true },
    { key: 'recycles', title: 'recycles', digits: 0 },
    { key: 'cut', title: 'cut', total: true, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: [
    { subject: 'mold', key: 'firstByteMs', atMost: 30 },
    { group: 'first byte, an app that loads in a second', subject: 'mold', key: 'firstByteMs', ratioAtMost: 0.1 },
    { group: 'throughput, hello world', subject: 'mold', key: 'rps', ratioAtLeast: 0.97 },
    { group: 'throughput, hello world', subject: 'mold, 1 a second', key: 'rps', ratioAtLeast: 0.95, beside: 'mold' },
    { group: 'throughput, hello world', subject: 'mold, 1 a second', key: 'p99', ratioAtMost: 1.2, beside: 'mold' },
    { group: 'memory, a table of 200 MB', subject: 'mold', key: 'bootMiB', ratioAtMost: 0.35 },
    { key: 'dropped', atMost: 0 }
  ],
  plot: { key: 'rps', title: 'Throughput with a worker replaced every second', ratio: true, groups: 'throughput' }
})

/** @param {Record<string, any>} options @param {string} [every] ms */
async function throughput (options, every) {
  const server = await startServer('recycle.js', [JSON.stringify({ app: APP('hello'), workers, ...options }), ...every ? [every] : []])
  const usage = new Usage(server.pid)
  const figures = await load({
    port: server.port, connections: Number(values.connections), warmSeconds, seconds: Number(values.seconds)
  })
  const used = usage.stop()
  await server.stop()
  return { ...figures, cpuUs: used && used.cpuMs * 1000 / figures.requests }
}

/** @param {Record<string, any>} options */
async function memory (options) {
  const server = await startServer('recycle.js', [JSON.stringify({ app: APP('table'), workers, ...options })])
  const bootMiB = pssOf(server.pid)
  const { dropped, rps } =
    await load({ port: server.port, connections: Number(values.connections), requests: Number(values.requests) })
  const afterMiB = pssOf(server.pid)
  await server.stop()
  return { bootMiB, afterMiB, dropped, rps }
}

/**
 * autocannon ignores `Connection: close`, so it cannot count drops: the supervisor counts what it cut.
 *
 * @param {Record<string, any>} options
 */
async function experiment (options) {
  const journal = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-fork-')), 'journal.ndjson')
  const server = await startServer('recycle.js', [JSON.stringify({ app: APP('garbage'), workers, journal, ...options })])
  const how = { port: server.port, connections: Number(values.connections) }
  await load({ ...how, seconds: values.quick ? 0.2 : 3 })
  const { requests, rps, p50, p99 } =
    await autocannon({ ...how, rate: null, seconds: 120, requests: Math.round(Number(values.requests) / 2) })
  await server.stop()
  const recycled = fs.readFileSync(journal, 'utf8').trim().split('\n').map(line => JSON.parse(line)).filter(({ event }) => event === 'recycled')
  fs.rmSync(path.dirname(journal), { recursive: true })
  return {
    requests,
    rps,
    p50,
    p99,
    recycles: recycled.length,
    cut: recycled.reduce((sum, { cut, unaccounted }) => sum + cut + unaccounted, 0)
  }
}

/** Shared pages are counted once. @param {number} pid of the primary @returns {number} MiB of its mold and workers */
function pssOf (pid) {
  return pidsOf(pid).slice(1).reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]), 0) / 1024
}
