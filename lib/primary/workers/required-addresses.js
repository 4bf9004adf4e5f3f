'use strict'

/**
 * The addresses on which a new worker must listen to be ready: those of its predecessor, whose clients may know of one before the primary
 * does. Of these is not waited for
 *
 * - what the predecessor has opened on demand, long after it was up, unless all slots have it;
 * - what not all slots have, when one replacement after the other does not listen there: a path may have a pid in it;
 * - then, what no worker has asked for before it was up: an app may open a server with its first request. It is not waited for again.
 */

const INSISTENT = 3 // replacements that fail
const LONG_MS = 5000

/** @typedef {import('./fleet').Fleet} Fleet @typedef {import('./fleet').Slot | import('./fleet').StandbyPool} Place */

/** @param {Fleet} fleet @param {Place} place without a predecessor: what all slots have in common @returns {ReadonlySet<string>} */
function requiredAddresses (fleet, { addresses, boots }) {
  const common = new Set(fleet.commonAddresses())
  if (addresses === null || boots.failures >= INSISTENT) return common
  const isRequired = (/** @type {string} */ key) => common.has(key) || (Number(addresses.get(key)) < LONG_MS && !fleet.onDemand.has(key))
  return new Set([...addresses.keys()].filter(isRequired))
}

/** @param {Fleet} fleet @param {Place} place @param {string[]} missing where its latest replacement has not listened in time */
function noteOnDemand (fleet, { boots }, missing) {
  if (boots.failures < INSISTENT) return
  const isOnDemand = (/** @type {string} */ key) => fleet.list().every(({ addresses }) => addresses?.get(key) !== 0)
  for (const key of missing.filter(isOnDemand)) fleet.onDemand.add(key)
}

module.exports = { requiredAddresses, noteOnDemand }
