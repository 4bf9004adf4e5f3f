'use strict'

/**
 * What it costs to read the memory of workers: the primary, whose loop is held meanwhile, and the worker, whose memory
 * map the kernel locks while it walks it.
 *
 *     npm run bench:meter -- [--fleets 5x50,100x50,5x150,5x1024,2x4096] [--workers-of 50,1024,4096] [--seconds 2] [--heap]
 *
 * Fleets are <workers>x<MB each>. What does not fit into three quarters of the memory that is free is left out, and said.
 */

const { execFile, execFileSync } = require('node:child_process')
const crypto = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const { setImmediate: turn, setTimeout: passed } = require('node:timers/promises')
const { promisify } = require('node:util')
const { inTurn } = require('../lib/primary/meter/in-turn')
const { ProcfsProbe, parseSmaps } = require('../lib/primary/meter/procfs')
const { sweep } = require('../lib/primary/meter/sweep')
const { UsageProbe } = require('../lib/primary/meter/usage')
const { Hold } = require('./support/hold')
const { compile } = require('./support/compile')
const { openBench } = require('./support/rounds')
const { median } = require('./support/statistics')
const { Target } = require('./support/target')

const GUARD = 'statm, as the guard'
const ROLLUP = 'smaps_rollup, as the product'
const HASHING = 'no reading, a thread that hashes'
const NATIVE = 'statm, by a C program'
const REST_MS = 10
const A_HASH = 2000 // iterations, some ms

const hash = promisify(crypto.pbkdf2)
const run = promisify(execFile)

/** @typedef {{ read: () => unknown, close?: () => void }} Reader of one process */

/** The budget says when a probe reads smaps_rollup: not again after the first time, as it is far away, or always. */
const FAR = /** @type {any} */ ({ metric: 'rss', softBytes: 1e13 })
const ALWAYS = /** @type {any} */ ({ metric: 'rss', softBytes: 1 })

/** @type {Record<string, (pid: number) => Reader>} */
const READERS = {
  'nothing (the measurement itself)': () => ({ read () {} }),
  [HASHING]: () => ({ read: () => inTurn(() => hash('password', 'salt', A_HASH, 64, 'sha512')) }),
  'awk over smaps, blocking': pid => ({ read: () => execFileSync('awk', ['/^Rss:/ { kib += $2 } END { print kib }', `/proc/${pid}/smaps`]) }),
  'smaps, blocking': pid => ({ read: () => parseSmaps(fs.readFileSync(`/proc/${pid}/smaps`, 'latin1')) }),
  'smaps_rollup, blocking': pid => ({ read: () => parseSmaps(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) }),
  [ROLLUP]: pid => probing(new ProcfsProbe(pid, 'smaps_rollup', ALWAYS)),
  [GUARD]: pid => probing(new ProcfsProbe(pid, 'smaps_rollup', FAR)),
  pidusage: pid => probing(new UsageProbe(pid))
}

const bench = openBench({
  name: 'meter',
  options: { fleets: { default: '5x50,100x50,5x150,5x1024,2x4096', like: /^[1-9]\d*x[1-9]\d*$/ }, 'workers-of': '50,1024,4096', seconds: '2', heap: false },
  quick: { fleets: '2x50', 'workers-of': '50', seconds: '0.2' }
})
const { values } = bench
const seconds = Number(values.seconds)
const fleets = values.fleets.split(',').map((/** @type {string} */ fleet) => fleet.split('x').map(Number)).filter(fits)
const sizes = values['workers-of'].split(',').map(Number).filter((/** @type {number} */ size) => fits([1, size]))

const native = compile('statm.c')

/** @type {Target[]} */
let targets = []
process.once('exit', () => targets.forEach(target => target.kill()))

bench.run({
  groups: [...fleets.map(fleetGroup), ...sizes.map(workerGroup)],
  columns: [
    { key: 'us', title: 'µs per worker', digits: 1, ratio: true, less: true },
    { key: 'warmUs', title: 'µs without a rest', digits: 1 },
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
  plots: [{ key: 'us', title: 'Reading one worker, beside the guard', ratio: true, groups: 'MB$' }],
  goals: [
    { subject: GUARD, key: 'us', atMost: 3 },
    { subject: GUARD, key: 'warmUs', atMost: 3 },
    { subject: GUARD, key: 'longestMs', atMost: 1 },
    { subject: ROLLUP, key: 'longestMs', atMost: 1 }
  ]
}).then(() => process.exit())

/** What the primary pays. @param {number[]} fleet */
function fleetGroup ([workers, megabytes]) {
  return {
    name: `${workers} workers of ${megabytes} MB`,
    prepare: () => replaceTargets(Array.from({ length: workers }, () => new Target(megabytes, values.heap))),
    subjects: { ...Object.fromEntries(Object.entries(READERS).map(([name, reader]) => [name, () => poll(reader)])), ...native && { [NATIVE]: () => pollNatively(native) } },
    beside: [GUARD]
  }
}

/** What the worker pays. @param {number} megabytes */
function workerGroup (megabytes) {
  const subjects = Object.entries(READERS).filter(([name]) => !['smaps_rollup, blocking', 'pidusage', HASHING].includes(name))
  return {
    name: `a worker of ${megabytes} MB that takes fresh memory, read without a pause`,
    prepare: () => replaceTargets([]),
    subjects: Object.fromEntries(subjects.map(([name, reader]) => [name, () => disturb(reader, megabytes)]))
  }
}

/**
 * Polls as the primary does, everybody (32 in a turn of the loop) and then a rest, so that no poll finds the caches warm from the last; first
 * timed, then with the loop's turns timed. And timed without the rests, as a loop around one reader would be.
 *
 * @param {(pid: number) => Reader} open
 */
async function poll (open) {
  const readers = targets.map(target => open(target.pid))
  const pollAll = () => sweep(readers, async reader => { await reader.read() })
  const us = async () => {
    const began = performance.now()
    await pollAll()
    return 1000 * (performance.now() - began) / readers.length
  }
  await pollAll()
  const cold = await again(seconds / 2, async () => {
    await passed(REST_MS)
    return us()
  })
  const holds = await again(seconds / 2, async () => {
    await passed(REST_MS)
    const hold = new Hold()
    await pollAll()
    await turn()
    return hold.end()
  })
  const warm = await again(seconds / 2, us)
  readers.forEach(reader => reader.close?.())
  return { us: median(cold), warmUs: median(warm), holdMs: median(holds), longestMs: Math.max(...holds), readings: cold.length * readers.length }
}

/** The kernel's part of the guard's cost. @param {string} program */
async function pollNatively (program) {
  const { stdout } = await run(program, [seconds / 2, REST_MS, ...targets.map(({ pid }) => pid)].map(String))
  return JSON.parse(stdout)
}

/**
 * @param {number} seconds
 * @param {() => Promise<number>} measure
 * @returns {Promise<number[]>} 5 or more
 */
async function again (seconds, measure) {
  const figures = []
  for (const end = performance.now() + seconds * 1000; figures.length < 5 || performance.now() < end;) figures.push(await measure())
  return figures
}

/** @param {(pid: number) => Reader} open @param {number} megabytes */
async function disturb (open, megabytes) {
  const target = new Target(megabytes, values.heap, seconds)
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
  return { faultP50: fault.p50, faultP99: fault.p99, faultMax: fault.max, mapP50: map.p50, mapP99: map.p99, mapMax: map.max, readings }
}

/** @param {{ read: (now: number) => Promise<unknown>, close: () => void }} probe @returns {Reader} */
function probing (probe) {
  const now = Date.now() // stands still, so that no reading for the record is due
  return { read: () => probe.read(now), close: () => probe.close() }
}

/** @param {Target[]} others */
async function replaceTargets (others) {
  const before = targets
  targets = [...before, ...others] // whoever exits now ends them all
  before.forEach(target => target.kill())
  await Promise.all(before.map(target => target.gone))
  targets = others
  await Promise.all(targets.map(target => target.ready()))
}

/** @param {number[]} fleet */
function fits ([workers, megabytes]) {
  const availableBytes = 1024 * Number(/MemAvailable:\s+(\d+)/.exec(fs.readFileSync('/proc/meminfo', 'latin1'))?.[1] ?? os.freemem() / 1024)
  const isFitting = workers * megabytes * 1e6 < 0.75 * availableBytes
  if (!isFitting) console.log(`left out: ${workers} × ${megabytes} MB; there are ${Math.round(availableBytes / 1e6)} MB to be had`)
  return isFitting
}
