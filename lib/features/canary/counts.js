'use strict'

/**
 * Counts of a worker while a deploy is judged: plain data of bounded size, changed in constant time for each request.
 *
 * @typedef {import('../../core/shape').ValueOf<ReturnType<typeof import('./kinds').countsOf>>} Counts cumulative; JSON
 * @typedef {Counts['of']} OfKinds
 * @typedef {keyof OfKinds} Kind
 * @typedef {Counts['memory']} Memory
 * @typedef {NonNullable<Memory['last']>} Point
 * @typedef {{ requests: number } & OfKinds} Connection what one connection has counted
 * @typedef {{ requests: number, busyMs: number } & OfKinds} Block what a worker has counted in one stretch of time
 */

const { addUp, fromNames } = require('../../core/fields')
const { RESPONSES } = require('./kinds')
const { addGroup, noSums, poolSums, sumsSince } = require('./sums')
const { addTime, poolTimes } = require('./times')
/** @import { Sums } from './sums' */
/** @import { Thresholds } from './times' */

/** @returns {OfKinds} */
const zeros = () => fromNames(RESPONSES, () => 0)

/** @returns {Counts} */
function newCounts () {
  return {
    requests: 0,
    connections: 0,
    squares: 0,
    of: zeros(),
    ofSquares: zeros(),
    ofProducts: zeros(),
    times: {},
    busyMs: 0,
    memory: { ramps: noSums(), sweeps: noSums(), last: null, lastSweep: null }
  }
}

/** @returns {Connection} for the caller to keep as long as the connection is there */
const newConnection = () => ({ requests: 0, ...zeros() })

/**
 * Counts a response. Without thresholds, as before the bake, none is slow. How long an unfinished one would have taken
 * is not known: neither its time nor its status counts.
 * @param {Counts} counts changed @param {Connection} connection changed
 * @param {{ status: number, ms: number, isUnfinished?: boolean, hasBody?: boolean }} response `ms`: since the request's
 *   start; `status`: 0 while it is not known
 * @param {Thresholds | null} thresholds
 */
function countResponse (counts, connection, { status, ms, isUnfinished = false, hasBody = true }, thresholds) {
  const is = {
    errors: !isUnfinished && status >= 500,
    unfinished: isUnfinished,
    refusals: !isUnfinished && status >= 400 && status < 500,
    empty: !isUnfinished && ((status >= 300 && status < 400 && status !== 304) || (status === 200 && !hasBody)),
    slowMedian: !isUnfinished && thresholds !== null && ms > thresholds.medianMs,
    slowTail: !isUnfinished && thresholds !== null && ms > thresholds.tailMs
  }
  const before = connection.requests++
  if (before === 0) counts.connections++
  counts.requests++
  counts.squares += 2 * before + 1
  for (const kind of RESPONSES) {
    const k = connection[kind]
    if (is[kind]) {
      connection[kind]++
      counts.of[kind]++
      counts.ofSquares[kind] += 2 * k + 1
      counts.ofProducts[kind] += k + before + 1
    } else {
      counts.ofProducts[kind] += k
    }
  }
  if (!isUnfinished) addTime(counts.times, ms)
}

/**
 * Notes what is alive after a collection.
 * @param {Memory} memory changed
 * @param {Point} point @param {boolean} isSweep it was a mark-sweep: what is left is no garbage
 */
function countCollection (memory, point, isSweep) {
  const { last, lastSweep } = memory
  if (!isSweep && last) addGroup(memory.ramps, point.liveBytes - last.liveBytes, point.requests - last.requests)
  if (isSweep && lastSweep) {
    addGroup(memory.sweeps, point.liveBytes - lastSweep.liveBytes, point.requests - lastSweep.requests)
  }
  memory.last = point
  if (isSweep) memory.lastSweep = point
}

/**
 * @param {Memory} later @param {Memory} earlier of the same process
 * @returns {Memory} what came between, such as in the second half of a bake
 */
function memorySince (later, earlier) {
  return { ...later, ramps: sumsSince(later.ramps, earlier.ramps), sweeps: sumsSince(later.sweeps, earlier.sweeps) }
}

/** @param {Counts} later @param {Counts} earlier of the same process @returns {Block} */
function blockBetween (later, earlier) {
  const block = { requests: later.requests - earlier.requests, busyMs: later.busyMs - earlier.busyMs, ...zeros() }
  for (const kind of RESPONSES) block[kind] = later.of[kind] - earlier.of[kind]
  return block
}

/** @param {readonly Counts[]} all such as those of a worker that crashed, and of its successor @returns {Counts} */
function poolCounts (all) {
  const pooled = newCounts()
  for (const counts of all) {
    for (const key of /** @type {const} */ (['requests', 'connections', 'squares', 'busyMs'])) {
      pooled[key] += counts[key]
    }
    for (const key of /** @type {const} */ (['of', 'ofSquares', 'ofProducts'])) addUp(pooled[key], counts[key])
  }
  pooled.times = poolTimes(all.map(({ times }) => times))
  const { last = null, lastSweep = null } = all.at(-1)?.memory ?? {}
  pooled.memory = {
    ramps: poolSums(all.map(({ memory }) => memory.ramps)),
    sweeps: poolSums(all.map(({ memory }) => memory.sweeps)),
    last,
    lastSweep
  }
  return pooled
}

/** @param {Counts} counts @param {Kind} kind @returns {Sums} by connection */
function sumsOf ({ requests, connections, squares, of, ofSquares, ofProducts }, kind) {
  return { groups: connections, n: requests, nn: squares, k: of[kind], kk: ofSquares[kind], kn: ofProducts[kind] }
}

module.exports = {
  newCounts, newConnection, countResponse, countCollection, memorySince, blockBetween, poolCounts, sumsOf
}
