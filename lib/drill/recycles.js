'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

/**
 * Recycles slot after slot, one every so often, or as soon as the last one is done where that takes longer. A slot that
 * cannot be recycled (its replacement does not get ready, the fleet stops) is passed over: the journal has it.
 *
 * @param {{ size: number, recycle: (slot: number) => Promise<unknown> }} supervisor
 * @param {number} everyMs
 * @param {AbortSignal} signal ends it
 */
async function forceRecycles (supervisor, everyMs, signal) {
  let nextAt = performance.now() + everyMs
  for (let i = 0; ; i++) {
    await sleep(Math.max(1, nextAt - performance.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    nextAt = Math.max(nextAt + everyMs, performance.now())
    await supervisor.recycle(i % supervisor.size).catch(() => {})
  }
}

module.exports = { forceRecycles }
