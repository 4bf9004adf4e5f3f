'use strict'

const { pick } = require('../core/fields')
const { FEATURES } = require('../features')
const { OF_FEATURES } = require('../tables/figures')
/** @import { Options } from '../tables/options' */
/** @import { OfWorker, Sampled } from '../features' */
/** @import { Figures } from './measuring/figures' */
/** @import { RecyclesOfSlot } from './recycling/recycler' */
/** @import { WorkerFacts, WorkerHandle } from './workers/worker-handle' */

/**
 * @param {import('./workers/fleet').Fleet} fleet @param {WeakMap<WorkerHandle, Figures>} figures
 * @param {Options} options @param {ReadonlySet<WorkerHandle>} resting
 * @param {Record<number, RecyclesOfSlot>} recycles of each slot
 * @returns what every worker is doing: plain data, sizes in bytes, times in milliseconds
 */
function describeFleet (fleet, figures, options, resting, recycles) {
  const workers = fleet.all().map(handle => {
    const ofSlot = recycles[handle.slot ?? -1] ?? { recycles: 0, lastReason: null }
    return describe(handle.facts(), ofSlot, figures.get(handle) ?? null, options, resting.has(handle))
  })
  return { workers, ready: fleet.serving().length }
}

/**
 * @param {WorkerFacts} facts @param {RecyclesOfSlot} ofSlot
 * @param {Figures | null} figures @param {Options} options @param {boolean} rests
 */
function describe (facts, ofSlot, figures, options, rests) {
  const { slot, state, at, upSince, budget, latest, known, reason, isWaiting, drainsUntil, out, hasClosed } = facts
  const { sample = null, lastFull = null } = figures ?? {}
  const crossesAt = figures?.crossesAt(budget.softBytes) ?? null
  /** @type {OfWorker} */
  const ofWorker = Object.assign({}, ...FEATURES.map(({ name, ofWorker }) => ofWorker?.(known[name], options)))
  return {
    ...pick(facts, ['slot', 'pid', 'state', 'generation', 'app']),
    ageMs: slot === null || upSince === null ? 0 : at - upSince,
    rssBytes: sample?.rssBytes ?? null,
    pssBytes: lastFull?.pssBytes ?? null,
    ussBytes: lastFull?.ussBytes ?? null,
    anonBytes: sample?.anonBytes ?? null,
    budgetBytes: budget.softBytes,
    metric: budget.metric,
    crossesInMs: crossesAt === null ? null : Math.max(0, crossesAt - at),
    drainLeftMs: drainsUntil === null ? null : Math.max(0, drainsUntil - at),
    condemned: reason,
    waitsForRoom: isWaiting && state === 'ready',
    rests,
    paused: state === 'ready' ? out?.why ?? (hasClosed ? 'its app has closed its servers' : null) : null,
    cpuPercent: figures?.cpu.percent ?? null,
    ...pick(latest, ['elu', 'gc', 'loopLagMs']),
    ...ofFeatures(sample),
    ...ofWorker,
    ...pick(latest, ['connections', 'streams', 'inFlight', 'requests']),
    ...ofSlot
  }
}

/** @param {import('../core/sample').Sample | null} sample @returns {Required<Sampled>} null where a feature is off */
function ofFeatures (sample) {
  const figures = /** @type {Record<string, unknown>} */ (sample ?? {})
  return /** @type {any} */ (Object.fromEntries(OF_FEATURES.map(({ name }) => [name, figures[name] ?? null])))
}

module.exports = { describeFleet }
