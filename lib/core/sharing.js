'use strict'

/**
 * Which connections go from one worker to another while all serve. First by load: a worker whose event loop is busier
 * than most gives away connections that make the difference, the busiest first. Then by number: one with more
 * connections than most gives away those that do the least. A connection's load is the part of its worker's event loop
 * that its requests have taken, 0 to 1.
 *
 * Where the load is gathered (gathering.js), some workers rest: they give away all that makes load, and get none.
 *
 * Nothing moves for a small difference, and where one connection makes all the load, the other ones leave. What has
 * moved is not measured yet at the next decision, so the caller leaves a second between two.
 *
 * Connections whose protocol is the app's (WebSockets) go as well, some by each decision: for the app each of them is a
 * new one, and may ask a database.
 */

const NOTICEABLE = 0.1 // of an event loop: a smaller difference makes no request late
// A connection that makes more of the difference to the least busy worker stays: its move would only move the
// difference
const OF_GAP = 0.6
const ENOUGH = 0.9 // of a load that is to go: no more connections for the rest
const AWAKE = 0.005 // a worker with less rests
const LIGHT = 0.0001 // a connection below that makes no load
const UNEVEN = 1.15 // times the mean number
const BESIDE = 0.05 // load that goes with connections which leave for their number
const MOST_BUSY = 256 // connections that one worker gives by one decision
const MOST_IDLE = 1000
const MOST_STREAMS = 10 // of the app's own protocol
const STEP = 0.05 // of an event loop: workers that differ by less are told apart by their connections

/**
 * @typedef {object} Share of one worker
 * @property {number} busy of its event loop, 0 to 1
 * @property {number} movable of that, by connections that can move
 * @property {number} lasting connections that have been open for a second: short ones even out by themselves, and to
 *   search thousands of them would slow every response
 * @property {boolean} [isResting] others do its load
 *
 * @typedef {object} Gift to the other workers
 * @property {number} load of connections that go for what they do
 * @property {number} most load that one of them may have
 * @property {number} count of connections in all
 * @property {number} [streams] how many of them may be of the app's own protocol
 */

/**
 * Every worker above the mean gives at the same time: giving by the first alone would take a round for each worker.
 * Those that rest give all that makes load. Numbers are even among these, and among the others.
 * @param {readonly Share[]} shares of all workers that serve and answer @returns {Gift[]} one for each
 */
function giftsOf (shares) {
  const [awake, resting] = [false, true].map(isResting =>
    shares.filter(share => (share.isResting ?? false) === isResting))
  const mean = shares.reduce((sum, { busy }) => sum + busy, 0) / awake.length
  const least = Math.min(...awake.map(({ busy }) => busy))
  const counts = new Map([awake, resting].flatMap(group =>
    spread(group.map(({ lasting }) => lasting)).map((count, i) => [group[i], count])))
  return shares.map(share => {
    const { busy, movable, isResting } = share
    const count = Math.min(MOST_IDLE, counts.get(share) ?? 0)
    const load = isResting ? movable : busy > mean + NOTICEABLE ? Math.min(busy - mean, movable) : 0
    if (load < (isResting ? AWAKE : LIGHT)) return { load: 0, most: 0, count }
    return { load, most: isResting ? load : OF_GAP * (busy - least), count }
  })
}

/** @param {Gift} gift */
const isGift = ({ load, count }) => load > 0 || count > 0

/**
 * How many of its connections each worker should give to its siblings.
 * @param {readonly number[]} counts @returns {number[]} one for each worker; all 0: the workers are even enough
 */
function spread (counts) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const most = Math.max(...counts)
  if (most <= Math.max(mean + 1, mean * UNEVEN)) return forIdle(counts, mean)
  return counts.map(count => Math.max(0, Math.floor(count - mean)))
}

/**
 * A worker without any connection does nothing, however even the others are: each gets up to the mean, from the
 * fullest.
 * @param {readonly number[]} counts @param {number} mean @returns {number[]}
 */
function forIdle (counts, mean) {
  const share = Math.max(1, Math.floor(mean))
  const gifts = counts.map(() => 0)
  for (let wanted = share * counts.filter(count => count === 0).length; wanted > 0; wanted--) {
    const left = counts.map((count, i) => count - gifts[i])
    const fullest = left.indexOf(Math.max(...left))
    if (left[fullest] <= share) break
    gifts[fullest]++
  }
  return gifts
}

/**
 * The connections that make a gift.
 * @template {{ load: number, isForeign?: boolean }} T `isForeign`: its protocol is the app's
 * @param {readonly T[]} connections that can move, the oldest first
 * @param {Gift} gift @returns {Map<T, boolean>} whether it goes for its load
 */
function choose (connections, { load, most, count, streams = 0 }) {
  /** @type {Map<T, boolean>} */
  const chosen = new Map()
  let streamsLeft = streams
  const mayGo = (/** @type {T} */ { isForeign = false }) => !isForeign || streamsLeft > 0
  const add = (/** @type {T} */ connection, /** @type {boolean} */ byLoad) => {
    if (connection.isForeign) streamsLeft--
    chosen.set(connection, byLoad)
  }
  const byLoad =
    load > 0 ? connections.filter(connection => connection.load >= LIGHT).sort((a, b) => b.load - a.load) : []
  let given = 0
  const take = (/** @type {T} */ connection) => {
    add(connection, true)
    given += connection.load
  }
  for (const connection of byLoad) {
    if (given >= ENOUGH * load || chosen.size === MOST_BUSY) break
    if (mayGo(connection) && given + connection.load <= load && connection.load <= most) take(connection)
  }
  // Nothing else makes half of it: the least of those that make more.
  const isAbove = (/** @type {T} */ connection) => connection.load > load && mayGo(connection)
  const above = given < load / 2 ? byLoad.findLast(isAbove) : undefined
  if (above && given + above.load <= most) take(above)
  if (chosen.size >= count) return chosen
  let beside = 0
  for (const connection of [...connections].sort((a, b) => a.load - b.load)) {
    if (chosen.size >= count || (beside > 0 && beside + connection.load > BESIDE)) break
    if (chosen.has(connection) || !mayGo(connection)) continue
    add(connection, false)
    beside += connection.load
  }
  return chosen
}

/**
 * Which worker gets a connection: the least connected; where it makes load, the least busy of those that do not rest.
 * @template {{ busy: number, connections: number, isResting?: boolean }} T
 * @param {readonly T[]} workers at least one; the first of equals is chosen @param {number} load of the connection
 * @returns {T}
 */
function receiverOf (workers, load) {
  const stepsOf = (/** @type {T} */ { busy }) => load < LIGHT ? 0 : Math.floor(busy / STEP)
  const awake = load < LIGHT ? [] : workers.filter(({ isResting }) => !isResting)
  return (awake.length > 0 ? awake : workers).reduce((least, one) =>
    (stepsOf(one) - stepsOf(least) || one.connections - least.connections) < 0 ? one : least)
}

module.exports = { LIGHT, MOST_STREAMS, giftsOf, isGift, choose, receiverOf }
