'use strict'

/**
 * A fleet under a given load, second by second, without processes: which workers serve, what a rule decides by what it
 * sees, and what the clients have of it.
 */

const fs = require('node:fs')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { decide, pushLoad, NO_HISTORY } = require('../../lib/features/elastic/decide')

const TARGET = 0.8

/**
 * @typedef {(look: import('../../lib/features/elastic/decide').Load) => number | null} Rule what there are to be; null:
 *   as many as there are
 *
 * @typedef {object} Outcome
 * @property {number} changes of the number
 * @property {number} overTarget seconds in which the workers that served were busy for more than 0.8 of the time
 * @property {number} saturated seconds in which there was more to do than they had time for
 * @property {number} most workers
 * @property {number} mean workers
 */

/**
 * @param {number[]} load one number a second: how many workers it keeps busy
 * @param {Rule} rule
 * @param {{ workers: number, bootMs: number, fitting?: number | null, noise?: () => number }} how `noise`: added to
 *   what is seen of the load
 * @returns {Outcome}
 */
function run (load, rule, { workers, bootMs, fitting = null, noise = () => 0 }) {
  /** When each worker serves. */
  let upAt = Array.from({ length: workers }, () => 0)
  const outcome = { changes: 0, overTarget: 0, saturated: 0, most: workers, mean: 0 }
  load.forEach((demand, second) => {
    const atMs = 1000 * second
    const serving = upAt.filter(at => at <= atMs).length
    if (demand > TARGET * serving) outcome.overTarget++
    if (demand >= serving) outcome.saturated++
    const busy = Math.max(0, Math.min(serving, demand + noise()))
    const to = rule({
      atMs,
      workers: upAt.length,
      serving,
      busy: Math.round(1000 * busy) / 1000,
      requestsPerSecond: Math.round(100 * busy),
      bootMs,
      fitting
    })
    outcome.mean += upAt.length / load.length
    if (to === null || to === upAt.length) return
    outcome.changes++
    while (upAt.length < to) upAt.push(atMs + bootMs)
    upAt = upAt.slice(0, to)
    outcome.most = Math.max(outcome.most, to)
  })
  return outcome
}

/** This project's. @param {{ min: number, max: number }} bounds @returns {Rule} */
function recycles (bounds) {
  let history = NO_HISTORY
  return look => {
    history = pushLoad(history, look)
    const decision = decide(history, bounds)
    return decision && decision.reason !== 'no-room' ? decision.workers : null
  }
}

/**
 * That of Watt 3.67 (@platformatic/runtime, worker-scaler.js and scaling-algorithm.js), by its defaults: one more where
 * the mean of 10 s is above 0.8, one fewer where the mean of a minute is below 0.2, looked at once a minute; 20 s
 * between two changes; a worker's first 30 s do not count.
 *
 * @param {{ min: number, max: number }} bounds
 * @returns {Rule}
 */
function watts ({ min, max }) {
  /** @type {{ atMs: number, elu: number }[]} */
  let seen = []
  /** When each worker began. @type {number[]} */
  let began = []
  let changedAt = -Infinity
  let lookedAt = 0
  return ({ atMs, workers, serving, busy }) => {
    while (began.length < serving) began.push(atMs)
    began = began.slice(0, serving)
    const known = began.filter(at => atMs >= at + 30_000).length
    if (known === 0) return null
    const elu = busy / serving
    seen = [...seen.filter(look => look.atMs > atMs - 60_000), { atMs, elu }]
    const isLookedAt = elu > 0.8 || atMs - lookedAt >= 60_000
    if (atMs - lookedAt >= 60_000) lookedAt = atMs
    if (!isLookedAt || atMs < changedAt + 20_000) return null
    const mean = (/** @type {number} */ ms) => {
      const looks = seen.filter(look => look.atMs > atMs - ms)
      return looks.reduce((sum, look) => sum + look.elu, 0) / looks.length
    }
    const to = mean(60_000) < 0.2 ? workers - 1 : mean(10_000) > 0.8 ? workers + 1 : workers
    if (to === workers || to < min || to > max) return null
    changedAt = atMs
    return to
  }
}

/**
 * The load of a real fleet, whose journal is in test/fixtures: of each second, how many workers were busy.
 *
 * @param {string} name
 */
function recorded (name) {
  const text = gunzipSync(fs.readFileSync(path.join(__dirname, '..', 'fixtures', 'journals', `${name}.ndjson.gz`))).toString()
  /** @type {Map<number, Map<number, number>>} */
  const seconds = new Map()
  for (const line of text.trim().split('\n').map(line => JSON.parse(line))) {
    if (line.event !== 'worker.sample') continue
    const second = Math.floor(line.t / 1000)
    seconds.set(second, (seconds.get(second) ?? new Map()).set(line.slot, line.elu))
  }
  return [...seconds.values()].map(busy => [...busy.values()].reduce((sum, elu) => sum + elu, 0))
}

/** Noise as in a real fleet, the same in each run: ±0.75 of a worker. */
function noise () {
  let seed = 1
  const random = () => {
    seed = seed * 16807 % 2147483647
    return seed / 2147483647
  }
  return () => (random() + random() + random() - 1.5) / 2
}

const NOISY = recorded('noisy')
const HOUR = Array.from({ length: 3600 }, (_, second) => second)

/** An hour each: how many workers are kept busy. @type {Record<string, number[]>} */
const LOADS = {
  step: HOUR.map(second => second < 600 || second >= 2400 ? 0.5 : 5),
  ramp: HOUR.map(second => 0.5 + 5.5 * Math.min(second, 3600 - second) / 1800),
  sawtooth: HOUR.map(second => 0.5 + 4.5 * (second % 300) / 300),
  'short sawtooth': HOUR.map(second => 1 + 3 * (second % 40) / 40),
  spikes: HOUR.map(second => second % 600 >= 300 && second % 600 < 302 ? 6 : 1),
  diurnal: HOUR.map(second => 3 - 2.5 * Math.cos(2 * Math.PI * second / 3600)), // a day in an hour
  recorded: HOUR.map(second => 2 * NOISY[second % NOISY.length])
}

const BOUNDS = { min: 1, max: 9 }

/** The rows of the table in bench/results/FIGURES.md. @returns {string[]} */
function table () {
  return [1000, 20_000].flatMap(bootMs => Object.entries(LOADS).map(([name, load]) => {
    const [own, other] = [recycles(BOUNDS), watts(BOUNDS)].map(rule => run(load, rule, { workers: 1, bootMs, noise: name === 'recorded' ? undefined : noise() }))
    const pair = (/** @type {(outcome: Outcome) => string | number} */ of) => `${of(own)} | ${of(other)}`
    return `| ${name} | ${bootMs / 1000} s | ${pair(({ changes }) => changes)} | ${pair(({ overTarget }) => overTarget)} | ${pair(({ mean }) => mean.toFixed(1))} |`
  }))
}

module.exports = { run, recycles, watts, noise, table, LOADS, BOUNDS }
