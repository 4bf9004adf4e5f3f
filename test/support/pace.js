'use strict'

/**
 * Loaded into tap's runner: test files are started in the order in which they are named, and three at a time, or as
 * many as keep the CPUs busy, for much of what they do is wait. tap has no option for either.
 */

const { ChildProcess } = require('node:child_process')
const os = require('node:os')

const LOOK_MS = 2000
const FEWEST = 3
const MUCH = 0.08 // of the CPUs' time is idle: one file more at a time, up to .taprc's `jobs`
const LITTLE = 0.02 // one fewer

const order = new Map(process.argv.map((arg, i) => [arg, i]))
const { localeCompare } = String.prototype
// eslint-disable-next-line no-extend-native
String.prototype.localeCompare = function (other, ...how) { // by which tap sorts
  const [a, b] = [order.get(String(this)), order.get(other)]
  return a === undefined || b === undefined ? localeCompare.call(this, other, ...how) : a - b
}

/** Of all CPUs together since they were started, in ms. */
function cpuTimes () {
  const times = os.cpus().map(cpu => cpu.times)
  const sum = (/** @type {number[]} */ ...all) => all.reduce((total, ms) => total + ms, 0)
  return { idle: sum(...times.map(({ idle }) => idle)), all: sum(...times.flatMap(Object.values)) }
}

function pace () {
  const runner = require('@tapjs/core').tap()
  const most = runner.jobs
  runner.jobs = Math.min(FEWEST, most)
  let before = cpuTimes()
  setInterval(() => {
    const now = cpuTimes()
    const idle = (now.idle - before.idle) / (now.all - before.all)
    before = now
    const change = idle > MUCH ? 1 : idle < LITTLE ? -1 : 0
    runner.jobs = Math.min(Math.max(runner.pool.size + change, FEWEST), most)
    runner.pragma({}) // says nothing: it starts what there is room for
  }, LOOK_MS).unref()
}

const internals = /** @type {any} */ (ChildProcess.prototype)
const { spawn } = internals
internals.spawn = function (/** @type {{ args: string[] }} */ options) {
  if (options.args.some(arg => arg.endsWith('.test.js'))) { // the first one
    internals.spawn = spawn
    pace()
  }
  return spawn.call(this, options)
}
