'use strict'

/**
 * The addresses on which a new worker listens before it is ready: those of its predecessor, whose clients may know of one before the
 * primary does.
 *
 * - What a worker has asked for before it was up it must listen on. When one replacement after the other does not, only what all slots
 *   have counts: a path may have a pid in it.
 * - What all workers have asked for later, they may open by themselves, or on demand, with a request. If that was within five seconds, or
 *   all slots have it, a new worker is given twice the time of the slowest. Without it by then, it is ready, and such an address is on
 *   demand from here on.
 */

const INSISTENT = 3 // replacements that fail
const SOON_MS = 5000

/**
 * @typedef {import('./fleet').Fleet} Fleet @typedef {import('./fleet').Slot | import('./fleet').StandbyPool} Place
 *
 * @typedef {object} Required
 * @property {ReadonlySet<string>} must
 * @property {ReadonlySet<string>} late for these it is given `lateMs`, when all else that makes it ready is met
 * @property {number} lateMs
 */

/** Of a worker that needs to listen nowhere. @type {Required} */
const NONE = { must: new Set(), late: new Set(), lateMs: 0 }

/** @param {Fleet} fleet @param {Place} place without a predecessor: what all slots have in common @returns {Required} */
function requiredAddresses (fleet, { addresses, boots }) {
  const common = new Set(fleet.commonAddresses())
  const own = addresses === null || boots.failures >= INSISTENT ? [] : addresses.keys()
  const timesOf = (/** @type {string} */ key) => fleet.list().flatMap(slot => slot.addresses?.get(key) ?? [])
  const all = [...new Set([...common, ...own])]
  const must = new Set(all.filter(key => timesOf(key).includes(0)))
  const late = new Set(all.filter(key => !must.has(key) && (common.has(key) || (Number(addresses?.get(key)) < SOON_MS && !fleet.onDemand.has(key)))))
  return { must, late, lateMs: 2 * Math.max(SOON_MS, ...[...late].flatMap(timesOf)) }
}

module.exports = { requiredAddresses, NONE }
