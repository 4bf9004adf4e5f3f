'use strict'

/**
 * The figures of a worker: one row a figure, by the name that it has in a beat, in a sample and in status(). The
 * heartbeat's shape, samples, limits, budgets, status(), the tables of workers and `/metrics` read it; features add
 * theirs, and the limits of these.
 *
 * @typedef {'bytes' | 'ms' | 'percent' | 'share' | 'count' | 'total'} Unit `total`: a count since the worker's start
 *
 * @typedef {object} Column its titles in the tables of workers; without one it is not there
 * @property {string} [status] @property {string} [top] @property {string} [page]
 * @property {number} [dispensable] as in lib/operate/worker-columns.js
 *
 * @typedef {Pick<import('../features').Figure, 'unit'> & Partial<import('../features').Figure> & { name: string,
 *   ofAll?: true, column?: Column, isOn?: import('../features').Feature['isOn'] }} Figure `ofAll`: the metric adds up
 *   all workers in a slot, those that are leaving among them; `isOn`: of a feature
 */

const { FEATURES } = require('../features')
const { GC, NO_DELAYS } = require('../core/gc-pauses')
const { count, duration, flag, orNull, ratio } = require('../core/shape')
/** @import { Shape } from '../core/shape' */

/** Fields of each heartbeat. */
const OF_BEAT = {
  requests: field(count, 0), // begun since the start
  inFlight: field(count, 0),
  connections: field(count, 0), // with those in the inbox
  lasting: field(count, 0), // how many of them have lasted for a second, or come from a sibling
  streams: field(count, 0), // how many last as long as the app wants: upgraded, raw, or streams of events
  elu: field(ratio, 0), // event-loop utilisation since the last beat
  cpuUs: field(count, 0), // CPU time of all its threads since its start
  movable: field(ratio, 0), // of the utilisation, by the requests of connections that can move
  gc: field(GC, NO_DELAYS.gc),
  loopLagMs: field(duration, NO_DELAYS.loopLagMs),
  inspectorPort: field(orNull(count), /** @type {number | null} */ (null)), // an inspector is open there
  flexible: field(flag, true), // each of its connections can move to a sibling, and it has room for more
  ceiling: field(orNull(count), /** @type {number | null} */ (null)) // what it has descriptors for; null: not known
}
/** The latest heartbeat of a worker that has sent none yet. */
const NO_BEAT = /** @type {{ [Name in keyof typeof OF_BEAT]: (typeof OF_BEAT)[Name]['none'] }} */ (
  Object.fromEntries(Object.entries(OF_BEAT).map(([name, { none }]) => [name, none])))

/** @type {readonly Figure[]} */
const OF_FEATURES = FEATURES.flatMap(({ figures = {}, isOn }) =>
  Object.entries(figures).map(([name, figure]) => ({ name, ...figure, isOn })))

/** In the order in which they are shown. @type {readonly Figure[]} */
const FIGURES = [
  bytes('rssBytes', 'resident_bytes', 'Resident set size (RSS) of the worker in service.'),
  bytes('anonBytes', 'anonymous_bytes', 'Resident memory of the worker in service without pages of files.'),
  bytes('pssBytes', 'proportional_bytes', 'Proportional set size (PSS): shared pages divided among the processes ' +
    'that share them. As last read.', { status: 'PSS', page: 'PSS', dispensable: 1 }),
  bytes('ussBytes', 'unique_bytes', 'Unique set size (USS): private pages, what ending the worker would free. ' +
    'As last read.', { status: 'USS', page: 'USS', dispensable: 2 }),
  bytes('budgetBytes', 'budget_bytes', 'Soft memory budget of the worker, jitter included.'),
  { name: 'cpuPercent', unit: 'percent', column: { status: 'CPU', top: 'CPU', page: 'CPU' } },
  {
    name: 'elu',
    unit: 'share',
    metric: ['event_loop_utilization_ratio', 'Share of time in which the event loop was busy, since the last beat.'],
    column: { status: 'ELU', top: 'ELU', page: 'Event loop', dispensable: 3 }
  },
  {
    name: 'loopLagMs',
    unit: 'ms',
    metric: ['event_loop_lag_seconds', 'Longest event-loop delay since the last beat.'],
    column: { page: 'Loop delay' }
  },
  ...OF_FEATURES,
  {
    name: 'connections',
    unit: 'count',
    metric: ['connections', 'Open connections.'],
    ofAll: true,
    column: { status: 'conns', top: 'conn', page: 'Connections' }
  },
  {
    name: 'inFlight',
    unit: 'count',
    metric: ['requests_in_flight', 'Requests begun whose response is not closed.'],
    ofAll: true,
    column: { status: 'flight', top: 'fly', page: 'In flight' }
  },
  { name: 'requests', unit: 'total', column: { status: 'requests', top: 'reqs', page: 'Requests' } }
]

/**
 * @template None @param {Shape} shape @param {None} none before the first beat @returns {{ shape: Shape, none: None }}
 */
function field (shape, none) {
  return { shape, none }
}

/** @param {string} name @param {string} metric @param {string} help @param {Column} [column] @returns {Figure} */
function bytes (name, metric, help, column) {
  return { name, unit: 'bytes', metric: [metric, help], column }
}

module.exports = { FIGURES, NO_BEAT, OF_BEAT, OF_FEATURES }
