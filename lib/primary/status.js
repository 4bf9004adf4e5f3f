'use strict'

/** @typedef {import('./workers/worker-handle').WorkerHandle} WorkerHandle @typedef {import('./measuring/figures').Figures} Figures */

/**
 * @param {import('./workers/fleet').Fleet} fleet
 * @param {(handle: WorkerHandle) => Figures | null} figuresOf
 * @param {number} now ms, by clock.js
 * @returns what every worker is doing: plain data, sizes in bytes, times in milliseconds
 */
function describeFleet (fleet, figuresOf, now) {
  const workers = fleet.list().flatMap(slot => [slot.incumbent, slot.successor, ...slot.leaving]
    .filter(handle => handle !== null)
    .map(handle => describe(slot, handle, figuresOf(handle), now)))
  for (const handle of fleet.standbyPool.handles) workers.push(describe(null, handle, figuresOf(handle), now))
  return { workers, ready: fleet.serving().length }
}

/** @param {import('./workers/fleet').Slot | null} slot null: a standby @param {WorkerHandle} handle @param {Figures | null} figures @param {number} now */
function describe (slot, handle, figures, now) {
  const { pid, state, generation, readyAt, latest, budget } = handle
  const { sample = null, lastFull = null } = figures ?? {}
  const crossesAt = figures?.crossesAt(budget.softBytes) ?? null
  return {
    slot: handle.slot,
    pid,
    state,
    generation,
    ageMs: readyAt === null ? 0 : now - readyAt,
    rssBytes: sample?.rssBytes ?? null,
    pssBytes: lastFull?.pssBytes ?? null,
    ussBytes: lastFull?.ussBytes ?? null,
    budgetBytes: budget.softBytes,
    crossesInMs: crossesAt === null ? null : Math.max(0, crossesAt - now),
    cpuPercent: figures?.cpu.percent ?? null,
    elu: latest.elu,
    gc: latest.gc,
    loopLagMs: latest.loopLagMs,
    connections: latest.connections,
    inFlight: latest.inFlight,
    requests: latest.requests,
    recycles: slot?.recycles ?? 0,
    lastReason: slot?.lastReason ?? null
  }
}

module.exports = { describeFleet }
