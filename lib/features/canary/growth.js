'use strict'

/**
 * Whether a request of the new code keeps more memory, in the second half of the bake. What a mark-sweep leaves is no
 * garbage: where the old workers have had enough of them, the growth from one to the next is compared. Else that from
 * scavenge to scavenge is, and two mark-sweeps of the new code must show half of it: a scavenge also leaves garbage
 * that has become old. By growths, because errors of levels add up. Caches of new workers fill: so it must not grow
 * much slower than in the first half.
 */

const { memorySince } = require('./counts')
const { poolSums, ratioOf, varianceOf } = require('./sums')
const { studentTail } = require('./tails')
/** @import { Memory } from './counts' */
/** @import { Sums } from './sums' */
/** @import { Window } from './verdict' */

const LEAST_SWEEPS = 3 // times from a mark-sweep to the next, of the old workers together
const LEAST_COLLECTIONS = 8 // of one worker, in the second half: 7 times a growth
const LEAST_BYTES = 256 // a request
const LEAST_KEPT = 1024 ** 2
const STEADY = 0.85 // of the growth in the first half

/** @param {readonly Window[]} fresh @param {readonly Window[]} old @returns {import('./figures').Finding} */
function findGrowth (fresh, old) {
  const [ours, others] = [fresh, old].map(windows => windows.map(secondHalf))
  const [swept, sweptOld] = [ours, others].map(memories => poolSums(memories.map(({ sweeps }) => sweeps)))
  if (!(swept.n > 0)) return { chance: 1, why: 'known after two mark-sweeps of a worker of the new code alone' }
  const isSwept = sweptOld.groups >= LEAST_SWEEPS && sweptOld.n > 0
  const each = others.filter(({ ramps }) => ramps.groups >= LEAST_COLLECTIONS - 1).map(({ ramps }) => ramps)
  const ramps = poolSums(ours.map(({ ramps }) => ramps))
  if (!isSwept && (each.length === 0 || ramps.groups < LEAST_COLLECTIONS - 1)) return { chance: 1, why: `known after ${LEAST_COLLECTIONS} collections of a worker of each code alone` }
  const kept = ratioOf(swept) - (sweptOld.n > 0 ? ratioOf(sweptOld) : 0)
  const isSlowing = (/** @type {'sweeps' | 'ramps'} */ key, /** @type {Sums} */ now) => {
    const before = poolSums(fresh.map(({ half, memory }) => (half ?? memory)[key]))
    return before.n > 0 ? ratioOf(now) < STEADY * ratioOf(before) : null
  }
  return {
    chance: isSwept ? sweepTail(swept, sweptOld) : Math.max(...each.map(other => rampTail(ramps, other))),
    why: kept < LEAST_BYTES || swept.k < LEAST_KEPT ||
      (!isSwept && kept < (ratioOf(ramps) - Math.max(...each.map(ratioOf))) / 2)
      ? `not ${LEAST_BYTES} bytes a request and 1 MiB more after mark-sweeps`
      : isSlowing('sweeps', swept) ?? isSlowing('ramps', ramps) ?? false ? 'growing more slowly than before, as caches do' : null
  }
}

/** @param {Window} window */
function secondHalf ({ memory, half }) {
  return half ? memorySince(memory, half) : memory
}

/**
 * Memory that the new code has kept, beside how much the growths of the old workers differ.
 *
 * @param {Sums} ours @param {Sums} others
 */
function sweepTail (ours, others) {
  const more = ours.k - (ratioOf(others) + LEAST_BYTES) * ours.n
  const square = varianceOf(others) * others.n ** 2 / others.groups
  const error = Math.sqrt(square * ours.groups + varianceOf(others) * ours.n ** 2)
  return error > 0 ? studentTail(more / error, others.groups - 1) : more > 0 ? 0 : 1
}

/** @param {Sums} ours @param {Sums} other of one worker */
function rampTail (ours, other) {
  const [mine, theirs] = [ours, other].map(varianceOf)
  const freedom = (mine + theirs) ** 2 / (mine ** 2 / (ours.groups - 1) + theirs ** 2 / (other.groups - 1))
  const more = ratioOf(ours) - ratioOf(other) - LEAST_BYTES
  return mine + theirs > 0 ? studentTail(more / Math.sqrt(mine + theirs), freedom) : more > 0 ? 0 : 1
}

/**
 * @param {readonly Window[]} windows
 * @returns {number | null} bytes a request, after mark-sweeps where there are two; null: not known
 */
function growthOf (windows) {
  const memories = windows.map(secondHalf)
  const swept = poolSums(memories.map(({ sweeps }) => sweeps))
  const sums = swept.n > 0 ? swept : poolSums(memories.map(({ ramps }) => ramps))
  return sums.n > 0 ? ratioOf(sums) : null
}

module.exports = { findGrowth, growthOf }
