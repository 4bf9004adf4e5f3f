'use strict'

/**
 * The options, as data. Flags, RECYCLE_* environment variables, help, the reference in docs/options.md and the checks
 * of the library's arguments all come from this table.
 */

const { FEATURES, PRESETS } = require('../features')
const { types } = require('../core/option-types')
/** @import { Kind, OptionKind } from '../core/option-types' */

/**
 * @typedef {object} Option
 * @property {string} name in the library
 * @property {string} key in the resolved options, with its unit
 * @property {string} [short] one-letter flag
 * @property {string} flag long flag with its placeholder
 * @property {string} long without it
 * @property {string} env @property {OptionKind} kind
 * @property {unknown} fallback the default, in the internal unit
 * @property {string} defaultText the default, as shown by help
 * @property {string} help
 *
 * @typedef {import('../options').ResolvedOptions & Derived & import('../features').Options} Options resolved
 *
 * @typedef {object} Derived what follows from them
 * @property {import('../core/sample').Metric} metric
 * @property {Readonly<import('../core/stop-times').StopTimes>} stopTimes
 * @property {Readonly<import('../core/container-budget').Sizing>} sizing what `auto` was computed from
 */

/** @type {readonly Readonly<Option>[]} */
const OF_KERNEL = [
  row('workers', '-w, --workers <n|min..max|auto>', types.workers(), 'auto', 'auto',
    'workers; min..max: as many as the load needs; auto is 2×CPU+1, by the quota of CPUs where there is one, ' +
      'or fewer where the memory is not enough'),
  row('maxRss', '-m, --max-rss <size|auto>', types.budget(), null, 'none',
    "soft budget per worker, in the unit of --metric; auto: a share of the container's memory", 'maxRssBytes'),
  row('hardRss', '--hard-rss <size>', types.size(), null, '1.25 × soft',
    'hard budget: one sample above it condemns a worker', 'hardRssBytes'),
  row('metric', '--metric <rss|anon|pss|uss>', types.oneOf('rss', 'anon', 'pss', 'uss'), null, 'rss',
    'figure that is compared with the budget'),
  row('meter', '--meter <name>', types.oneOf('auto', 'smaps_rollup', 'smaps', 'pidusage'), 'auto', 'auto',
    'auto, smaps_rollup, smaps or pidusage; auto on Linux: statm first, smaps_rollup near the budget; ' +
      'elsewhere pidusage'),
  row('interval', '-i, --interval <time>', types.time(50, '50ms'), 1000, '1s',
    'interval between two samples of a worker', 'intervalMs'),
  row('samples', '--samples <n>', types.count(1, 1000), 2, '2',
    'consecutive samples over the soft budget before a worker is condemned'),
  row('jitter', '--jitter <percent>', types.percent(), 0.1, '10',
    "each worker's budgets vary by up to this much, downwards only"),
  row('maxRequests', '--max-requests <n>', types.count(1, 1e12), null, 'none', 'requests before a worker is replaced'),
  row('maxAge', '--max-age <time>', types.time(1000, '1s'), null, 'none',
    'time in service before a worker is replaced', 'maxAgeMs'),
  row('maxSurge', '--max-surge <n>', types.count(0, 1024), 1, '1',
    'replacements that may run beside the fleet; also limits concurrent recycles'),
  row('maxUnavailable', '--max-unavailable <n>', types.count(0, 1024), 0, '0', 'workers that may be missing; ' +
    '--max-surge 0 needs at least 1 (drain first); with one worker clients wait meanwhile'),
  row('readyOn', '--ready-on <what>', types.oneOf('listening', 'online', 'message'), 'listening', 'listening',
    "listening: the worker listens on every address of its predecessor; online; message: process.send('ready')"),
  row('readyTimeout', '--ready-timeout <time>', types.time(100, '100ms'), 30_000, '30s',
    'a worker that is not ready by then is killed', 'readyTimeoutMs'),
  row('drainTimeout', '--drain-timeout <time>', types.time(0, '0'), 30_000, '30s',
    'requests still in flight by then are cut, and named in the journal', 'drainTimeoutMs'),
  row('killTimeout', '--kill-timeout <time>', types.time(0, '0'), 5000, '5s',
    'time from SIGTERM to SIGKILL; and from the drain timeout to the SIGKILL of a worker whose event loop is blocked',
    'killTimeoutMs'),
  row('leaveChildren', '--leave-children', types.boolean(), false, 'off',
    'do not end the processes that a worker has started when it is gone'),
  row('stopLinger', '--stop-linger <time>', types.time(0, '0'), 5000, '5s',
    'time for which idle connections stay open when the fleet stops', 'stopLingerMs'),
  row('orphanTimeout', '--orphan-timeout <time>', types.time(0, '0'), 60_000, '60s', 'time for which workers serve ' +
    'on when the supervisor has died, until another one adopts them; 0: they leave at once', 'orphanTimeoutMs'),
  row('revive', '--revive', types.boolean(), false, 'off',
    'workers start the supervisor again when it has died, where nothing else does'),
  row('stopTimeout', '--stop-timeout <time>', types.time(3000, '3s'), null, 'none', 'time that a stop may take in ' +
    'all, as until the SIGKILL of a platform: the drain and kill timeouts of a stop follow from it', 'stopTimeoutMs'),
  row('nodeOption', '--node-option <flag>', types.list(), [], 'none',
    'Node or V8 flag for the workers; repeatable', 'nodeOptions'),
  row('handoff', '--no-handoff', types.boolean(), true, 'on',
    'at a replacement close keep-alive connections after their next response, in place of moving them'),
  row('replay', '--replay <off|safe>', types.oneOf('off', 'safe'), 'safe', 'safe', 'safe: at the drain timeout ' +
    'a GET, HEAD or OPTIONS request that is not answered moves to another worker, in place of being cut'),
  row('replayAfter', '--replay-after <time>', types.time(0, '0'), null, 'the drain timeout',
    'time from which on a leaving worker gives unanswered requests away; 0 for long polls', 'replayAfterMs'),
  row('schedule', '--schedule <even|shared>', types.oneOf('even', 'shared'), 'even', 'even',
    'even: a worker that is busier, or has more connections, than the others gives some away, and one with more ' +
      'stops accepting; shared: any worker accepts'),
  row('plain', '--plain', types.boolean(), false, 'off', 'no addon, and nothing inside Node.js is used for what ' +
    'clients keep; a recycle closes connections, and a crash cuts them'),
  row('journal', '--journal <file>', types.path(), null, 'none',
    'file to append events and samples to, as NDJSON; reopened when it is rotated'),
  row('log', '--log <format>', types.oneOf('pretty', 'json', 'silent'), null, 'pretty on a terminal, else json',
    "the supervisor's log on stderr: pretty, json or silent"),
  row('logLevel', '--log-level <level>', types.oneOf('debug', 'info', 'warn', 'error'), null,
    'info; debug with --log json',
    'least level of what the log has: debug (every event, with all options), info, warn or error'),
  row('standby', '--standby <n>', types.count(0, 64), 0, '0',
    'replacements that are booted in advance and wait out of rotation; their memory is like that of a surge'),
  row('compileCache', '--no-compile-cache', types.boolean(), true, 'on',
    'do not cache compiled code on disk, which makes later workers boot faster'),
  row('name', '--name <name>', types.name(), null, "the app's",
    'name of the fleet for `recycle ls` and the other commands'),
  row('control', '--control <path|none>', types.path('none'), null,
    'by --name, in $XDG_RUNTIME_DIR/recycle or /tmp/recycle-<uid>',
    'control socket, for `recycle status` and the other commands; none: no socket'),
  row('admin', '--admin <[host:]port>', types.address(), null, 'none',
    'serve /metrics, /healthz, /readyz, /status and a live page over HTTP'),
  row('adminAllowRemote', '--admin-allow-remote', types.boolean(), false, 'off',
    'let --admin listen on an address that is not loopback')
]

/** @type {readonly Readonly<Option>[]} */
const OPTIONS = Object.freeze([...OF_KERNEL.map(preset), ...FEATURES.flatMap(({ options }) => options({ row, types }))])

/**
 * The value unless one is given, with features that change that.
 * @param {Readonly<Option>} option @returns {Readonly<Option>}
 */
function preset (option) {
  const other = PRESETS[option.name]
  return other === undefined ? option : Object.freeze({ ...option, defaultText: `${option.defaultText}; ${other}` })
}

/**
 * @template {Kind} Kinds
 * @param {string} name @param {string} flags @param {Kinds} kind @param {unknown} fallback @param {string} defaultText
 * @param {string} help @param {string} [key] @returns {Readonly<Omit<Option, 'kind'> & { kind: Kinds }>}
 */
function row (name, flags, kind, fallback, defaultText, help, key = name) {
  const [, short, flag] = /** @type {RegExpExecArray} */ (/^(?:(-\w), )?(--.*)$/.exec(flags))
  const env = `RECYCLE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
  const [long] = flag.split(' ')
  return Object.freeze({ name, key, short, flag, long, env, kind, fallback, defaultText, help })
}

/** @param {Record<string, unknown>} given options by name @returns {string[]} the same on a command line */
function wordsOf (given) {
  return Object.entries(given).flatMap(([name, value]) => {
    const { long } = /** @type {Option} */ (OPTIONS.find(option => option.name === name))
    if (value === undefined || value === null || value === long.startsWith('--no-')) return []
    if (typeof value === 'boolean') return [long]
    return Array.isArray(value) ? value.map(one => `${long}=${one}`) : [long, String(value)]
  })
}

module.exports = { OPTIONS, row, wordsOf }
