// Made by npm run schema.

/** The options of a fleet: sizes are numbers of bytes or text, times are text with a unit. */
export interface FleetOptions {
  /** workers; min..max: as many as the load needs; auto is 2×CPU+1, by the quota of CPUs where there is one, or fewer where the memory is not enough (default: auto) */
  workers?: number | 'auto' | string
  /** soft budget per worker, in the unit of --metric; auto: a share of the container's memory (default: none) */
  maxRss?: number | string | 'auto'
  /** hard budget: one sample above it condemns a worker (default: 1.25 × soft) */
  hardRss?: number | string
  /** figure that is compared with the budget (default: rss; uss with --fork mold, or pss with --max-rss auto too) */
  metric?: 'rss' | 'anon' | 'pss' | 'uss'
  /** auto, smaps_rollup, smaps or pidusage; auto on Linux: statm first, smaps_rollup near the budget; elsewhere pidusage (default: auto) */
  meter?: 'auto' | 'smaps_rollup' | 'smaps' | 'pidusage'
  /** interval between two samples of a worker (default: 1s) */
  interval?: string
  /** consecutive samples over the soft budget before a worker is condemned (default: 2) */
  samples?: number
  /** each worker's budgets vary by up to this much, downwards only (default: 10) */
  jitter?: number | string
  /** requests before a worker is replaced (default: none) */
  maxRequests?: number
  /** time in service before a worker is replaced (default: none) */
  maxAge?: string
  /** replacements that may run beside the fleet; also limits concurrent recycles (default: 1) */
  maxSurge?: number
  /** workers that may be missing; --max-surge 0 needs at least 1 (drain first); with one worker clients wait meanwhile (default: 0) */
  maxUnavailable?: number
  /** listening: the worker listens on every address of its predecessor; online; message: process.send('ready') (default: listening) */
  readyOn?: 'listening' | 'online' | 'message'
  /** a worker that is not ready by then is killed (default: 30s) */
  readyTimeout?: string
  /** requests still in flight by then are cut, and named in the journal (default: 30s) */
  drainTimeout?: 0 | string
  /** time from SIGTERM to SIGKILL; and from the drain timeout to the SIGKILL of a worker whose event loop is blocked (default: 5s) */
  killTimeout?: 0 | string
  /** do not end the processes that a worker has started when it is gone (default: off) */
  leaveChildren?: boolean
  /** time for which idle connections stay open when the fleet stops (default: 5s) */
  stopLinger?: 0 | string
  /** time for which workers serve on when the supervisor has died, until another one adopts them; 0: they leave at once (default: 60s) */
  orphanTimeout?: 0 | string
  /** workers start the supervisor again when it has died, where nothing else does (default: off) */
  revive?: boolean
  /** time that a stop may take in all, as until the SIGKILL of a platform: the drain and kill timeouts of a stop follow from it (default: none) */
  stopTimeout?: string
  /** Node or V8 flag for the workers; repeatable (default: none) */
  nodeOption?: string[] | string
  /** at a replacement close keep-alive connections after their next response, in place of moving them (default: on) */
  handoff?: boolean
  /** safe: at the drain timeout a GET, HEAD or OPTIONS request that is not answered moves to another worker, in place of being cut (default: safe) */
  replay?: 'off' | 'safe'
  /** time from which on a leaving worker gives unanswered requests away; 0 for long polls (default: the drain timeout) */
  replayAfter?: 0 | string
  /** even: a worker that is busier, or has more connections, than the others gives some away, and one with more stops accepting; shared: any worker accepts (default: even) */
  schedule?: 'even' | 'shared'
  /** no addon, and nothing inside Node.js is used for what clients keep; a recycle closes connections, and a crash cuts them (default: off) */
  plain?: boolean
  /** file to append events and samples to, as NDJSON; reopened when it is rotated (default: none) */
  journal?: string
  /** the supervisor's log on stderr: pretty, json or silent (default: pretty on a terminal, else json) */
  log?: 'pretty' | 'json' | 'silent'
  /** least level of what the log has: debug (every event, with all options), info, warn or error (default: info; debug with --log json) */
  logLevel?: 'debug' | 'info' | 'warn' | 'error'
  /** replacements that are booted in advance and wait out of rotation; their memory is like that of a surge (default: 0) */
  standby?: number
  /** do not cache compiled code on disk, which makes later workers boot faster (default: on) */
  compileCache?: boolean
  /** name of the fleet for `recycle ls` and the other commands (default: the app's) */
  name?: string
  /** control socket, for `recycle status` and the other commands; none: no socket (default: by --name, in $XDG_RUNTIME_DIR/recycle or /tmp/recycle-<uid>) */
  control?: string
  /** serve /metrics, /healthz, /readyz, /status and a live page over HTTP (default: none) */
  admin?: number | string
  /** let --admin listen on an address that is not loopback (default: off) */
  adminAllowRemote?: boolean
  /** cookie:NAME, query:NAME, header:NAME, path:N (a segment) or ip: what names the session of a request; the requests of a session reach the same worker (default: none) */
  sticky?: string
  /** mold: workers are forked from a process that has loaded the app, in milliseconds, and share its memory; Linux only (default: spawn) */
  fork?: 'spawn' | 'mold'
  /** with --fork mold: requests (GET /) that the app answers before workers are forked, so that its code is compiled (default: 0) */
  warm?: number
  /** with --fork mold: fork although the app has opened files or connections, or started threads, that workers cannot share (default: off) */
  forkUnsafe?: boolean
  /** V8 flags for the workers: default, huge-heap or no-mark-sweep; the last two need --max-rss (default: default) */
  gc?: 'default' | 'huge-heap' | 'no-mark-sweep'
  /** auto: V8's limit for the heap of a worker follows --max-rss, which it needs, with --gc default (default: default) */
  heap?: 'default' | 'auto'
  /** collect: a worker over budget collects its garbage out of rotation, and is recycled only if that is not enough (default: recycle) */
  onBudget?: 'recycle' | 'collect'
  /** heapdump: before a worker condemned for its memory is recycled, it writes a heap snapshot out of rotation; at most n a day, 1 by default (default: none) */
  onCondemn?: string
  /** folder for the snapshots of --on-condemn; created if it does not exist, for this user alone (default: heapdumps) */
  heapdumpDir?: string
  /** size that the snapshots in --heapdump-dir may reach; beyond it none is written (default: 4GiB) */
  heapdumpLimit?: number | string
  /** heap in use after a mark-sweep before a worker is replaced, as a size or a percentage of V8's limit (default: none) */
  maxHeap?: number | string
  /** open file descriptors, connections among them, before a worker is replaced, as a number or a percentage of its limit; Linux only (default: none) */
  maxFds?: number | string
  /** delay of a worker's event loop, 99th percentile over --samples intervals, before it is replaced (default: none) */
  maxLag?: string
  /** what keeps the event loop of a worker alive, connections and timers among it, before it is replaced (default: none) */
  maxHandles?: number
  /** a worker whose event loop has been blocked for this long is replaced; it is killed when its replacement is ready, or at once where it leaves already (default: 30s) */
  stuckTimeout?: string
  /** each worker is probed by GET requests for this path; one that does not pass does not become ready, and one that fails is replaced (default: none) */
  health?: string
  /** time between two probes of a worker (default: 10s) */
  healthPeriod?: string
  /** a probe without a response by then has failed (default: 1s) */
  healthTimeout?: string
  /** failed probes in a row before a worker is replaced (default: 3) */
  healthFailureThreshold?: number
  /** time from when a worker listens to its first probe (default: 0) */
  healthInitialDelay?: 0 | string
  /** rotate: a worker that fails its probes leaves the rotation, and returns when it passes one; the last one in rotation stays (default: replace) */
  healthAction?: 'replace' | 'rotate'
  /** count requests by route and find out which route leaks: bytes that its requests keep (default: off) */
  memoryByRoute?: boolean
  /** when budgets replace workers sooner than every hour, find out by itself which function leaks, as recycle leak does; once a day at most (default: off) */
  leakReport?: boolean
  /** drain: an exception that the app does not catch is answered with 500, and its worker is drained and replaced; exit: it ends the worker, as in Node.js (default: drain) */
  onException?: 'drain' | 'exit'
  /** the connections of a worker that dies die with it, instead of going on in another worker (default: on) */
  failover?: boolean
  /** lines: the workers' output passes through the supervisor, which keeps their lines whole; inherit: each worker writes by itself (default: inherit; lines with --prefix) */
  output?: 'inherit' | 'lines'
  /** prefix each line of the workers' output with the slot (default: off) */
  prefix?: boolean
  /** with --admin: do not serve the metrics that the app has in prom-client, added up over the workers (default: on) */
  appMetrics?: boolean
  /** time for which the app's servers keep idle connections, unless the app sets server.keepAliveTimeout; longer than the proxy in front keeps them, such as 65s (default: the app's, or Node's) */
  keepAliveTimeout?: string
  /** time for which a fleet that is to stop still accepts, while it is not ready and answers say Connection: close (default: 0) */
  stopDelay?: 0 | string
  /** a reload begins with so many workers of the new code, beside the others, and goes on only if they are as good (default: none) */
  canary?: number | string
  /** with --canary: how long they are compared (default: 2m) */
  bake?: string
  /** with --canary: what the reload does where they have had too few requests to tell (default: back) */
  undecided?: 'go' | 'back'
}

/** Sizes in bytes, times in ms. */
export interface ResolvedOptions {
  workers: number
  maxRssBytes: number | null
  hardRssBytes: number | null
  metric: 'rss' | 'anon' | 'pss' | 'uss' | null
  meter: 'auto' | 'smaps_rollup' | 'smaps' | 'pidusage'
  intervalMs: number
  samples: number
  jitter: number
  maxRequests: number | null
  maxAgeMs: number | null
  maxSurge: number
  maxUnavailable: number
  readyOn: 'listening' | 'online' | 'message'
  readyTimeoutMs: number
  drainTimeoutMs: number
  killTimeoutMs: number
  leaveChildren: boolean
  stopLingerMs: number
  orphanTimeoutMs: number
  revive: boolean
  stopTimeoutMs: number | null
  nodeOptions: string[]
  handoff: boolean
  replay: 'off' | 'safe'
  replayAfterMs: number | null
  schedule: 'even' | 'shared'
  plain: boolean
  journal: string | null
  log: 'pretty' | 'json' | 'silent' | null
  logLevel: 'debug' | 'info' | 'warn' | 'error' | null
  standby: number
  compileCache: boolean
  name: string | null
  control: string | null
  admin: { host: string, port: number } | null
  adminAllowRemote: boolean
  sticky: import('./features/sticky/session').SessionKey | null
  fork: 'spawn' | 'mold'
  warm: number
  forkUnsafe: boolean
  gc: 'default' | 'huge-heap' | 'no-mark-sweep'
  heap: 'default' | 'auto'
  onBudget: 'recycle' | 'collect'
  heapdumpsPerDay: number | null
  heapdumpDir: string
  heapdumpLimitBytes: number
  maxHeap: import('./core/limit').Limit | null
  maxFds: import('./core/limit').Limit | null
  maxLagMs: number | null
  maxHandles: number | null
  stuckTimeoutMs: number
  health: string | null
  healthPeriodMs: number
  healthTimeoutMs: number
  healthFailureThreshold: number
  healthInitialDelayMs: number
  healthAction: 'replace' | 'rotate'
  memoryByRoute: boolean
  leakReport: boolean
  onException: 'drain' | 'exit'
  failover: boolean
  output: 'inherit' | 'lines' | null
  prefix: boolean
  appMetrics: boolean
  keepAliveTimeoutMs: number | null
  stopDelayMs: number
  canary: import('./core/limit').Limit | null
  bakeMs: number
  undecided: 'go' | 'back'
}
