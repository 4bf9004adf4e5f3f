'use strict'

/**
 * The features of a fleet: what it can do beside running workers, measuring and replacing them. Each is a folder, and an object that says what it adds.
 * The kernel's own tables (options, messages, events, metrics, status, report) are made of the kernel's entries and of these, and are checked
 * in the same way; a file outside a feature's folder never names it. docs/architecture.md says how one is added.
 *
 * A feature requires nothing when it is loaded: what it needs to describe itself is an argument, and its parts are loaded where it is on.
 *
 * @typedef {object} Feature
 * @property {string} name of its folder
 * @property {(make: { row: typeof import('../core/options').row, types: typeof import('../core/option-types').types }) => Readonly<import('../core/options').Option>[]} options
 * @property {(options: import('../core/options').Options) => boolean} isOn in this fleet
 * @property {(shapes: typeof import('../core/shape')) => Record<string, import('../core/message').Kind>} [fromWorker] messages, worker → primary
 * @property {Record<string, Event>} [events] of the journal
 * @property {(options: import('../core/options').Options) => Record<string, any>} [settings] of its part in a worker, plain data
 * @property {() => (kernel: PrimaryKernel) => PrimaryPart} [primary] loads its part of the primary
 * @property {() => (kernel: WorkerKernel, settings: Record<string, any>) => WorkerPart} [worker] loads its part of a worker
 * @property {Metric[]} [metrics]
 * @property {{ key: string, lines: (about: any, paint: ReturnType<typeof import('../journal/painter').painter>) => string[] }} [status] `key` of its part's
 *   description in status(), null where it is off; `lines` of it below the table of `recycle status`
 * @property {{ key: string, figures: () => new () => Figures, lines: () => (figures: any, to: ReportTools) => string[] }} [report] its figures, by
 *   `key`, and their lines in the terminal
 *
 * @typedef {object} Event
 * @property {'quiet' | 'info' | 'warn'} level quiet: it is in the journal alone
 * @property {(line: Record<string, any>, format: { size: (bytes: number) => string, time: (ms: number) => string }) => string} [sentence] for the log
 *
 * @typedef {object} Metric
 * @property {string} name without its prefix
 * @property {string} help
 * @property {string[]} labels
 * @property {(status: Record<string, any>) => [labels: Record<string, string>, value: number][]} values of a gauge
 *
 * @typedef {object} PrimaryKernel what the primary gives to a feature
 * @property {import('../core/options').Options} options
 * @property {(event: string, fields: Record<string, any>) => Record<string, any>} record writes a line of the journal
 * @property {() => number} now monotonic, ms
 * @property {() => number} generation of the latest code
 * @property {(slot: number) => void} collect has the worker of this slot collect its garbage, out of rotation
 *
 * @typedef {object} PrimaryPart
 * @property {(worker: import('../primary/workers/worker-handle').WorkerHandle) => void} connect called with each worker that is spawned
 * @property {() => any} [describe] plain data for status()
 * @property {() => void} [wake] the machine has slept: readings over that time say nothing
 *
 * @typedef {object} WorkerKernel what a worker gives to a feature
 * @property {import('../worker/channel').Channel} channel
 * @property {import('../worker/connections/tracker').ConnectionTracker} tracker
 * @property {(listener: (hasMarkSweep: boolean) => void) => void} onCollected after each collection
 * @property {number} beatMs between two heartbeats
 *
 * @typedef {object} WorkerPart
 * @property {() => void} [beat] called after each heartbeat
 *
 * @typedef {object} Figures of a report
 * @property {Readonly<Record<string, (line: Record<string, any>) => void>>} handlers by event
 * @property {() => any} summary null: the journal has nothing of it
 *
 * @typedef {object} ReportTools
 * @property {ReturnType<typeof import('../journal/painter').painter>} paint
 * @property {number} width
 * @property {typeof import('../report/grid').layOut} layOut
 * @property {typeof import('../report/grid').short} short
 * @property {typeof import('../report/cell').clip} clip
 * @property {typeof import('../core/plain').plain} plain
 */

/** @type {readonly Readonly<Feature>[]} */
const FEATURES = Object.freeze([
  require('./leaks/feature')
])

module.exports = { FEATURES }
