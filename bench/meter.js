'use strict'

/**
 * The cost of reading the memory of workers: for the primary, because its event loop is blocked meanwhile, and for the
 * worker, because the kernel locks its memory map during the walk.
 *
 *     npm run bench:meter -- [--fleets 5x50,100x50,5x150,5x1024,2x4096] [--workers-of 50,1024,4096] [--quick]
 *
 * Fleets are <workers>x<MB each>. A fleet that does not fit into three quarters of the free memory is left out, with a
 * message.
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const { setImmediate: turn, setTimeout: passed } = require('node:timers/promises')
const { ProcfsProbe, parseSmaps } = require('../lib/primary/measuring/meter/procfs')
const { sweep } = require('../lib/primary/measuring/meter/sweep')
const { UsageProbe } = require('../lib/primary/measuring/meter')
const { Hold } = require('./support/hold')
const { openBench } = require('./support/rounds')
const { median } = require('./support/statistics')
const { Target } = require('./support/target')

const GUARD = 'statm, as the guard'
const ROLLUP = 'smaps_rollup, as the product'
const REST_MS = 10

/** @typedef {{ read: () => unknown, close?: () => void }} Reader of one process */

/** The budget sets when a probe reads smaps_rollup: once, if it is far away, or always. */
const FAR = /** @type {any} */ ({ metric: 'rss', softBytes: 1e13 })
const ALWAYS = /** @type {any} */ ({ metric: 'rss', softBytes: 1 })

/** @type {Record<string, (pid: number) => Reader>} */
const READERS = {
  'nothing (the measurement itself)': () => ({ read () {} }),
  'awk over smaps, blocking': pid => ({ read: () => execFileSync('awk', ['/^Rss:/ { kib += $2 } END { print kib }', `/proc/${pid}/smaps`]) }),
  'smaps, blocking': pid => ({ read: () => parseSmaps(fs.readFileSync(`/proc/${pid}/smaps`, 'latin1')) }),
  'smaps_rollup, blocking': pid => ({ read: () => parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) }),
  [ROLLUP]: pid => probing(new ProcfsProbe(pid, 'smaps_rollup', { budget: ALWAYS })),
  [GUARD]: pid => probing(new ProcfsProbe(pid, 'smaps_rollup', { budget: FAR })),
  pidusage: pid => probing(new UsageProbe(pid))
}

const bench = openBench({
  name: 'meter',
  options: { fleets: { default: '5x50,100x50,5x150,5x1024,2x4096', like: /^[1-9]\d*x[1-9]\d*$/ }, 'workers-of': '50,1024,4096' },
  quick: { fleets: '2x50', 'workers-of': '50' }
})
const { values } = bench
const seconds = values.quick ? 0.2 : 2
const fleets = values.fleets.split(',').map((/** @type {string} */ fleet) => fleet.split('x').map(Number)).filter(fits)
const sizes = values['workers-of'].split(',').map(Number).filter((/** @type {number} */ size) => fits([1, size]))

/** @type {Target[]} */
let targets = []
process.once('exit', () => targets.forEach(target => target.kill()))

bench.run({
  groups: [...fleets.map(fleetGroup), ...sizes.map(workerGroup)],
  columns: [
    { key: 'us', title: 'µs per worker', digits: 1, ratio: true, less: true },
    { key: 'holdMs', title: 'loop held ms', digits: 2 },
    { key: 'longestMs', title: 'at the longest', digits: 2, worst: true },
    { key: 'faultP50', title: '16 page faults µs', digits: 1 },
    { key: 'faultP99', title: 'p99', digits: 1 },
    { key: 'faultMax', title: 'max', digits: 0 },
    { key: 'mapP50', title: 'mmap µs', digits: 1 },
    { key: 'mapP99', title: 'p99', digits: 1 },
    { key: 'mapMax', title: 'max', digits: 0 },
    { key: 'readings', title: 'readings', brief: true }
  ],
  plot: { key: 'us', title: 'Reading one worker, beside the guard', ratio: true, groups: 'MB$' },
  goals: [
    { subject: GUARD, key: 'us', atMost: 3 },
    { subject: GUARD, key: 'longestMs', atMost: 1 },
    { subject: ROLLUP, key: 'longestMs', atMost: 1 }
  ]
}).then(() => process.exit())

/** The cost for the primary. @param {number[]} fleet */
function fleetGroup ([workers, megabytes]) {
  return {
    name: `${workers} workers of ${megabytes} MB`,
    prepare: () => replaceTargets(Array.from({ length: workers }, () => new Target(megabytes))),
    subjects: Object.fromEntries(Object.entries(READERS).map(([name, reader]) => [name, () => poll(reader)])),
    beside: [GUARD]
  }
}

/** The cost for the worker. @param {number} megabytes */
function workerGroup (megabytes) {
  const subjects = Object.entries(READERS).filter(([name]) => !['smaps_rollup, blocking', 'pidusage'].includes(name))
  return {
    name: `a worker of ${megabytes} MB that takes fresh memory, read without a pause`,
    prepare: () => replaceTargets([]),
    subjects: Object.fromEntries(subjects.map(([name, reader]) => [name, () => disturb(reader, megabytes)]))
  }
}

/**
 * Polls as the primary does: every worker, 32 in a turn of the loop, then a rest, so that no poll has the caches of the
 * last one. First the polls are timed, then the loop's turns.
 *
 * @param {(pid: number) => Reader} open
 */
async function poll (open) {
  const readers = targets.map(target => open(target.pid))
  const pollAll = () => sweep(readers, async reader => { await reader.read() })
  await pollAll()
  const times = await again(seconds / 2, async () => {
    await passed(REST_MS)
    const began = performance.now()
    await pollAll()
    return 1000 * (performance.now() - began) / readers.length
  })
  const holds = await again(seconds / 2, async () => {
    await passed(REST_MS)
    const hold = new Hold()
    await pollAll()
    await turn()
    return hold.end()
  })
  readers.forEach(reader => reader.close?.())
  return {
    us: median(times), holdMs: median(holds), longestMs: Math.max(...holds), readings: times.length * readers.length
  }
}

/**
 * @param {number} seconds
 * @param {() => Promise<number>} measure
 * @returns {Promise<number[]>} 5 or more
 */
async function again (seconds, measure) {
  const figures = []
  for (const end = performance.now() + seconds * 1000; figures.length < 5 || performance.now() < end;) {
    figures.push(await measure())
  }
  return figures
}

/** @param {(pid: number) => Reader} open @param {number} megabytes */
async function disturb (open, megabytes) {
  const target = new Target(megabytes, seconds)
  await replaceTargets([target])
  const reader = open(target.pid)
  const at = { work: true }
  const figures = target.work().finally(() => { at.work = false })
  let readings = 0
  while (at.work) {
    await reader.read()
    await turn()
    readings++
  }
  const { fault, map } = await figures
  reader.close?.()
  await replaceTargets([])
  return {
    faultP50: fault.p50,
    faultP99: fault.p99,
    faultMax: fault.max,
    mapP50: map.p50,
    mapP99: map.p99,
    mapMax: map.max,
    readings
  }
}

/** @param {{ read: (now: number) => Promise<unknown>, close: () => void }} probe @returns {Reader} */
function probing (probe) {
  const now = Date.now() // a fixed time, so that no reading for the record is due
  return { read: () => probe.read(now), close: () => probe.close() }
}

/** @param {Target[]} others */
async function replaceTargets (others) {
  const before = targets
  targets = [...before, ...others] // an exit meanwhile ends all of them
  before.forEach(target => target.kill())
  await Promise.all(before.map(target => target.gone))
  targets = others
  await Promise.all(targets.map(target => target.ready()))
}

/** @param {number[]} fleet */
function fits ([workers, megabytes]) {
  const availableBytes = 1024 * Number(/MemAvailable:\s+(\d+)/.exec(fs.readFileSync('/proc/meminfo', 'latin1'))?.[1] ?? os.freemem() / 1024)
  const isFitting = workers * megabytes * 1e6 < 0.75 * availableBytes
  if (!isFitting) console.log(`left out: ${workers} × ${megabytes} MB; ${Math.round(availableBytes / 1e6)} MB are free`)
  return isFitting
}
