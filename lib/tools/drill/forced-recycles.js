'use strict'

/** The recycles of a drill, and its kills, at an interval: of workers one slot after the other. */

const { setTimeout: sleep } = require('node:timers/promises')

const REPLACED_WITHIN_MS = 30_000
const LOOK_MS = 50

/**
 * @typedef {object} Recyclable a fleet
 * @property {() => any} status of the supervisor, or a promise of it
 * @property {(slot: number) => Promise<unknown>} recycle
 * @property {(pid: number) => unknown} [kill] one of its workers; without it, they are children of this process
 */

/**
 * Recycles at an interval, or as soon as the last recycle ends if it takes longer. A recycle that fails (the
 * replacement is not ready, the fleet stops) is skipped: the journal records it.
 * @param {Recyclable} fleet @param {number} everyMs @param {AbortSignal} signal ends it
 */
function forceRecycles (fleet, everyMs, signal) {
  return eachSlot(fleet, everyMs, signal, ({ slot }) => fleet.recycle(slot))
}

/**
 * Kills a worker at an interval. The fleet is told nothing. In the end those that were killed are replaced: a stop that
 * follows is to find a whole fleet, else what clients lose depends on how many milliseconds lie between the two.
 * @param {Recyclable} fleet @param {number} everyMs @param {AbortSignal} signal ends it @param {() => void} killed
 */
async function forceKills (fleet, everyMs, signal, killed) {
  /** Whose death the fleet may not have noticed yet. @type {Set<number>} */
  const dead = new Set()
  await eachSlot(fleet, everyMs, signal, ({ pid }) => {
    dead.add(pid)
    if (fleet.kill) fleet.kill(pid)
    else process.kill(pid, 'SIGKILL')
    killed()
  }, dead)
  for (const until = performance.now() + REPLACED_WITHIN_MS; performance.now() < until; await sleep(LOOK_MS)) {
    const status = await Promise.resolve(fleet.status()).catch(() => null)
    if (status === null) return // the fleet is gone
    const { workers, totals } = status
    const isNoticed = !workers.some((/** @type {Serving} */ { pid }) => dead.has(pid))
    if (isNoticed && totals.ready >= totals.workers) return
  }
}

/**
 * Kills the primary at an interval, or as soon as the next one has replaced the workers of the last.
 * @param {import('./restarted-fleet').RestartedFleet} fleet @param {number} everyMs @param {AbortSignal} signal
 * @param {(tookMs: number) => void} adopted
 */
async function forcePrimaryKills (fleet, everyMs, signal, adopted) {
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    adopted(await fleet.killPrimary())
  }
}

/**
 * @param {Recyclable} fleet @param {number} everyMs @param {AbortSignal} signal
 * @param {(worker: Serving) => unknown} act @param {ReadonlySet<number>} [except] pids
 */
async function eachSlot (fleet, everyMs, signal, act, except = new Set()) {
  let nextAt = performance.now() + everyMs
  /** @type {number | null} */
  let last = null
  for (;;) {
    await sleep(Math.max(1, nextAt - performance.now()), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    nextAt = Math.max(nextAt + everyMs, performance.now())
    try {
      const { workers } = await fleet.status()
      const worker = nextWorker(workers.filter((/** @type {Serving} */ { pid }) => !except.has(pid)), last)
      if (worker === null || signal.aborted) continue
      last = worker.slot
      await act(worker)
    } catch {}
  }
}

/** @typedef {{ slot: number, pid: number, state: string }} Serving as in status() */

/**
 * The slots of a fleet that sizes itself need not be 0, 1, 2 and so on.
 * @param {readonly (Omit<Serving, 'slot'> & { slot: number | null })[]} workers
 * @param {number | null} last the slot before; null: none
 * @returns {Serving | null} that of the next slot whose worker serves; null: there is none
 */
function nextWorker (workers, last) {
  const serving = /** @type {Serving[]} */ (workers.filter(({ slot, state }) => state === 'ready' && slot !== null))
  serving.sort((a, b) => a.slot - b.slot)
  return serving.find(({ slot }) => slot > (last ?? -1)) ?? serving[0] ?? null
}

module.exports = { forceRecycles, forceKills, forcePrimaryKills, nextWorker }
