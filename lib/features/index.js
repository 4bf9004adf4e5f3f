'use strict'

/**
 * The features of a fleet: what it can do beside running workers, measuring and replacing them. Each is a folder, and
 * an object that says what it adds. The kernel's own tables (options, messages, events, metrics, status, report) are
 * made of the kernel's entries and of these, and are checked in the same way; a file outside a feature's folder never
 * names it. docs/architecture.md says how one is added.
 *
 * A feature requires nothing when it is loaded: what it needs to describe itself is an argument, and its parts are
 * loaded where it is on.
 *
 * @typedef {typeof KINDS} ArgKinds
 * @typedef {Record<string, Arg>} Args
 * @typedef {typeof import('../core/shape')} Shapes
 * @typedef {Record<string, import('../tables/message').Kind>} Kinds
 *
 * @typedef {object} Feature
 * @property {string} name of its folder
 * @property {(make: { row: typeof import('../tables/options').row, types: typeof
 *   import('../core/option-types').types }) => Readonly<Option>[]} options
 * @property {string} group the heading of its options in the help
 * @property {(options: FleetOptions, by: { of: (name: string) => { called: string, text: unknown }, refuse: (name:
 *   string, accepts: string) => never }) => void} [check] refuses options that do not go together; `text`: as given,
 *   undefined where it is not
 * @property {(options: FleetOptions) => boolean} isOn in this fleet
 * @property {Record<string, { answer: string }>} [habits] what users of other supervisors write, and what to write
 *   instead; see lib/tables/habits.js
 * @property {(shapes: Shapes) => Kinds} [fromWorker] messages, worker → primary
 * @property {(shapes: Shapes) => Kinds} [fromPrimary] messages, primary → worker
 * @property {(shapes: Shapes) => Record<string, import('../tables/message').Verb>} [does] what the primary has a worker
 *   do, by its verb
 * @property {string[]} [api] functions of the worker API, which its part in a worker has
 * @property {Events} [events] of the journal
 * @property {(options: FleetOptions) => object | null} [settings] of its part in a worker, plain data;
 *   null: a worker loads it only as a variant, by the primary's part; see lib/primary/workers/spawner.js
 * @property {(options: FleetOptions) => { option: string, given: string, accepts: string } | null} [refuse] why this
 *   system cannot do it; may throw another error
 * @property {Record<string, (line: Warned, format: Format) => string>} [warnings] sentences of `fleet.warning`
 * @property {(known: any, options: FleetOptions) => Record<string, any>} [ofWorker] what status() has of each worker;
 *   `known`: what its part in the primary has noted in `handle.known[name]`, plain data
 * @property {(kinds: ArgKinds) => Record<string, Args>} [commands] for one worker, by name: methods of the supervisor
 *   and verbs of the control socket, with their arguments beside the worker's slot; with `target: kinds.slots` that
 *   verb is for all workers, too
 * @property {() => (program: import('commander').Command, tools: CommandTools) => void} [command] adds commands to the
 *   command line
 * @property {Record<string, Figure>} [figures] of each worker, by the name that they have in a sample and in status()
 * @property {() => (kernel: Parts) => PrimaryPart} [primary] loads its part of the primary
 * @property {true} [worker] it has a part in a worker: `part(kernel, settings)` of worker.js, as by-name.js has it
 * @property {Metric[]} [metrics] @property {Described} [status]
 * @property {string} [report] key of its figures in the report, whose part of it is report.js, as by-name.js has it; of
 *   a list, `<key>Omitted` has how many earlier ones are not in it
 *
 * @typedef {object} Described what is made of its part's description in status()
 * @property {string} key of the description, null where the feature is off
 * @property {(about: any, paint: ReturnType<typeof painter>) => string[]} [lines] below the table of `recycle status`
 *
 * @typedef {{ [Name in keyof JournalFields]?: Event<Name> }} Events
 * @typedef {{ [Field in keyof Warning]-?: NonNullable<Warning[Field]> }} Warned a warning has those that its sentence
 *   says
 * @typedef {'quiet' | 'debug' | 'info' | 'warn' | 'error'} Level
 *
 * @typedef {Pick<Row, 'isOfMemory' | 'sentence'> & { reason: Reason } & OfFigure} Limit a reason to replace a worker,
 *   off where its option is not set
 * @typedef {object} OfFigure
 * @property {string} budget its name in a worker's budget, and the option by which it is set
 * @property {(options: FleetOptions) => number | null} [most] sets it in place of an option; without jitter, and
 *   reached it counts as exceeded
 * @property {string} [whole] the figure of which a limit given as a percentage is a share
 * @property {'latest' | 'all'} isOverBy the latest sample, or all consecutive ones
 *
 * @typedef {object} Figure
 * @property {import('../tables/figures').Unit} unit
 * @property {(shapes: Shapes) => Shape} [beat] field of the heartbeat; without, a part of the primary reads it
 * @property {[name: string, help: string]} metric gauge of each worker, of a time in seconds
 * @property {Limit} [limit]
 *
 * @typedef {object} Format
 * @property {(bytes: number) => string} size @property {(ms: number) => string} time
 * @property {typeof import('../core/units').count} count
 * @property {(line: { slot?: number | null, pid?: number | null }) => string} worker
 *
 * @typedef {object} Metric
 * @property {string} name without its prefix
 * @property {string} help @property {string[]} labels
 * @property {(status: Status) => [labels: Record<string, string | number>, value: number][]} values of a gauge
 *
 * @typedef {object} Figures of a report
 * @property {LineHandlers} handlers
 * @property {() => unknown} summary null: the journal has nothing of it
 * @property {() => Record<string, unknown>[]} [series] values over time, by the same key, for charts
 * @property {number} [omitted] earlier ones that a list does not have
 *
 * @typedef {ReturnType<typeof import('../tools/report/paper').paperOf>} Terminal
 *
 * @typedef {Pick<typeof import('../cli/fleet'), 'addFleetName' | 'addFleetOptions' | 'withFleet'> & Pick<typeof
 *   import('../cli/print'), 'complain' | 'print'> & Pick<typeof import('../cli/verbs'), 'verb' | 'act' | 'hasLost' |
 *   'losses'> & Pick<typeof import('../core/units'), 'count'> & Pick<typeof
 *   import('../primary/recycling/private-file'), 'createNew'>} CommandTools `createNew`: makes a file that this user
 *   alone can read
 *
 * @typedef {import('./gc/feature').Commands & import('./heapdump/feature').Commands &
 *   import('./leak-line/feature').Commands & import('./upgrade/feature').Commands} Commands
 * @typedef {import('./elastic/feature').Options & import('./output/feature').Options} Options that follow from others
 * @typedef {Partial<Record<'heapUsedBytes' | 'heapLimitBytes' | 'fds' | 'fdLimit' | 'lagP99Ms' | 'handles' |
 *   'healthFailures' | 'serverErrors' | 'responseP50Ms' | 'responseP99Ms', number | null>>} Sampled their figures, in a
 *   sample; null: not known yet
 * @typedef {import('./blocked/feature').OfWorker & import('./health/feature').OfWorker &
 *   import('./lease/feature').OfWorker} OfWorker what status() has of each worker
 * @typedef {{ blockedLoops: ReturnType<import('./blocked/primary').BlockedLoops['describe']> | null, canary:
 *   ReturnType<import('./canary/primary').Canary['describe']> | null, autoscale:
 *   ReturnType<import('./elastic/primary').Sizing['describe']> | null, exceptions:
 *   ReturnType<import('./exceptions/primary').Exceptions['describe']> | null, failover: { connections: number, most:
 *   number, moved: number, replayed: number, answered: number, cut: number } | { why: string } | null, heapdumps:
 *   ReturnType<import('./heapdump/primary').Heapdumps['describe']>, keepAliveTimeout: { timeoutMs: number | null,
 *   short: import('./keep-alive/feature').Short | null } | null, leakStudies:
 *   ReturnType<import('./leak-line/primary').LeakStudies['describe']> | null, memoryByRoute:
 *   ReturnType<import('./leaks/primary').LeakingRoutes['describe']> | null, stopDelay: { leftMs: number | null } | null
 *   }} Descriptions in status(), by key; null: it is off
 *
 * @typedef {'heap' | 'fds' | 'lag' | 'handles' | 'unhealthy'} Reason of a limit
 * @typedef {'exception' | 'stuck'} Requested
 * @typedef {'upgrade'} LeftFor the reason of a succession
 */

/**
 * @template {keyof JournalFields} [Name=any]
 * @typedef {object} Event
 * @property {Level | ((line: JournalLine<Name>) => Level)} [level] quiet: in the journal alone; debug: in the log with
 *   `--log json` or `--log-level debug` alone; info by default
 * @property {(line: JournalLine<Name>, format: Format) => string | null} [sentence] for the log; without, the event's
 *   name
 * @property {{ name: string, help: string, reasons?: readonly string[] }} [counter] of its lines, in `/metrics`; by
 *   `reason` where there are `reasons`
 * @property {{ name: string, help: string, field: string }} [duration] the histogram of a field, in ms, in `/metrics`
 */

/** @type {readonly Readonly<Feature>[]} */
const FEATURES = require('./list')
/** @import { Option, Options as FleetOptions } from '../tables/options' */
/** @import { Shape } from '../core/shape' */
/** @import { Row } from '../tables/reasons' */
/** @import { Warning } from '../journal/events' */
/** @import { JournalFields, JournalLine, LineHandlers } from '../lines' */
/** @import { painter } from '../journal/painter' */
/** @import { Arg, KINDS } from '../operate/control-args' */
/** @import { Parts } from '../primary/parts' */
/** @import { Status } from '../primary/supervisor' */
/** @import { PrimaryPart } from './interface' */

/** @param {string} name @returns {any} null: there is no such feature */
const named = name => FEATURES.find(feature => feature.name === name) ?? null

// A thing that one feature alone has, or two, is asked of that feature, by its name.

/** Reasons for which features have a worker replaced, whatever its figures are. @type {readonly Row[]} */
const REQUESTS = ['blocked', 'exceptions'].flatMap(name => named(name)?.request ?? [])
/** Tasks of a worker out of rotation, by message, as the log says them. @type {Record<string, string>} */
const TASKS = { ...named('heapdump')?.tasks, ...named('leak-line')?.tasks }
/**
 * Sentences of `recycle top` and the live page about this moment, by key of status(); null where that is nothing.
 * @type {ReadonlyMap<string, import('../operate/admin/picture').SayLive>}
 */
const LIVE = new Map(['leak-line', 'canary'].flatMap(name => named(name) ?? [])
  .map(({ status, live }) => [status.key, live]))
/** Figures that the live page draws. @type {import('./responses/feature').Moments} */
const MOMENTS = named('responses')?.moments ?? []
/** By name. @type {readonly [string, import('./upgrade/feature').Verb][]} */
const VERBS = Object.entries(named('upgrade')?.verbs ?? {})
/** @type {import('./upgrade/feature').Succession} */
const SUCCESSION = named('upgrade')?.succession ??
  { reason: null, command: 'a restart', events: {}, whyNot: () => 'it has no upgrade' }
/** Of the command `reload`. @type {import('./canary/feature').ReloadArgs} */
const RELOAD = named('canary')?.reload ?? { args: () => ({}), flags: [], say: () => null }
/** @type {import('./health/feature').Own['unfit'] | null} */
const UNFIT = named('health')?.unfit ?? null
/** @type {import('./systemd/feature').Own['environment']} */
const ENVIRONMENT = named('systemd')?.environment ?? {}
/** Opens what is beside the control socket. @type {import('./systemd/feature').Own['operate']} */
const openNotifier = named('systemd')?.operate ?? (() => null)
/** Defaults of the kernel's options with a feature, by name, for the help. @type {Record<string, string>} */
const PRESETS = named('fork')?.presets ?? {}

/** Of a fleet that sizes itself. @type {import('./elastic/feature').SizeWords} */
const SIZE_WORDS = named('elastic')?.sizeWords ?? { key: '', reasons: {}, beside: () => '', scaled: () => '' }

/**
 * @param {Partial<FleetOptions>} options `sizing` is among them
 * @returns {Partial<FleetOptions>} options that follow from those that are given
 */
const derive = options => Object.assign({}, ...['fork', 'output'].map(name => named(name)?.resolve(options)))

/**
 * @param {FleetOptions} options
 * @param {boolean | null} isLibuvHooked the addon leads calls of libuv's through itself; null: there is no addon
 * @returns {string[]} what of Node.js's inside the workers use or replace
 */
const hooksOf = (options, isLibuvHooked) =>
  ['exceptions', 'failover'].flatMap(name => named(name)?.isOn(options) ? named(name).hooks(isLibuvHooked) : [])

/**
 * @param {FleetOptions} options @param {number} nodeMajor
 * @returns {{ flags: string[], collectsFirst: boolean }} V8's, of the workers; whether they collect their garbage
 *   before they load the app
 */
function v8Of (options, nodeMajor) {
  const { flags, collectsFirst } = named('gc')?.v8(options, nodeMajor) ?? { flags: [], collectsFirst: false }
  return { flags: [...named('fork')?.v8Flags(options) ?? [], ...flags], collectsFirst }
}

/** @param {Partial<FleetOptions>} options @returns {number} how many processes there are beside primary and workers */
const processesBeside = options => named('fork')?.processes(options) ?? 0

/** @param {FleetOptions} options @returns {number} ms: a worker that is silent for so long is replaced */
const longestSilence = options => named('blocked')?.longestSilenceMs(options) ?? Infinity

/** @param {FleetOptions} options @returns {number} ms that pass before a stop begins, at the most */
const longestBeforeStop = options => named('stop-delay')?.beforeStopMs(options) ?? 0

/** @param {any} status @returns {string | null} what a command waits for, beside workers that drain */
const sayWait = status => RELOAD.say?.(status) ?? named('stop-delay')?.say(status) ?? null

/** @param {FleetOptions} options @returns {string[]} features that must let a worker that has booted pass */
const gatesOf = options => named('health')?.isOn(options) ? ['health'] : []

/**
 * @param {FleetOptions} options
 * @returns {import('./output/feature').PassOn | null} what takes a worker's output; null: the worker has the primary's
 */
const outputOf = options => named('output')?.isOn(options) ? named('output').passOn(options) : null

/** Fields of the heartbeat that are no figures. @type {import('./failover/feature').Own['beat']} */
const beatOf = named('failover')?.beat ?? (() => ({}))
/** How much of a worker's memory is recycle's, in bytes, by a heartbeat. */
const ownBytesOf = named('failover')?.ownBytes ?? (() => 0)
/** Messages to the primary that takes the fleet over. @type {(shapes: Shapes) => Kinds} */
const fromPredecessor = named('sticky')?.fromPredecessor ?? (() => ({}))

module.exports = {
  FEATURES, REQUESTS, TASKS, LIVE, MOMENTS, VERBS, SUCCESSION, RELOAD, UNFIT, ENVIRONMENT, PRESETS, SIZE_WORDS,
  openNotifier, derive, hooksOf, v8Of, processesBeside, longestSilence, longestBeforeStop, sayWait, gatesOf, outputOf,
  beatOf, ownBytesOf, fromPredecessor
}
