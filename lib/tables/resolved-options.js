'use strict'

/** From options as they are given, in a call, the environment or a config file, to the options of a fleet. */

const { size, autoWorkers, autoBudget, boundsOf, boundsWithin, whyNoAutoBudget } = require('../core/container-budget')
const { FEATURES, derive, longestBeforeStop, processesBeside } = require('../features')
const { RecycleError, badOption } = require('../core/errors')
const { hintOnKey } = require('./habits')
const { isOfType, readAs, typesOf } = require('../core/option-types')
const { isLoopback } = require('../core/loopback')
const { OPTIONS } = require('./options')
const { fewestWorkers } = require('../core/recycle-order')
const { stopTimes } = require('../core/stop-times')
/** @import { Option, Options } from './options' */

/**
 * @typedef {object} Sources the origins of options; the first that sets an option wins
 * @property {Record<string, string | undefined>} [env]
 * @property {{ name: string, values: Record<string, unknown> } | null} [file] a config file, as messages show it, and
 *   its values; strict about types: no number as text
 * @property {number} parallelism CPUs that this process may run on
 * @property {import('../core/container-budget').Container | null} [container] null: not known; `auto` is then by the
 *   CPUs alone
 * @property {(o: Option) => string} [nameOf] the option's name for messages: a flag on the command line, its name in
 *   the library
 *
 * @typedef {object} Origin the origin of a value
 * @property {'given' | 'env' | 'file' | 'default'} from
 * @property {string} called the option's name there
 * @property {unknown} text the value as written; undefined: by default
 */

/**
 * Resolves options: the given value, else the environment, else the config file, else the default. Checks each option,
 * then all of them together.
 * @param {Record<string, unknown>} given by name; sizes as text or in bytes, times as text with a unit, or 0
 * @param {Sources} sources @returns {Readonly<Options>}
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION
 */
const resolveOptions = (given, sources) => traceOptions(given, sources).options

/**
 * Resolves options, with the origin of each value.
 * @param {Record<string, unknown>} given @param {Sources} sources
 * @returns {{ options: Readonly<Options>, origins: Map<string, Origin> }} origins by the options' names
 */
function traceOptions (given, { env = {}, file = null, parallelism, container = null, nameOf = o => o.name }) {
  const unknown = Object.keys(given).find(name => !OPTIONS.some(o => o.name === name))
  if (unknown) {
    throw new RecycleError('RECYCLE_UNKNOWN_OPTION',
      { option: unknown, hint: hintOnKey(unknown, OPTIONS.map(o => o.name)) })
  }

  /** @type {Map<string, Origin>} */
  const origins = new Map(OPTIONS.map(option => [option.name, originOf(option, given, env, file, nameOf(option))]))
  const origin = (/** @type {string} */ name) => /** @type {Origin} */ (origins.get(name))
  /** @type {any} */
  const resolved = {}
  for (const option of OPTIONS) resolved[option.key] = read(option, origin(option.name))
  const sizing = resolved.sizing = size({ parallelism, container }, resolved, processesBeside(resolved))
  if (sizing.isAutoWorkers) resolved.workers = autoWorkers(sizing, resolved.maxRssBytes)
  const { workers } = resolved
  resolved.autoscale = typeof workers === 'object' ? boundsWithin(workers, sizing) : null
  if (resolved.autoscale) resolved.workers = resolved.autoscale.min
  if (resolved.plain) makePlain(resolved, origin)
  Object.assign(resolved, derive(resolved))
  const most = boundsOf(resolved)?.max ?? resolved.workers
  resolved.metric ??= 'rss'
  if (sizing.isAutoBudget) resolved.maxRssBytes = autoBudget(sizing, most)
  if (resolved.maxRssBytes !== null) resolved.hardRssBytes ??= Math.round(1.25 * resolved.maxRssBytes)
  const refuse = (/** @type {string} */ name, /** @type {string} */ accepts) => {
    throw badOption(origin(name).called, origin(name).text, accepts)
  }
  resolved.stopTimes = stopTimes(resolved, longestBeforeStop(resolved),
    { isGiven: name => origin(name).from !== 'default', called: name => origin(name).called, refuse })
  checkTogether(resolved, origin, refuse)
  return { options: Object.freeze(resolved), origins }
}

/** Options with --plain: all of them work inside Node.js. */
const PLAIN = Object.freeze({
  handoff: false, replay: 'off', schedule: 'shared', orphanTimeoutMs: 0, revive: false
})

/** @param {Record<string, unknown>} resolved @param {(name: string) => Origin} origin @throws {RecycleError} */
function makePlain (resolved, origin) {
  for (const { name, key } of OPTIONS.filter(({ key }) => key in PLAIN)) {
    const value = Reflect.get(PLAIN, key)
    const { from, called, text } = origin(name)
    if (from !== 'default' && resolved[key] !== value) {
      throw badOption(called, text, `only ${value === false ? 'off' : value} beside ${origin('plain').called}`)
    }
    resolved[key] = value
  }
}

/**
 * @param {Option} option @param {Record<string, unknown>} given @param {Record<string, string | undefined>} env
 * @param {Exclude<Sources['file'], undefined>} file @param {string} called @returns {Origin}
 */
function originOf ({ name, env: variable }, given, env, file, called) {
  if (given[name] === null) return { from: 'default', called, text: undefined }
  if (given[name] !== undefined) return { from: 'given', called, text: given[name] }
  // An empty variable counts as not set
  if (env[variable]) return { from: 'env', called: variable, text: env[variable] }
  if (file?.values[name] !== undefined) {
    return { from: 'file', called: `${name} in ${file.name}`, text: file.values[name] }
  }
  return { from: 'default', called, text: undefined }
}

/** @param {Option} option @param {Origin} origin */
function read ({ kind, fallback }, { from, called, text }) {
  if (from === 'default') return fallback
  if (from !== 'file' || isOfType(kind.schema, text)) return readAs(kind, text, called)
  const types = typesOf(kind.schema, text)
  const accepts = types ? `${kind.accepts}, as ${types}` : kind.accepts
  return readAs({ ...kind, read: () => undefined, accepts }, text, called)
}

/**
 * @param {Options} options @param {(name: string) => { called: string, text: unknown }} of origin of an option, by name
 * @param {(name: string, accepts: string) => never} refuse
 */
function checkTogether (options, of, refuse) {
  const { maxRssBytes, hardRssBytes, maxSurge, maxUnavailable, workers, drainTimeoutMs, replayAfterMs } = options
  const { admin, adminAllowRemote, sizing } = options
  const noAutoBudget = sizing.isAutoBudget ? whyNoAutoBudget(sizing, boundsOf(options)?.max ?? workers) : null
  if (noAutoBudget !== null) refuse('maxRss', noAutoBudget)
  if (hardRssBytes !== null && (maxRssBytes === null || hardRssBytes < maxRssBytes)) {
    refuse('hardRss', `a size of at least ${of('maxRss').called}, which must be set too`)
  }
  if (maxSurge === 0 && maxUnavailable < 1) {
    refuse('maxSurge', `0 only with ${of('maxUnavailable').called} of at least 1`)
  }
  if (workers < fewestWorkers({ maxSurge, maxUnavailable })) {
    refuse('maxUnavailable', `a whole number below the number of workers (${workers})`)
  }
  if (replayAfterMs !== null && replayAfterMs > drainTimeoutMs) {
    refuse('replayAfter', `a time of at most ${of('drainTimeout').called}`)
  }
  for (const { check } of FEATURES) check?.(options, { of, refuse })
  if (admin !== null && !adminAllowRemote && !isLoopback(admin.host)) {
    refuse('admin',
      `a loopback address, such as 127.0.0.1:${admin.port}; any other only with ${of('adminAllowRemote').called}`)
  }
}

module.exports = { resolveOptions, traceOptions }
