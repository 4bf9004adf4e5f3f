'use strict'

/**
 * The addresses on which a new worker listens before it is ready: those of its predecessor, whose clients may know of
 * one before the primary does.
 *
 * - What a worker of the same generation has asked for before it was up it must listen on, where two slots show that.
 *   When one replacement after the other does not, what other slots do not have may be another one each time: a port is
 *   waited for, and a path, which may have a pid in it, no longer counts.
 * - What one slot alone had in the code before, it may have alone: no other slot waits for it.
 * - What older code has asked for, new code may leave: it is given time. So is a worker where none serves.
 * - What all workers have asked for later, they may open by themselves, or on demand, with a request. If that was
 *   within five seconds, or all slots have it, a new worker is given twice the time of the slowest.
 *
 * A worker that was given time, and does not listen by then, is ready, and that address is not waited for from here on.
 * But it must not evade it: see core/address.js.
 */

const { isOwnPath, portOf } = require('../../core/address')
/** @import { Fleet } from './fleet' */
/** @import { Place } from './slot' */

const INSISTENT = 3 // replacements that fail
const SOON_MS = 5000

/**
 * @typedef {object} Required
 * @property {ReadonlySet<string>} must
 * @property {ReadonlySet<string>} late for these it is given `lateMs`, when all else that makes it ready is met
 * @property {number} lateMs
 * @property {ReadonlySet<string>} before those of its predecessor
 */

/**
 * @param {Fleet} fleet @param {Place} place without a predecessor: what all slots have in common
 * @param {number} generation of the new worker @param {boolean} [isServed] some worker serves @returns {Required}
 */
function requiredAddresses (fleet, { slot, addresses, generation: before, pid, boots }, generation, isServed = true) {
  const peers = fleet.ofGeneration(generation)
  const [first] = peers
  const everywhere = new Set(fleet.commonAddresses())
  const common = new Set(peers.length > 0 ? fleet.commonAddresses(peers) : everywhere)
  // An address of a generation's first worker may be its alone, and is where older code had it in that slot alone
  if (peers.length === 1) for (const key of first.former?.keys() ?? []) if (!everywhere.has(key)) common.delete(key)
  const isFirst = slot !== null && fleet.list().every(other => other === first || other.addresses === null)
  const proven = peers.length > 1 ? common : isFirst ? new Set() : everywhere
  const own = [...addresses?.keys() ?? []].filter(key =>
    !isOwnPath(key, Number(pid)) && (boots.failures < INSISTENT || portOf(key) >= 0))
  const timesOf = (/** @type {string} */ key, slots = fleet.list()) =>
    slots.flatMap(slot => slot.addresses?.get(key) ?? [])
  const all = [...new Set([...common, ...own])]
  const isInsistedOn = (/** @type {string} */ key) =>
    proven.has(key) || (before === generation && boots.failures < INSISTENT)
  const must = new Set(all.filter(key => isServed && isInsistedOn(key) && timesOf(key, peers).includes(0)))
  const late = new Set(all.filter(key =>
    !must.has(key) && !fleet.onDemand.has(key) && (common.has(key) || Number(addresses?.get(key)) < SOON_MS)))
  return {
    must,
    late,
    lateMs: 2 * Math.max(SOON_MS, ...[...late].flatMap(key => timesOf(key))),
    before: new Set(addresses?.keys())
  }
}

/**
 * Of a worker that takes over where the workers of another primary listen; its code may leave some.
 * @param {Iterable<string>} addresses @returns {Required}
 */
function inheritedAddresses (addresses) {
  return { must: new Set(), late: new Set(addresses), lateMs: 2 * SOON_MS, before: new Set(addresses) }
}

module.exports = { requiredAddresses, inheritedAddresses }
