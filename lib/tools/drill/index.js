'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { RecycleError, badUsage } = require('../../core/errors')
const { OPTIONS } = require('../../tables/options')
const { resolveOptions } = require('../../tables/resolved-options')
const { writeRegular } = require('../../journal/regular-file')
const { machineFacts } = require('../../primary/measuring/container')
const { assemble } = require('../../primary/start')
const { DRILL_OPTIONS, partOptions } = require('./options')
const { RemoteFleet } = require('./remote')
const { RestartedFleet } = require('./restarted-fleet')
const { Run } = require('./run')
const { freePort } = require('./target')
/** @import { DrillOptions } from './options' */
/** @import { Figures } from './progress' */

const PROGRESS_EVERY_MS = 250
/** The options of a running fleet, as far as a drill needs them: the interval of its reports, and no budget. */
const OF_RUNNING = { intervalMs: 500, maxRssBytes: null, maxRequests: null, maxAgeMs: null }

/**
 * @typedef {{ signal?: AbortSignal, onProgress?: (figures: Figures) => void }} How
 *
 * @typedef {import('./verdict').Verdict & { requests: number, dropped: number, recycles: number, kills: number,
 *   primaryKills: number, sockets: number, errors: Record<string, number>, statuses: Record<string, number>,
 *   url: string | null, file: string }} Outcome `sockets`: connections that the clients opened; `errors`: drops by
 *   error; `statuses`: those by a wrong status, by it; `file`: the run file
 */

/**
 * Tests whether an app loses requests when its workers are recycled: runs it under `supervise()`, puts it under load,
 * recycles its workers meanwhile, and stops it under load.
 *
 * A drop is a request that a client sent and that got no complete response with an expected status: reset, closed
 * before or during the response, timed out, or answered with another status. Requests in flight at the end are waited
 * for.
 *
 * Takes the options of `supervise()` except `journal`, and its own:
 *
 * - `url` (text, `http:` or `https:`): the target of the load. Default: the address on which the app listens. The app
 *   gets a port by PORT in its environment: this process's PORT, or a free one. PORT is set in `process.env` during the
 *   drill.
 * - `connections` (1 to 100000, default 50), `loadWorkers` (1 to 256, default 1): clients, and the processes they are
 *   in.
 * - `duration` (100 ms to 24 days, default 30 s), `timeout` (from 10 ms, default 10 s).
 * - `method`, `path`, `header` ("Name: value", a list of these, or an object), `body` (text or Buffer).
 * - `rate` (1 to 1000000 requests per second; default: as fast as possible). With a rate, latency is measured from the
 *   time at which a request was due.
 * - `expect` (statuses, "2xx", "200-299", or a list; default 200 to 399), `keepAlive` (default true).
 * - `recycleEvery` (from 10 ms; default 2 s, or never if one of `maxRss`, `maxRequests`, `maxAge`, `kill`,
 *   `killPrimary` is given).
 * - `kill` (from 10 ms; default never): the interval at which a worker is killed by SIGKILL.
 * - `killPrimary` (from 100 ms; default never): the interval at which the supervisor, then a process of its own, is
 *   killed by SIGKILL and started again; the next one adopts the workers.
 * - `out`: the run file; default: a file in the system's temporary folder, which the caller deletes.
 * - `signal` ends the load early; `onProgress` gets the figures so far, 4 times a second.
 *
 * `name`, or the path of a `control` socket, instead of `app` drills a running fleet. It needs `url`, takes no options
 * of `supervise()`, and does not stop the fleet at the end.
 * @param {{ app?: string, args?: string[], signal?: AbortSignal, onProgress?: (figures: Figures) => void } &
 *   import('../../options').FleetOptions & Record<string, unknown>} options
 * @returns {Promise<Outcome>} `exitCode` 0: nothing was dropped; 1: something was, or workers listen on different
 *   addresses; 2: inconclusive, see `sentence`
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION, RECYCLE_BAD_USAGE, RECYCLE_NO_APP, RECYCLE_JOURNAL
 *   and those of `supervise()`; for a running fleet RECYCLE_NO_FLEET, RECYCLE_NO_ANSWER, RECYCLE_SEVERAL_FLEETS
 */
async function drill ({ app, args = [], signal, onProgress, ...given }) {
  const { own, supervisors } = partOptions(given)
  if (app === undefined) return drillRunning(own, supervisors, { signal, onProgress })
  const resolve = (/** @type {string} */ journal) =>
    resolveOptions({ log: 'silent', ...supervisors, journal }, machineFacts())
  return drillResolved(app, args, own, { resolve, given: supervisors }, { signal, onProgress })
}

/**
 * @param {string} app @param {string[]} args @param {DrillOptions} own
 * @param {{ resolve: (journal: string) => import('../../tables/options').Options, given: Record<string, unknown>,
 *   config?: Record<string, unknown> | null }} supervisors options: with this journal; as they were given, and in a
 *   file
 * @param {How} [how] @returns {Promise<Outcome>}
 */
async function drillResolved (app, args, own, { resolve, given, config }, how) {
  const options = resolve(own.out ?? 'a file') // throws for wrong options before the file is created
  if (own.killPrimaryEveryMs !== null && (options.revive || options.orphanTimeoutMs === 0)) {
    throw badUsage('a drill that kills the supervisor starts it again itself, and needs workers that outlive it: ' +
      'neither --revive, nor --plain or an --orphan-timeout of 0')
  }
  const file = openRunFile(own.out)
  const portBefore = process.env.PORT
  process.env.PORT ||= String(own.url?.port || await freePort())
  try {
    const open = own.killPrimaryEveryMs === null
      ? () => assemble(app, args, { ...options, journal: file }).start()
      : () => new RestartedFleet(app, args, { log: 'silent', ...given }, file, config)
    return await drillFleet(open, own, options, file, how)
  } finally {
    if (portBefore === undefined) delete process.env.PORT
    else process.env.PORT = portBefore
  }
}

/**
 * Drills a running fleet.
 * @param {DrillOptions} own @param {{ name?: string | null, control?: string | null } & Record<string, unknown>} which
 *   `name` or `control`; other options are refused
 * @param {How} [how] @param {(option: { name: string, long: string }) => string} [nameOf] @returns {Promise<Outcome>}
 */
async function drillRunning (own, { name, control, ...supervisors }, how, nameOf = option => option.name) {
  const called = (/** @type {string} */ option) =>
    nameOf(/** @type {typeof OPTIONS[0]} */ ([...DRILL_OPTIONS, ...OPTIONS].find(({ name }) => name === option)))
  const refuse = (/** @type {string} */ sentence) => { throw badUsage(sentence) }
  const [foreign] = Object.keys(supervisors)
  if (foreign) refuse(`${called(foreign)} is for a fleet that the drill starts; a running fleet keeps its options`)
  if (!name && !control) refuse('a drill needs an app, or the name or control socket of a running fleet')
  if (own.url === null) refuse(`the drill of a running fleet needs ${called('url')}, the target of the load`)
  if (own.killPrimaryEveryMs !== null) {
    refuse(`${called('killPrimary')} is for a fleet that the drill starts, and starts again`)
  }
  const fleet = await RemoteFleet.open({ name, control })
  try {
    if (own.killEveryMs !== null) await fleet.mayKill(called('kill'))
    return await drillFleet(() => fleet, own, OF_RUNNING, openRunFile(own.out), how)
  } finally {
    await fleet.stop()
  }
}

/**
 * @param {() => import('./run').Fleet} open @param {DrillOptions} own
 * @param {ConstructorParameters<typeof Run>[1]} options @param {string} file @param {How} [how]
 * @returns {Promise<Outcome>}
 */
async function drillFleet (
  open, own, options, file, { signal = new AbortController().signal, onProgress = () => {} } = {}
) {
  const run = new Run(own, options, file)
  const progress = setInterval(() => onProgress(run.figures()), PROGRESS_EVERY_MS)
  let outcome
  try {
    await run.go(open(), signal)
    onProgress(run.figures())
    outcome = run.outcome()
    return outcome
  } finally {
    clearInterval(progress)
    await run.clear()
    if (!outcome && own.out === null) fs.rmSync(path.dirname(file), { recursive: true })
  }
}

/** @param {string | null} out @returns {string} an empty file */
function openRunFile (out) {
  if (out === null) return path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-drill-')), 'run.ndjson')
  try {
    writeRegular(out, '')
    return out
  } catch (error) {
    throw new RecycleError('RECYCLE_JOURNAL', { file: out, why: /** @type {Error} */ (error).message })
  }
}

module.exports = { drill, drillResolved, drillRunning }
