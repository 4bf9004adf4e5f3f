'use strict'

/** The metrics of each worker, by slot. @typedef {Record<string, any>} Worker as in status() */

const { FEATURES } = require('../../features')

const GC_KINDS = /** @type {const} */ ([['scavenge', 'scavenges'], ['mark_sweep', 'markSweeps']])

/**
 * Metrics of the worker that serves a slot.
 *
 * @type {[name: string, help: string, value: (worker: Worker) => number | null | undefined][]}
 */
const OF_WORKER = [
  ['resident_bytes', 'Resident set size (RSS) of the worker in service.', worker => worker.rssBytes],
  ['anonymous_bytes', 'Resident memory of the worker in service without pages of files.', worker => worker.anonBytes],
  ['proportional_bytes', 'Proportional set size (PSS): shared pages divided among the processes that share them. As last read.', worker => worker.pssBytes],
  ['unique_bytes', 'Unique set size (USS): private pages, what ending the worker would free. As last read.', worker => worker.ussBytes],
  ['budget_bytes', 'Soft memory budget of the worker, jitter included.', worker => worker.budgetBytes],
  ['event_loop_utilization_ratio', 'Share of time in which the event loop was busy, since the last beat.', worker => worker.elu],
  ['event_loop_lag_seconds', 'Longest event-loop delay since the last beat.', worker => seconds(worker.loopLagMs)],
  ...FEATURES.flatMap(({ figures = {} }) => Object.entries(figures)).map(ofFigure)
]

/**
 * Metrics of all workers in a slot, including those that are leaving.
 *
 * @type {[name: string, help: string, value: (worker: Worker) => number][]}
 */
const OF_SLOT = [
  ['connections', 'Open connections.', worker => worker.connections],
  ['requests_in_flight', 'Requests begun whose response is not closed.', worker => worker.inFlight]
]

/** @param {[name: string, figure: import('../../features').Figure]} entry @returns {typeof OF_WORKER[number]} */
function ofFigure ([name, { metric }]) {
  const { value = figure => figure } = metric
  return [metric.name, metric.help, worker => typeof worker[name] === 'number' ? value(worker[name]) : null]
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

module.exports = { OF_WORKER, OF_SLOT, GC_KINDS, inServiceBySlot, isInSlot, seconds, busyWorkers }
