'use strict'

const { setTimeout: sleep } = require('node:timers/promises')

/**
 * Recycles one slot after the other, at an interval, or as soon as the last recycle ends if it takes longer. A recycle that
 * fails (the replacement is not ready, the fleet stops) is skipped: the journal records it.
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
