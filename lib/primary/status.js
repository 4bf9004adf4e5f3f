'use strict'

const { budgetFor } = require('../core/container-budget')
const { fromNames, pick } = require('../core/fields')
const { FEATURES } = require('../features')
const { OF_FEATURES } = require('../tables/figures')
const { now } = require('./clock')
/** @import { Options } from '../tables/options' */
/** @import { OfWorker, Sampled } from '../features' */
/** @import { RecyclesOfSlot } from './recycling/recycler' */
/** @import { WorkerHandle } from './workers/worker-handle' */

const NAMES = /** @type {(keyof Sampled)[]} */ (OF_FEATURES.map(({ name }) => name))

/**
 * @param {import('./parts').Parts} parts
 * @param {string | null} notReaped why this process, as PID 1, cannot collect the exits of orphans
 * @param {string | null} unwritten why the journal cannot be written
 * @returns what the fleet and every worker is doing: plain data, sizes in bytes, times in milliseconds
 */
function describeFleet (parts, notReaped, unwritten) {
  const { fleet, options, recycler: { totals: { slots, recycles } }, ledger: { loads, totals } } = parts
  return {
    app: parts.spawner.app,
    listening: parts.listeningSockets.urls(),
    workers: fleet.all().map(handle => {
      const ofSlot = slots[handle.slot ?? -1] ?? { recycles: 0, lastReason: null }
      return describe(handle, ofSlot, options, loads.resting.has(handle))
    }),
    totals: { workers: fleet.numbers.length, ready: fleet.serving().length, recycles, ...totals },
    budgets: { maxRssBytes: budgetFor(options, fleet.desired).maxRssBytes, jitter: options.jitter },
    crashing: parts.crashWatch.describe(),
    uneven: fleet.unevenAddresses(),
    reloadStopped: fleet.rollout.stopped,
    memory: parts.memoryWatch.latest,
    freshOverBudget: parts.sampler.freshOverBudget,
    notReaped,
    journal: unwritten === null ? null : { file: String(options.journal), why: unwritten },
    adopted: parts.adoption.latest,
    orphans: parts.adoption.left,
    ...parts.features.describe()
  }
}

/** @param {WorkerHandle} handle @param {RecyclesOfSlot} ofSlot @param {Options} options @param {boolean} rests */
function describe (handle, ofSlot, options, rests) {
  const { slot, state, upSince, budget, latest, reason, drainsUntil, out, hasClosed, sample, figures } = handle
  const { lastFull = null } = figures ?? {}
  const at = now()
  const known = structuredClone(handle.known)
  /** @type {OfWorker} */
  const ofWorker = Object.assign({}, ...FEATURES.map(({ name, ofWorker }) => ofWorker?.(known[name], options)))
  return {
    ...pick(handle, ['slot', 'pid', 'state', 'generation', 'app']),
    ageMs: slot === null || upSince === null ? 0 : at - upSince,
    rssBytes: sample?.rssBytes ?? null,
    pssBytes: lastFull?.pssBytes ?? null,
    ussBytes: lastFull?.ussBytes ?? null,
    anonBytes: sample?.anonBytes ?? null,
    budgetBytes: budget.softBytes,
    metric: budget.metric,
    drainLeftMs: drainsUntil === null ? null : Math.max(0, drainsUntil - at),
    condemned: reason,
    waitsForRoom: handle.condemnation.isWaiting && state === 'ready',
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
  const figures = /** @type {Sampled} */ (sample ?? {})
  return fromNames(NAMES, name => figures[name] ?? null)
}

module.exports = { describeFleet }
