'use strict'

/**
 * The gauges of a fleet, from status().
 *
 * @typedef {Record<string, any>} Worker as in status()
 */

const { FEATURES } = require('../../features')
/** @import { Metric } from '../../features' */

const STATES = ['spawning', 'standby', 'ready', 'out-of-rotation', 'draining']
const GC_KINDS = /** @type {const} */ ([['scavenge', 'scavenges'], ['mark_sweep', 'markSweeps']])

/** @type {readonly Metric[]} */
const GAUGES = [
  {
    name: 'workers',
    help: 'Workers by state.',
    labels: ['state'],
    values: ({ workers }) => STATES.map(state =>
      [{ state }, workers.filter((/** @type {Worker} */ worker) => worker.state === state).length])
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
  inService('resident_bytes', 'Resident set size (RSS) of the worker in service.', worker => worker.rssBytes),
  inService('anonymous_bytes', 'Resident memory of the worker in service without pages of files.',
    worker => worker.anonBytes),
  inService('proportional_bytes',
    'Proportional set size (PSS): shared pages divided among the processes that share them. As last read.',
    worker => worker.pssBytes),
  inService('unique_bytes', 'Unique set size (USS): private pages, what ending the worker would free. As last read.',
    worker => worker.ussBytes),
  inService('budget_bytes', 'Soft memory budget of the worker, jitter included.', worker => worker.budgetBytes),
  inService('event_loop_utilization_ratio', 'Share of time in which the event loop was busy, since the last beat.',
    worker => worker.elu),
  inService('event_loop_lag_seconds', 'Longest event-loop delay since the last beat.',
    worker => seconds(worker.loopLagMs)),
  ...FEATURES.flatMap(({ figures = {} }) => Object.entries(figures)).map(([key, { metric: { name, help, value } }]) =>
    inService(name, help, worker => typeof worker[key] === 'number' && value ? value(worker[key]) : worker[key])),
  ofSlot('connections', 'Open connections.', worker => worker.connections),
  ofSlot('requests_in_flight', 'Requests begun whose response is not closed.', worker => worker.inFlight),
  {
    name: 'worker_gc_longest_pause_seconds',
    help: 'Longest pause for garbage collection since the last beat.',
    labels: ['slot', 'kind'],
    values: ({ workers }) => GC_KINDS.flatMap(([kind, key]) =>
      inService('', '', ({ gc }) => seconds(gc?.[key]?.longestMs)).values({ workers })
        .map(([labels, value]) => /** @type {[any, number]} */ ([{ ...labels, kind }, value])))
  }
]

/** @param {string} name @param {string} help @param {(status: Record<string, any>) => number} of @returns {Metric} */
function gauge (name, help, of) {
  return { name, help, labels: [], values: status => [[{}, of(status)]] }
}

/**
 * @param {string} name @param {string} help @param {string} label
 * @param {(memory: Record<string, any>) => Record<string, number>} of by that label @returns {Metric}
 */
function ofMemory (name, help, label, of) {
  const values = (/** @type {Record<string, any>} */ { memory }) => Object.entries(memory ? of(memory) : {})
    .map(([key, value]) => /** @type {[any, number]} */ ([{ [label]: key }, value]))
  return { name, help, labels: [label], values }
}

/** @typedef {(worker: Worker) => number | null | undefined} Of */

/** Of the worker that serves a slot. @param {string} name @param {string} help @param {Of} of @returns {Metric} */
function inService (name, help, of) {
  return ofSlot(name, help, of, workers => [...inServiceBySlot(workers).values()])
}

/**
 * The sum over all workers in a slot, those that are leaving among them, or over some.
 *
 * @param {string} name @param {string} help @param {Of} of
 * @param {(workers: Worker[]) => Worker[]} [some] @returns {Metric}
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

/**
 * @param {Worker[]} workers @returns {Map<number, Worker>} the ready worker of each slot, else any other in the slot
 */
function inServiceBySlot (workers) {
  /** @type {Map<number, Worker>} */
  const found = new Map()
  for (const worker of workers.filter(isInSlot)) {
    const other = found.get(worker.slot)
    if (!other || (other.state !== 'ready' && worker.state === 'ready')) found.set(worker.slot, worker)
  }
  return found
}

/** A standby has no slot. @param {Worker} worker */
function isInSlot ({ slot }) {
  return typeof slot === 'number'
}

/** @param {number | null | undefined} ms */
function seconds (ms) {
  return typeof ms === 'number' ? ms / 1000 : null
}

/**
 * @param {Record<string, any>[]} workers as in status()
 * @returns {number} the sum of the event-loop utilisations of those in service
 */
function busyWorkers (workers) {
  return workers.filter(({ state }) => state === 'ready').reduce((sum, { elu }) => sum + (elu ?? 0), 0)
}

module.exports = { GAUGES, GC_KINDS, isInSlot, seconds, busyWorkers }
