'use strict'

const t = require('tap')
const fc = require('fast-check')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')

const MIB = 1024 ** 2

/** @param {Record<string, any>} given @param {Record<string, string>} [env] */
const resolve = (given, env = {}) => resolveOptions(given, { env, parallelism: 2 })

/** name: [flag, key, environment, default, text, what it is read as, text that is refused] */
const ROWS = {
  workers: ['--workers <n|min..max|auto>', 'workers', 'RECYCLE_WORKERS', 5, '3', 3, ['0', '1025', '1.5', '-1', 'many', '', '3..2', '0..2', '1..1025', '2..', '..2', '1..2..3', '-1..2']],
  maxRss: ['--max-rss <size|auto>', 'maxRssBytes', 'RECYCLE_MAX_RSS', null, '512MiB', 512 * MIB, ['1k', '0', '512foo', 'much']],
  hardRss: ['--hard-rss <size>', 'hardRssBytes', 'RECYCLE_HARD_RSS', null, '700M', 700 * MIB, ['1k', '512foo']],
  metric: ['--metric <rss|anon|pss|uss>', 'metric', 'RECYCLE_METRIC', 'rss', 'pss', 'pss', ['PSS', 'vsz', '']],
  meter: ['--meter <name>', 'meter', 'RECYCLE_METER', 'auto', 'smaps', 'smaps', ['ps', 'toString']],
  interval: ['--interval <time>', 'intervalMs', 'RECYCLE_INTERVAL', 1000, '50ms', 50, ['49ms', '0', '25d', 'often']],
  samples: ['--samples <n>', 'samples', 'RECYCLE_SAMPLES', 2, '1', 1, ['0', '1001', '2.5', '1e2']],
  jitter: ['--jitter <percent>', 'jitter', 'RECYCLE_JITTER', 0.1, '25%', 0.25, ['91', '-1', '%', '10%%']],
  maxRequests: ['--max-requests <n>', 'maxRequests', 'RECYCLE_MAX_REQUESTS', null, '10000', 10_000, ['0', '1.5', 'all']],
  maxAge: ['--max-age <time>', 'maxAgeMs', 'RECYCLE_MAX_AGE', null, '2h', 7_200_000, ['999ms', 'old']],
  maxHeap: ['--max-heap <size|percent>', 'maxHeap', 'RECYCLE_MAX_HEAP', null, '80%', { share: 0.8 }, ['0%', '101%', '80', '%', 'all']],
  maxFds: ['--max-fds <n|percent>', 'maxFds', 'RECYCLE_MAX_FDS', null, '500', { most: 500 }, ['15', '0%', '1.5', 'all']],
  maxLag: ['--max-lag <time>', 'maxLagMs', 'RECYCLE_MAX_LAG', null, '200ms', 200, ['9ms', 'late']],
  maxHandles: ['--max-handles <n>', 'maxHandles', 'RECYCLE_MAX_HANDLES', null, '5000', 5000, ['15', '50%', 'all']],
  health: ['--health <path>', 'health', 'RECYCLE_HEALTH', null, '/healthz?deep=1', '/healthz?deep=1', ['healthz', '/a b', '', 'http://x/']],
  healthPeriod: ['--health-period <time>', 'healthPeriodMs', 'RECYCLE_HEALTH_PERIOD', 10_000, '5s', 5000, ['99ms']],
  healthTimeout: ['--health-timeout <time>', 'healthTimeoutMs', 'RECYCLE_HEALTH_TIMEOUT', 1000, '200ms', 200, ['9ms']],
  healthFailureThreshold: ['--health-failure-threshold <n>', 'healthFailureThreshold', 'RECYCLE_HEALTH_FAILURE_THRESHOLD', 3, '1', 1, ['0', '1001']],
  healthAction: ['--health-action <what>', 'healthAction', 'RECYCLE_HEALTH_ACTION', 'replace', 'rotate', 'rotate', ['kill']],
  canary: ['--canary <n|n%>', 'canary', 'RECYCLE_CANARY', null, '10%', { share: 0.1 }, ['-1', '1025', '101%', 'all']],
  bake: ['--bake <time>', 'bakeMs', 'RECYCLE_BAKE', 120_000, '30s', 30_000, ['9s', 'soon']],
  undecided: ['--undecided <go|back>', 'undecided', 'RECYCLE_UNDECIDED', 'back', 'go', 'go', ['stay', '']],
  onException: ['--on-exception <what>', 'onException', 'RECYCLE_ON_EXCEPTION', 'drain', 'exit', 'exit', ['no', '', 'Drain']],
  failover: ['--no-failover', 'failover', 'RECYCLE_FAILOVER', true, 'false', false, ['no', '']],
  appMetrics: ['--no-app-metrics', 'appMetrics', 'RECYCLE_APP_METRICS', true, 'false', false, ['no', '']],
  healthInitialDelay: ['--health-initial-delay <time>', 'healthInitialDelayMs', 'RECYCLE_HEALTH_INITIAL_DELAY', 0, '2s', 2000, ['-1s']],
  maxSurge: ['--max-surge <n>', 'maxSurge', 'RECYCLE_MAX_SURGE', 1, '2', 2, ['-1', '1025']],
  maxUnavailable: ['--max-unavailable <n>', 'maxUnavailable', 'RECYCLE_MAX_UNAVAILABLE', 0, '1', 1, ['-1', '50%']],
  readyOn: ['--ready-on <what>', 'readyOn', 'RECYCLE_READY_ON', 'listening', 'message', 'message', ['ready']],
  readyTimeout: ['--ready-timeout <time>', 'readyTimeoutMs', 'RECYCLE_READY_TIMEOUT', 30_000, '1m', 60_000, ['99ms']],
  drainTimeout: ['--drain-timeout <time>', 'drainTimeoutMs', 'RECYCLE_DRAIN_TIMEOUT', 30_000, '0', 0, ['-1', '25d']],
  killTimeout: ['--kill-timeout <time>', 'killTimeoutMs', 'RECYCLE_KILL_TIMEOUT', 5000, '100ms', 100, ['soon']],
  leaveChildren: ['--leave-children', 'leaveChildren', 'RECYCLE_LEAVE_CHILDREN', false, '1', true, ['yes']],
  stopLinger: ['--stop-linger <time>', 'stopLingerMs', 'RECYCLE_STOP_LINGER', 5000, '0', 0, ['a while']],
  plain: ['--plain', 'plain', 'RECYCLE_PLAIN', false, 'true', true, ['perhaps']],
  stopDelay: ['--stop-delay <time>', 'stopDelayMs', 'RECYCLE_STOP_DELAY', 0, '5s', 5000, ['-1s', 'a while']],
  revive: ['--revive', 'revive', 'RECYCLE_REVIVE', false, '1', true, ['yes']],
  orphanTimeout: ['--orphan-timeout <time>', 'orphanTimeoutMs', 'RECYCLE_ORPHAN_TIMEOUT', 60_000, '0', 0, ['a while']],
  stopTimeout: ['--stop-timeout <time>', 'stopTimeoutMs', 'RECYCLE_STOP_TIMEOUT', null, '30s', 30_000, ['2999ms', 'soon']],
  keepAliveTimeout: ['--keep-alive-timeout <time>', 'keepAliveTimeoutMs', 'RECYCLE_KEEP_ALIVE_TIMEOUT', null, '65s', 65_000, ['0', '999ms']],
  stuckTimeout: ['--stuck-timeout <time>', 'stuckTimeoutMs', 'RECYCLE_STUCK_TIMEOUT', 30_000, '5s', 5000, ['999ms']],
  nodeOption: ['--node-option <flag>', 'nodeOptions', 'RECYCLE_NODE_OPTION', [], '--max-old-space-size=200 --expose-gc', ['--max-old-space-size=200', '--expose-gc'], ['expose-gc', '--a b']],
  handoff: ['--no-handoff', 'handoff', 'RECYCLE_HANDOFF', true, 'false', false, ['no', '2', 'toString', 'constructor']],
  replay: ['--replay <off|safe>', 'replay', 'RECYCLE_REPLAY', 'safe', 'off', 'off', ['all', 'on', '']],
  replayAfter: ['--replay-after <time>', 'replayAfterMs', 'RECYCLE_REPLAY_AFTER', null, '0', 0, ['-1s', 'soon']],
  sticky: ['--sticky <session>', 'sticky', 'RECYCLE_STICKY', null, 'cookie:connect.sid', { by: 'cookie', name: 'connect.sid' }, ['cookie', 'cookie:', 'cookie:a b', 'body:x', 'IP']],
  schedule: ['--schedule <even|shared>', 'schedule', 'RECYCLE_SCHEDULE', 'even', 'shared', 'shared', ['rr', '']],
  journal: ['--journal <file>', 'journal', 'RECYCLE_JOURNAL', null, 'j.ndjson', 'j.ndjson', []],
  log: ['--log <format>', 'log', 'RECYCLE_LOG', null, 'json', 'json', ['xml']],
  logLevel: ['--log-level <level>', 'logLevel', 'RECYCLE_LOG_LEVEL', null, 'debug', 'debug', ['silent']],
  gc: ['--gc <profile>', 'gc', 'RECYCLE_GC', 'default', 'huge-heap', 'huge-heap', ['none', '']],
  heap: ['--heap <default|auto>', 'heap', 'RECYCLE_HEAP', 'default', 'auto', 'auto', ['4G', 'none']],
  onBudget: ['--on-budget <recycle|collect>', 'onBudget', 'RECYCLE_ON_BUDGET', 'recycle', 'collect', 'collect', ['kill']],
  onCondemn: ['--on-condemn <heapdump[:n]>', 'heapdumpsPerDay', 'RECYCLE_ON_CONDEMN', null, 'heapdump:3', 3, ['heapdump:0', 'heapdump:', 'heapdump:1001', 'dump', '3', '']],
  heapdumpDir: ['--heapdump-dir <folder>', 'heapdumpDir', 'RECYCLE_HEAPDUMP_DIR', 'heapdumps', '/var/dumps', '/var/dumps', []],
  heapdumpLimit: ['--heapdump-limit <size>', 'heapdumpLimitBytes', 'RECYCLE_HEAPDUMP_LIMIT', 4 * 1024 * MIB, '10GiB', 10 * 1024 * MIB, ['1k', 'all']],
  leakReport: ['--leak-report', 'leakReport', 'RECYCLE_LEAK_REPORT', false, '1', true, ['yes']],
  memoryByRoute: ['--memory-by-route', 'memoryByRoute', 'RECYCLE_MEMORY_BY_ROUTE', false, '1', true, ['yes']],
  standby: ['--standby <n>', 'standby', 'RECYCLE_STANDBY', 0, '2', 2, ['-1', '65', 'one']],
  compileCache: ['--no-compile-cache', 'compileCache', 'RECYCLE_COMPILE_CACHE', true, '0', false, ['no']],
  fork: ['--fork <spawn|mold>', 'fork', 'RECYCLE_FORK', 'spawn', 'mold', 'mold', ['clone', '']],
  warm: ['--warm <n>', 'warm', 'RECYCLE_WARM', 0, '200', 200, ['-1', 'hot']],
  forkUnsafe: ['--fork-unsafe', 'forkUnsafe', 'RECYCLE_FORK_UNSAFE', false, '1', true, ['yes']],
  name: ['--name <name>', 'name', 'RECYCLE_NAME', null, 'shop-2', 'shop-2', ['.shop', 'a/b', '', 'a b']],
  control: ['--control <path|none>', 'control', 'RECYCLE_CONTROL', null, 'none', 'none', []],
  admin: ['--admin <[host:]port>', 'admin', 'RECYCLE_ADMIN', null, '[::1]:9100', { host: '::1', port: 9100 }, ['65536', 'host:', ':1', '::1']],
  adminAllowRemote: ['--admin-allow-remote', 'adminAllowRemote', 'RECYCLE_ADMIN_ALLOW_REMOTE', false, 'true', true, ['yes']],
  output: ['--output <inherit|lines>', 'output', 'RECYCLE_OUTPUT', 'inherit', 'lines', 'lines', ['line', 'pipe', '1']],
  prefix: ['--prefix', 'prefix', 'RECYCLE_PREFIX', false, '1', true, ['yes', 'constructor', '__proto__']]
}

for (const option of OPTIONS) {
  const row = /** @type {any} */ (ROWS)[option.name]
  t.test(`${option.flag}: default, flag, environment, kind`, async t => {
    t.ok(row, 'the expectations have an entry for it')
    const [flag, key, env, fallback, text, value, refused] = row
    t.equal(option.flag, flag)
    t.equal(option.key, key)
    t.equal(option.env, env)
    t.ok(option.help.length > 0 && option.defaultText.length > 0)

    // Options that must accompany it.
    const company = ['hardRss', 'gc', 'heap'].includes(option.name) ? { maxRss: '100M' } : ['warm', 'forkUnsafe'].includes(option.name) ? { fork: 'mold' } : /^health./.test(option.name) ? { health: '/' } : {}
    const resolvedKey = (/** @type {any} */ options) => options[key]
    t.same(resolvedKey(resolve({})), fallback, 'its default')
    t.same(resolvedKey(resolve({ ...company, [option.name]: text })), value, 'as given')
    t.same(resolvedKey(resolve(company, { [env]: text })), value, 'from the environment')
    t.same(resolvedKey(resolve({ ...company, [option.name]: null })), option.name === 'hardRss' ? 125 * MIB : fallback, 'null is the default')

    for (const bad of refused) {
      t.throws(() => resolve({ ...company, [option.name]: bad }), {
        code: 'RECYCLE_BAD_OPTION',
        exitCode: 2,
        message: `${option.name} was given ${JSON.stringify(bad)}; it takes ${option.kind.accepts}`
      })
    }
  })
}

t.test('a time without a unit is refused with both readings, from every origin; 0 is a time', async t => {
  const times = OPTIONS.filter(option => option.flag.includes('<time>'))
  t.ok(times.length > 10)
  for (const { name, env, key } of times) {
    const sentence = (/** @type {string} */ called, /** @type {string} */ given) => ({
      code: 'RECYCLE_BAD_OPTION', exitCode: 2, message: `${called} was given ${given}; it takes a time with a unit: 30s for seconds, or 30ms for milliseconds`
    })
    const company = /^health./.test(name) ? { health: '/' } : {}
    const file = (/** @type {any} */ value) => resolveOptions({}, { file: { name: 'x.json', values: { ...company, [name]: value } }, parallelism: 2 })
    t.throws(() => resolve({ ...company, [name]: '30' }), sentence(name, '"30"'))
    t.throws(() => resolve({ ...company, [name]: 30 }), sentence(name, '30'), 'in the library')
    t.throws(() => resolve(company, { [env]: '30' }), sentence(env, '"30"'))
    t.throws(() => file(30), sentence(`${name} in x.json`, '30'))
    t.throws(() => file('30'), sentence(`${name} in x.json`, '"30"'))
    t.equal(/** @type {any} */ (resolve({ ...company, [name]: '20s' }))[key], 20_000)
  }
  for (const zero of [0, '0']) t.match(resolve({ drainTimeout: zero, replayAfter: zero, stopLinger: zero }), { drainTimeoutMs: 0, replayAfterMs: 0, stopLingerMs: 0 })
})

t.test('the expectations have no option that the table lacks', async t => {
  t.same(Object.keys(ROWS).sort(), OPTIONS.map(o => o.name).sort())
})

t.test('names, flags, letters, keys and environment names are each unique', async t => {
  for (const field of /** @type {const} */ (['name', 'key', 'flag', 'env', 'short'])) {
    const values = OPTIONS.map(o => o[field]).filter(Boolean)
    t.same([...new Set(values)], values, field)
  }
  t.same(OPTIONS.filter(o => o.short).map(o => [o.short, o.name]), [['-w', 'workers'], ['-m', 'maxRss'], ['-i', 'interval']])
})

t.test('whatever text an option is given, it is refused or has the type that the default or a good value has', async t => {
  for (const option of OPTIONS) {
    const wanted = typeof /** @type {any} */ (ROWS)[option.name][5]
    fc.assert(fc.property(fc.string(), text => {
      const value = option.kind.read(text)
      const type = typeof value
      if (value === undefined || value === 'auto' || type === wanted) return
      throw new Error(`${option.name} reads ${JSON.stringify(text)} as a ${type}`)
    }))
  }
  t.pass()
})
