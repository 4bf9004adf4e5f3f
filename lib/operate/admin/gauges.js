'use strict'

/** The gauges of a fleet, from status(). */

const { FEATURES } = require('../../features')
const { FIGURES } = require('../../tables/figures')
/** @import { Metric } from '../../features' */
/** @import { Status } from '../../primary/supervisor' */
/** @import { Worker } from '../worker-columns' */

const STATES = ['spawning', 'standby', 'ready', 'out-of-rotation', 'draining']
const GC_KINDS = /** @type {const} */ ([['scavenge', 'scavenges'], ['mark_sweep', 'markSweeps']])

/** @type {readonly Metric[]} */
const GAUGES = [
  {
    name: 'workers',
    help: 'Workers by state.',
    labels: ['state'],
    values: ({ workers }) => STATES.map(state =>
      [{ state }, workers.filter(worker => worker.state === state).length])
  },
  gauge('slots', 'Intended number of workers.', ({ totals }) => totals.workers),
  gauge('busy_workers', 'Sum of the event-loop utilisations of the workers in service.',
    ({ workers }) => busyWorkers(workers)),
  ofMemory('memory_limit_bytes', 'Memory that the fleet may use: the lowest limit of its cgroups, ' +
    'else that of the machine.', 'source',
  ({ source, limitBytes }) => ({ [source]: limitBytes })),
  ofMemory('memory_used_bytes', 'Memory used of that, without file pages that the kernel can drop at once.', 'source',
    ({ source, usedBytes }) => ({ [source]: usedBytes })),
  ofMemory('memory_pressure_ratio', 'Share of the last ten seconds in which some process, or all of them, ' +
    'waited for memory.', 'kind',
  ({ pressure }) => pressure ?? {}),
  ...FEATURES.flatMap(({ metrics = [] }) => metrics),
  ...FIGURES.flatMap(({ name, unit, metric, ofAll }) => {
    if (!metric) return []
    const of = (/** @type {Record<string, any>} */ worker) => unit === 'ms' ? seconds(worker[name]) : worker[name]
    return [ofAll ? ofSlot(...metric, of) : inService(...metric, of)]
  }),
  {
    name: 'worker_gc_longest_pause_seconds',
    help: 'Longest pause for garbage collection since the last beat.',
    labels: ['slot', 'kind'],
    values: status => GC_KINDS.flatMap(([kind, key]) =>
      inService('', '', ({ gc }) => seconds(gc?.[key]?.longestMs)).values(status)
        .map(([labels, value]) => /** @type {[Record<string, string>, number]} */ ([{ ...labels, kind }, value])))
  }
]

/** @param {string} name @param {string} help @param {(status: Status) => number} of @returns {Metric} */
function gauge (name, help, of) {
  return { name, help, labels: [], values: status => [[{}, of(status)]] }
}

/**
 * @param {string} name @param {string} help @param {string} label
 * @param {(memory: NonNullable<Status['memory']>) => Record<string, number>} of by that label @returns {Metric}
 */
function ofMemory (name, help, label, of) {
  const values = (/** @type {Status} */ { memory }) => Object.entries(memory ? of(memory) : {})
    .map(([key, value]) => /** @type {[Record<string, string>, number]} */ ([{ [label]: key }, value]))
  return { name, help, labels: [label], values }
}

/** @typedef {Worker & { slot: number }} Seated a standby has no slot */
/** @typedef {(worker: Worker) => number | null | undefined} Of */

/** Of the worker that serves a slot. @param {string} name @param {string} help @param {Of} of @returns {Metric} */
function inService (name, help, of) {
  return ofSlot(name, help, of, workers => [...inServiceBySlot(workers).values()])
}

/**
 * The sum over all workers in a slot, those that are leaving among them, or over some.
 * @param {string} name @param {string} help @param {Of} of
 * @param {(workers: Worker[]) => Seated[]} [some] @returns {Metric}
 */
function ofSlot (name, help, of, some = workers => workers.filter(isInSlot)) {
  return {
    name: `worker_${name}`,
    help,
    labels: ['slot'],
    values: ({ workers }) => some(workers).flatMap(worker => {
      const value = of(worker)
      return typeof value === 'number' ? [[{ slot: worker.slot }, value]] : []
    })
  }
}

/** @param {Worker[]} workers @returns {Map<number, Seated>} each slot's ready worker, else any other in the slot */
function inServiceBySlot (workers) {
  /** @type {Map<number, Seated>} */
  const found = new Map()
  for (const worker of workers.filter(isInSlot)) {
    const other = found.get(worker.slot)
    if (!other || (other.state !== 'ready' && worker.state === 'ready')) found.set(worker.slot, worker)
  }
  return found
}

/** @template {{ slot?: unknown }} One @param {One} worker @returns {worker is One & { slot: number }} */
function isInSlot (worker) {
  return typeof worker.slot === 'number'
}

/** @param {number | null | undefined} ms */
const seconds = ms => typeof ms === 'number' ? ms / 1000 : null

/**
 * @param {readonly Pick<Worker, 'state' | 'elu'>[]} workers
 * @returns {number} the sum of the event-loop utilisations of those in service
 */
function busyWorkers (workers) {
  return workers.filter(({ state }) => state === 'ready').reduce((sum, { elu }) => sum + (elu ?? 0), 0)
}

module.exports = { GAUGES, GC_KINDS, inServiceBySlot, isInSlot, seconds, busyWorkers }
