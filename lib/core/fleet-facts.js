'use strict'

/**
 * The plan's input: the facts of a fleet, what is desired of it, and what the two say together. Pure.
 *
 * @typedef {object} WorkerFacts
 * @property {import('./state').State} state @property {number} generation
 * @property {string | null} reason why it is condemned
 * @property {number} bytes its size by the last sample
 * @property {boolean} isSampled it has been sampled since it was ready
 * @property {number} condemnedAt
 * @property {'relief' | 'before-recycle' | 'under way' | null} task what it does out of rotation: in place of its
 *   recycle, if that is enough, or before it
 * @property {boolean} isOverHard over the hard budget: its recycle waits for no other worker's task, and for none
 *   before it
 * @property {boolean} canWait its recycle waits where the memory has no room for a replacement
 * @property {boolean} isWaiting that has been said
 *
 * @typedef {object} SlotFacts
 * @property {number} slot @property {WorkerFacts | null} incumbent
 * @property {boolean} isLeaving a former worker of the slot drains, or one that did not become ready is not gone yet
 * @property {'surge' | 'drain-first' | null} recycle the one under way
 * @property {boolean} isReplaced by that recycle its worker has been replaced, and drains
 * @property {boolean} isNew no worker of it has been ready since it was opened
 * @property {number} bootNotBefore
 * @property {number} unservedNotBefore the same, while no worker serves
 * @property {number} recycleNotBefore
 *
 * @typedef {object} Facts
 * @property {SlotFacts[]} slots by number
 * @property {WorkerFacts[]} standbys @property {number} standbyNotBefore
 * @property {import('./memory-room').Memory | null} memory of the container; null: not known
 *
 * @typedef {object} Desired
 * @property {readonly number[]} slots their numbers, in order
 * @property {number} generation that standbys must be of
 * @property {number} standbys @property {number} maxSurge @property {number} maxUnavailable
 * @property {number} [atFirst] new slots that may have a worker until it is known how many the memory is enough for
 * @property {number} [maxBoots] new slots that may boot at a time, if that is more than the surge allows
 */

const { startsThatFit } = require('./memory-room')

/** @param {WorkerFacts | null} worker */
const isServing = worker => worker?.state === 'ready'

/**
 * @param {Pick<WorkerFacts, 'state' | 'reason' | 'generation'>} standby @param {Pick<Desired, 'generation'>} desired
 */
const isUsable = ({ state, reason, generation }, desired) =>
  state === 'standby' && reason === null && generation === desired.generation

/** The container's memory, where known, includes it. @param {WorkerFacts | null} worker */
const isSeen = worker => worker !== null && worker.state !== 'spawning' && worker.isSampled

/** @param {WorkerFacts | null} worker */
const isStarting = worker => worker?.state === 'spawning' || worker?.state === 'standby'

/**
 * Processes that start or run beside the desired workers, but for standbys that a recycle can take.
 * @param {Facts} facts @param {Desired} desired
 */
function surging ({ slots, standbys }, desired) {
  return slots
    .filter(({ recycle, isNew, incumbent }) => recycle === 'surge' || (isNew && isStarting(incumbent))).length +
    standbys.filter(standby => !isUsable(standby, desired)).length
}

/**
 * How many replacements may run beside the fleet for all that the container's memory has room for. Room is kept for
 * each desired worker whose memory has not been seen, whether it boots, is about to, or drains first; a standby runs
 * already.
 * @param {Facts} facts @param {Desired} desired @param {number} surging
 */
function fitting ({ slots, standbys, memory }, desired, surging) {
  const seen = slots.filter(({ slot, incumbent }) => desired.slots.includes(slot) && isSeen(incumbent)).length
  const booting = slots.filter(({ recycle, isReplaced }) => recycle === 'surge' && !isReplaced).length +
    standbys.filter(standby => !isSeen(standby)).length
  return surging + startsThatFit(memory, desired.slots.length - seen + booting) +
    standbys.filter(standby => isUsable(standby, desired)).length
}

module.exports = { fitting, isServing, isUsable, surging }
