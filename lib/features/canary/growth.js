'use strict'

/**
 * Whether a request of the new code keeps more memory. By the growth from collection to collection, because errors of levels add up, and of the second half of the
 * bake. Two things look like a leak and are none. After a scavenge garbage is left that has become old: so mark-sweeps must show half of what is found, unless there
 * are enough of them to go by them alone. And caches of new workers fill: so it must not grow much slower than in the first half.
 *
 * @typedef {import('./sums').Sums} Sums
 * @typedef {import('./counts').Memory} Memory
 * @typedef {import('./verdict').Window} Window
 */

const { memorySince } = require('./counts')
const { poolSums, ratioOf, varianceOf } = require('./sums')
const { studentTail } = require('./tails')

const LEAST_COLLECTIONS = 8 // in the second half, of one worker: 7 times a growth
const LEAST_BYTES = 256 // a request
const LEAST_KEPT = 1024 ** 2
const STEADY = 0.8 // of the growth in the first half

/** @param {readonly Window[]} fresh @param {readonly Window[]} old @returns {import('./figures').Finding} */
function findGrowth (fresh, old) {
  const [ours, others] = [fresh, old].map(windows => windows.map(secondHalf))
  const isKnown = (/** @type {'sweeps' | 'ramps'} */ key) => (/** @type {Memory} */ memory) => memory[key].groups >= LEAST_COLLECTIONS - 1
  const key = /** @type {const} */ (['sweeps', 'ramps']).find(key => ours.some(isKnown(key)) && others.some(isKnown(key)))
  if (!key) return { chance: 1, why: `known after too few collections; ${LEAST_COLLECTIONS} are needed in a worker of each code` }
  const own = poolSums(ours.map(memory => memory[key]))
  const each = others.filter(isKnown(key)).map(memory => memory[key])
  const chance = Math.max(...each.map(other => tailOf(own, other)))
  const more = ratioOf(own) - Math.max(...each.map(ratioOf))
  const before = poolSums(fresh.map(({ half, memory }) => (half ?? memory)[key]))
  const [swept, sweptOld] = [ours, others].map(memories => poolSums(memories.map(({ sweeps }) => sweeps)))
  const why = !(more > LEAST_BYTES)
    ? `not ${LEAST_BYTES} bytes more`
    : !(swept.n > 0)
        ? 'what may be garbage: the new code has had fewer than two mark-sweeps'
        : swept.k < LEAST_KEPT || ratioOf(swept) - (sweptOld.n > 0 ? ratioOf(sweptOld) : 0) < Math.max(LEAST_BYTES, more / 2)
          ? `garbage: mark-sweeps do not leave ${LEAST_BYTES} bytes more a request, and 1 MiB`
          : ratioOf(own) < STEADY * ratioOf(before) ? 'growing more slowly than before, as caches do' : null
  return { chance, why }
}

/** @param {Window} window */
function secondHalf ({ memory, half }) {
  return half ? memorySince(memory, half) : memory
}

/** @param {Sums} ours @param {Sums} other */
function tailOf (ours, other) {
  const [mine, theirs] = [ours, other].map(varianceOf)
  const freedom = (mine + theirs) ** 2 / (mine ** 2 / (ours.groups - 1) + theirs ** 2 / (other.groups - 1))
  const more = ratioOf(ours) - ratioOf(other) - LEAST_BYTES
  return mine + theirs > 0 ? studentTail(more / Math.sqrt(mine + theirs), freedom) : more > 0 ? 0 : 1
}

/** @param {readonly Window[]} windows @returns {number | null} bytes a request, after mark-sweeps where there are two; null: not known */
function growthOf (windows) {
  const memories = windows.map(secondHalf)
  const swept = poolSums(memories.map(({ sweeps }) => sweeps))
  const sums = swept.n > 0 ? swept : poolSums(memories.map(({ ramps }) => ramps))
  return sums.n > 0 ? ratioOf(sums) : null
}

module.exports = { findGrowth, growthOf }
