'use strict'

/**
 * The options, as data. This one table makes the flags, the RECYCLE_* environment names, the help, the README's
 * reference and the checks of the library's arguments; there is no second place where an option is known.
 */

const { RecycleError } = require('./errors')
const { parseSize, parseTime } = require('./units')

/**
 * @typedef {object} Kind how a value is read
 * @property {string} accepts completes the sentence "it takes …"
 * @property {(value: any) => any} read the value in the option's inner unit; undefined where it is not acceptable
 *
 * @typedef {object} Option
 * @property {string} name as the library takes it
 * @property {string} key as the resolved options carry it, with its unit
 * @property {string} [short] one-letter flag
 * @property {string} flag long flag with its placeholder
 * @property {string} env
 * @property {Kind} kind
 * @property {any} fallback the default, in the inner unit
 * @property {string} shown the default, as help shows it
 * @property {string} help
 *
 * @typedef {object} Options the resolved options
 * @property {number} workers
 * @property {number | null} maxRssBytes
 * @property {number | null} hardRssBytes
 * @property {'rss' | 'pss' | 'uss'} metric
 * @property {'auto' | 'smaps_rollup' | 'smaps' | 'pidusage'} meter
 * @property {number} intervalMs
 * @property {number} samples
 * @property {number} jitter a fraction, 0 to 0.9
 * @property {number | null} maxRequests
 * @property {number | null} maxAgeMs
 * @property {number} maxSurge
 * @property {number} maxUnavailable
 * @property {'listening' | 'online' | 'message'} readyOn
 * @property {number} readyTimeoutMs
 * @property {number} drainTimeoutMs
 * @property {number} killTimeoutMs
 * @property {number} stopLingerMs
 * @property {number} stuckTimeoutMs
 * @property {string[]} nodeOptions
 * @property {boolean} handoff
 * @property {'even' | 'shared'} schedule
 * @property {string | null} journal
 * @property {'pretty' | 'json' | 'silent' | null} log null: pretty on a terminal, else json
 * @property {boolean} prefix
 * @property {'default' | 'huge-heap' | 'no-mark-sweep'} gc
 * @property {'recycle' | 'collect'} onBudget
 * @property {number} standby
 * @property {boolean} compileCache
 * @property {string | null} name null: the app's
 * @property {string | null} control path of the control socket; null: by name; none: no socket
 * @property {{ host: string, port: number } | null} admin
 * @property {boolean} adminAllowRemote
 */

const LONGEST_MS = 2 ** 31 - 1 // Node's timers hold no more

/** @type {Record<string, (...a: any[]) => Kind>} */
const kinds = {
  count: (min, max) => ({
    accepts: `a whole number from ${min} to ${max}`,
    read: value => inRange(/^\d+$/.test(String(value)) ? Number(value) : NaN, min, max)
  }),
  workers: () => ({
    accepts: 'a whole number from 1 to 1024, or auto',
    read: value => value === 'auto' ? value : kinds.count(1, 1024).read(value)
  }),
  size: () => ({
    accepts: 'a size of at least 1MiB, such as 512MiB or 1.5G',
    read: value => inRange(parseSize(value) ?? NaN, 1024 ** 2, Number.MAX_SAFE_INTEGER)
  }),
  time: (min, text) => ({
    accepts: `a time of ${text} to 24 days, such as 500ms, 30s or 2h`,
    read: value => inRange(parseTime(value) ?? NaN, min, LONGEST_MS)
  }),
  percent: () => ({
    accepts: 'a percentage from 0 to 90, such as 10 or 10%',
    read: value => {
      const percent = inRange(/^\d+(\.\d+)?%?$/.test(String(value)) ? parseFloat(value) : NaN, 0, 90)
      return percent === undefined ? undefined : percent / 100
    }
  }),
  oneOf: (...values) => ({
    accepts: `one of ${values.join(', ')}`,
    read: value => values.includes(value) ? value : undefined
  }),
  path: () => ({
    accepts: 'a path',
    read: value => typeof value === 'string' && value !== '' ? value : undefined
  }),
  name: () => ({
    accepts: 'a name of up to 64 letters, digits, dots, dashes and underscores, which begins with none of the three',
    read: value => /^[A-Za-z0-9][\w.-]{0,63}$/.test(String(value)) ? String(value) : undefined
  }),
  address: () => ({
    accepts: 'a port, or host:port, such as 9100, 127.0.0.1:9100 or [::1]:9100',
    read: value => {
      const found = /^(?:(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<host>[^:[\]\s]+)):)?(?<port>\d+)$/.exec(String(value))?.groups
      const port = inRange(Number(found?.port ?? NaN), 0, 65535)
      return port === undefined ? undefined : { host: found?.v6 ?? found?.host ?? '127.0.0.1', port }
    }
  }),
  list: () => ({
    accepts: 'Node or V8 flags, each starting with -',
    read: value => {
      const list = Array.isArray(value) ? value : String(value).split(/\s+/).filter(Boolean)
      return list.every(item => typeof item === 'string' && item.startsWith('-')) ? list : undefined
    }
  }),
  boolean: () => ({
    accepts: 'true or false (also 1 or 0)',
    read: value => new Map([['true', true], ['1', true], ['false', false], ['0', false]]).get(String(value))
  })
}

/** @type {readonly Readonly<Option>[]} */
const OPTIONS = Object.freeze([
  row('workers', '-w, --workers <n|auto>', kinds.workers(), 'auto', 'auto', 'workers; auto is 2×CPU+1'),
  row('maxRss', '-m, --max-rss <size>', kinds.size(), null, 'none', 'soft budget per worker, in the unit of --metric', 'maxRssBytes'),
  row('hardRss', '--hard-rss <size>', kinds.size(), null, '1.25 × soft', 'over it, one sample is enough to condemn', 'hardRssBytes'),
  row('metric', '--metric <rss|pss|uss>', kinds.oneOf('rss', 'pss', 'uss'), 'rss', 'rss', 'the figure that is held against the budget'),
  row('meter', '--meter <name>', kinds.oneOf('auto', 'smaps_rollup', 'smaps', 'pidusage'), 'auto', 'auto', 'auto, smaps_rollup, smaps or pidusage; auto on Linux: statm stands guard and smaps_rollup decides; elsewhere pidusage'),
  row('interval', '-i, --interval <time>', kinds.time(50, '50ms'), 1000, '1s', 'how often every worker is measured', 'intervalMs'),
  row('samples', '--samples <n>', kinds.count(1, 1000), 2, '2', 'consecutive samples over the soft budget before a worker is condemned'),
  row('jitter', '--jitter <percent>', kinds.percent(), 0.1, '10', "each worker's budgets vary by up to this much, downwards only"),
  row('maxRequests', '--max-requests <n>', kinds.count(1, 1e12), null, 'none', 'requests before a worker is replaced'),
  row('maxAge', '--max-age <time>', kinds.time(1000, '1s'), null, 'none', 'time in service before a worker is replaced', 'maxAgeMs'),
  row('maxSurge', '--max-surge <n>', kinds.count(0, 1024), 1, '1', 'replacements that may run beside the fleet; also how many recycle at once'),
  row('maxUnavailable', '--max-unavailable <n>', kinds.count(0, 1024), 0, '0', 'workers that may be missing; --max-surge 0 needs at least 1 (drain first) and 2 workers'),
  row('readyOn', '--ready-on <what>', kinds.oneOf('listening', 'online', 'message'), 'listening', 'listening', "listening: on every address that its predecessor had; online; message: process.send('ready')"),
  row('readyTimeout', '--ready-timeout <time>', kinds.time(100, '100ms'), 30_000, '30s', 'a worker that is not ready by then is given up', 'readyTimeoutMs'),
  row('drainTimeout', '--drain-timeout <time>', kinds.time(0, '0'), 30_000, '30s', 'what is still in flight by then is cut, and named in the journal', 'drainTimeoutMs'),
  row('killTimeout', '--kill-timeout <time>', kinds.time(0, '0'), 5000, '5s', 'from SIGTERM to SIGKILL', 'killTimeoutMs'),
  row('stopLinger', '--stop-linger <time>', kinds.time(0, '0'), 5000, '5s', 'how long idle connections are held when the fleet stops', 'stopLingerMs'),
  row('stuckTimeout', '--stuck-timeout <time>', kinds.time(1000, '1s'), 30_000, '30s', 'an event loop silent for this long is replaced', 'stuckTimeoutMs'),
  row('nodeOption', '--node-option <flag>', kinds.list(), [], 'none', 'Node or V8 flag for the workers; repeatable', 'nodeOptions'),
  row('handoff', '--no-handoff', kinds.boolean(), true, 'on', 'drain by Connection: close instead of moving keep-alive connections to a sibling'),
  row('schedule', '--schedule <even|shared>', kinds.oneOf('even', 'shared'), 'even', 'even', 'even: who has most leaves the queue to the others, and gives idle connections away; shared: whoever comes first accepts'),
  row('journal', '--journal <file>', kinds.path(), null, 'none', 'append what happens to this file, as NDJSON; reopened when it is rotated'),
  row('log', '--log <format>', kinds.oneOf('pretty', 'json', 'silent'), null, 'pretty on a terminal, else json', "the supervisor's log on stderr: pretty, json or silent"),
  row('gc', '--gc <profile>', kinds.oneOf('default', 'huge-heap', 'no-mark-sweep'), 'default', 'default', 'V8 flags for the workers: default, huge-heap or no-mark-sweep; the last two need --max-rss'),
  row('onBudget', '--on-budget <recycle|collect>', kinds.oneOf('recycle', 'collect'), 'recycle', 'recycle', 'collect: a worker over budget is taken out of rotation and collects its garbage; it is recycled only if that was not enough'),
  row('standby', '--standby <n>', kinds.count(0, 64), 0, '0', 'replacements that are booted ahead and wait out of rotation; they count as surge for memory'),
  row('compileCache', '--no-compile-cache', kinds.boolean(), true, 'on, from Node 22.1', "do not keep the workers' compiled code on disk for the next to boot faster"),
  row('name', '--name <name>', kinds.name(), null, "the app's", 'what this fleet is called by `recycle ls` and the other commands'),
  row('control', '--control <path|none>', kinds.path(), null, 'by --name, in $XDG_RUNTIME_DIR/recycle or /tmp/recycle-<uid>', 'control socket, for `recycle status` and the other commands; none: no socket'),
  row('admin', '--admin <[host:]port>', kinds.address(), null, 'none', 'serve /metrics, /healthz, /readyz, /status and a live page over HTTP'),
  row('adminAllowRemote', '--admin-allow-remote', kinds.boolean(), false, 'off', 'let --admin listen on an address that is not loopback'),
  row('prefix', '--prefix', kinds.boolean(), false, 'off', "put the slot before each line of the workers' output")
])

/**
 * @param {string} name @param {string} flags @param {Kind} kind @param {any} fallback
 * @param {string} shown @param {string} help @param {string} [key]
 * @returns {Readonly<Option>}
 */
function row (name, flags, kind, fallback, shown, help, key = name) {
  const [, short, flag] = /** @type {RegExpExecArray} */ (/^(?:(-\w), )?(--.*)$/.exec(flags))
  const env = `RECYCLE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
  return Object.freeze({ name, key, short, flag, env, kind, fallback, shown, help })
}

/**
 * Resolves options: what was given, else the environment, else the default; checks each alone, then together.
 *
 * @param {Record<string, any>} given by name, sizes and times as text or in bytes and milliseconds
 * @param {{ env?: Record<string, string | undefined>, parallelism: number, nameOf?: (o: Option) => string }} from
 *   `nameOf` says what an option is called where it was given: a flag on the command line, its name in the library
 * @returns {Readonly<Options>}
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION
 */
function resolveOptions (given, { env = {}, parallelism, nameOf = o => o.name }) {
  const unknown = Object.keys(given).find(name => !OPTIONS.some(o => o.name === name))
  if (unknown) throw new RecycleError('RECYCLE_UNKNOWN_OPTION', { option: unknown, accepts: OPTIONS.map(o => o.name).join(', ') })

  /** @type {any} */
  const resolved = {}
  for (const option of OPTIONS) {
    const fromEnv = given[option.name] === undefined && env[option.env] ? env[option.env] : undefined
    const value = given[option.name] ?? fromEnv
    resolved[option.key] = value === undefined || value === null
      ? option.fallback
      : check(option, fromEnv === undefined ? nameOf(option) : option.env, value)
  }
  if (resolved.workers === 'auto') resolved.workers = 2 * parallelism + 1
  if (resolved.maxRssBytes !== null) resolved.hardRssBytes ??= Math.round(1.25 * resolved.maxRssBytes)
  checkTogether(resolved, name => {
    const option = /** @type {Option} */ (OPTIONS.find(o => o.name === name))
    return { called: nameOf(option), text: given[name] ?? env[option.env] }
  })
  return Object.freeze(resolved)
}

/** @param {Option} option @param {string} name @param {any} given */
function check (option, name, given) {
  const value = option.kind.read(given)
  if (value === undefined) throw new RecycleError('RECYCLE_BAD_OPTION', { option: name, given, accepts: option.kind.accepts })
  return value
}

/** @param {Options} options @param {(name: string) => { called: string, text: unknown }} of what was given */
function checkTogether ({ maxRssBytes, hardRssBytes, maxSurge, maxUnavailable, workers }, of) {
  const refuse = (/** @type {string} */ name, /** @type {string} */ accepts) => {
    throw new RecycleError('RECYCLE_BAD_OPTION', { option: of(name).called, given: of(name).text, accepts })
  }
  if (hardRssBytes !== null && (maxRssBytes === null || hardRssBytes < maxRssBytes)) {
    refuse('hardRss', `a size of at least ${of('maxRss').called}, which must be set too`)
  }
  if (maxSurge === 0 && (maxUnavailable < 1 || workers < 2)) {
    refuse('maxSurge', `0 only with ${of('maxUnavailable').called} of at least 1 and at least 2 workers`)
  }
  if (maxUnavailable >= workers) refuse('maxUnavailable', `a whole number below that of the workers (${workers})`)
}

/** @param {number} value @param {number} min @param {number} max */
function inRange (value, min, max) {
  return value >= min && value <= max ? value : undefined
}

module.exports = { OPTIONS, resolveOptions }
