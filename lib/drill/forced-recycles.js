'use strict'

/** The recycles of a drill: one slot after the other, at an interval. */

const { setTimeout: sleep } = require('node:timers/promises')

/**
 * @typedef {object} Recyclable a fleet
 * @property {() => any} status of the supervisor, or a promise of it
 * @property {(slot: number) => Promise<unknown>} recycle
 */

/**
 * Recycles at an interval, or as soon as the last recycle ends if it takes longer. A recycle that fails (the replacement is not ready,
 * the fleet stops) is skipped: the journal records it.
 *
 * @param {Recyclable} fleet
 * @param {number} everyMs
 * @param {AbortSignal} signal ends it
 */
async function forceRecycles (fleet, everyMs, signal) {
  let nextAt = performance.now() + everyMs
  /** @type {number | null} */
  let slot = null
  for (;;) {
    await sleep(Math.max(1, nextAt - performance.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    nextAt = Math.max(nextAt + everyMs, performance.now())
    try {
      slot = nextSlot((await fleet.status()).workers, slot)
      if (slot !== null) await fleet.recycle(slot)
    } catch {}
  }
}

/**
 * The slots of a fleet that sizes itself need not be 0, 1, 2 and so on.
 *
 * @param {readonly { slot: number | null, state: string }[]} workers as in status()
 * @param {number | null} last the slot before; null: none
 * @returns {number | null} the next slot whose worker serves; null: there is none
 */
function nextSlot (workers, last) {
  const slots = workers.filter(({ state }) => state === 'ready').map(({ slot }) => slot).filter(slot => slot !== null).sort((a, b) => a - b)
  return slots.find(slot => slot > (last ?? -1)) ?? slots[0] ?? null
}

module.exports = { forceRecycles, nextSlot }
