'use strict'

/**
 * @param {import('./fleet').Fleet} fleet
 * @param {number} now ms since the epoch
 * @returns what everybody is doing: plain data, sizes in bytes, times in milliseconds
 */
function describeFleet (fleet, now) {
  const workers = fleet.list().flatMap(slot => [slot.incumbent, slot.successor, ...slot.leaving]
    .filter(handle => handle !== null)
    .map(handle => describe(slot, handle, now)))
  return { workers, ready: fleet.serving().length }
}

/** @param {import('./fleet').Slot} slot @param {import('./handle').Handle} handle @param {number} now */
function describe (slot, handle, now) {
  const { pid, state, generation, readyAt, sample, latest, budget } = handle
  return {
    slot: slot.slot,
    pid,
    state,
    generation,
    ageMs: readyAt === null ? 0 : now - readyAt,
    rssBytes: sample?.rssBytes ?? null,
    pssBytes: sample?.pssBytes ?? null,
    ussBytes: sample?.ussBytes ?? null,
    budgetBytes: budget.softBytes,
    elu: latest.elu,
    connections: latest.connections,
    inFlight: latest.inFlight,
    requests: latest.requests,
    recycles: slot.recycles,
    lastReason: slot.lastReason
  }
}

module.exports = { describeFleet }
