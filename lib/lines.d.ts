// Made by npm run schema.

/** Fields by event; docs/journal.md says what they mean. */
export interface JournalFields {
  'canary.verdict': { old?: readonly ({ requests: number, connections: number, squares: number, of: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, ofSquares: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, ofProducts: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, times: Record<string, number>, busyMs: number, memory: { ramps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, sweeps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, last: { requests: number, liveBytes: number } | null, lastSweep: { requests: number, liveBytes: number } | null }, slot: number, crashes: number, exceptions: number, half: { ramps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, sweeps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, last: { requests: number, liveBytes: number } | null, lastSweep: { requests: number, liveBytes: number } | null } | null, blocks: readonly { requests: number, busyMs: number, empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }[] })[], fresh?: readonly ({ requests: number, connections: number, squares: number, of: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, ofSquares: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, ofProducts: { empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }, times: Record<string, number>, busyMs: number, memory: { ramps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, sweeps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, last: { requests: number, liveBytes: number } | null, lastSweep: { requests: number, liveBytes: number } | null }, slot: number, crashes: number, exceptions: number, half: { ramps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, sweeps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, last: { requests: number, liveBytes: number } | null, lastSweep: { requests: number, liveBytes: number } | null } | null, blocks: readonly { requests: number, busyMs: number, empty: number, errors: number, refusals: number, unfinished: number, slowMedian: number, slowTail: number }[] })[], service?: { old: { ms: number, crashes: number, exceptions: number }, fresh: { ms: number, crashes: number, exceptions: number } }, isGood: boolean, why: string, verdict: 'bad' | 'going-on' | 'good' | 'undecided', decidedBy: 'crashes' | 'empty' | 'errors' | 'exceptions' | 'loop' | 'memory' | 'p50' | 'p99' | 'refusals' | 'unfinished' | null, workers: { old: number, fresh: number }, requests: { old: number, fresh: number }, leastRequests: number, limit: number, figures: readonly ({ name: 'crashes' | 'empty' | 'errors' | 'exceptions' | 'loop' | 'memory' | 'p50' | 'p99' | 'refusals' | 'unfinished', unit: 'bytes a request' | 'count' | 'ms a request' | 'ms' | 'share', old: number | null, fresh: number | null, slow: { old: number | null, fresh: number | null } | null, isWorse: boolean, p: number, why: string | null })[], isFinal: boolean, generation: number, before: number, bakeMs: number }
  collected: { emptyMs: number, pauseMs: number, tookMs: number, moved: number, externalBefore: number, externalAfter: number, heapUsedBefore: number, heapUsedAfter: number, rssBefore: number, rssAfter: number, slot: number | null, pid: number, reason: string, metric: 'anon' | 'pss' | 'rss' | 'uss', bytes: number | null, softBytes: number | null, isEnough: boolean | null }
  cpuprofile: { slot: number, pid: number, file: string, bytes: number, tookMs: number }
  'fleet.address-closed': { address: string }
  'fleet.admin': { url: string }
  'fleet.adopted': { pid: number, oldPid: number, since: number, gapMs: number, workers: readonly number[] }
  'fleet.control': { path: string | null }
  'fleet.failed': { code: string, error: string }
  'fleet.leak': { route: string, bytesPerRequest: number | null, low: number | null, high: number | null, requests: number }
  'fleet.left': { pid: number }
  'fleet.load': { isPinned: boolean, atMs: number, workers: number, serving: number, busy: number, requestsPerSecond: number, bootMs: number, fitting: number | null }
  'fleet.memory': { limitBytes: number, usedBytes: number, freshBytes: number | null, source: 'cgroup v1' | 'cgroup v2' | 'machine', pressure: { some: number, full: number } | null, limitHits: number | null, oomKills: number }
  'fleet.ready': { pid: number, listening: readonly string[], workers: number, maxRssBytes: number | null }
  'fleet.rejected': { generation: number, before: number, isReplaced: boolean, why: string }
  'fleet.reload': { generation: number }
  'fleet.reloaded': { generation: number, app: string | null }
  'fleet.resumed': { pid: number, oldPid: number }
  'fleet.scale': { busy?: number, requestsPerSecond?: number, from: number, to: number, reason: string, slots: readonly number[] }
  'fleet.signal': { signal: 'SIGHUP' | 'SIGUSR1' | 'SIGUSR2' | 'SIGWINCH', workers: number, told: number }
  'fleet.slept': { sleptMs: number }
  'fleet.socket': { fd: number, fdName: string | null, address: string }
  'fleet.start': { pid: number, predecessor: number | null, app: string, args: readonly string[], execArgv: readonly string[], meter: string, node: string, compileCache: string | null, hooks: readonly string[], options: import('./options').ResolvedOptions }
  'fleet.stop': { pid: number, recycles: number, failure: string | null }
  'fleet.stop-delay': { delayMs: number }
  'fleet.stopping': {  }
  'fleet.trial': { generation: number, before: number, slots: readonly number[] }
  'fleet.unpin': { workers: number, min: number, max: number }
  'fleet.upgrade': { pid: number | null, node: string }
  'fleet.upgrade-failed': { pid: number | null, why: string }
  'fleet.upgraded': { pid: number, oldPid: number, node: string }
  'fleet.warning': { warning: string, why?: string | null, found?: string | null, version?: string, crashes?: number, withinMs?: number, how?: string, requests?: number | readonly { request: string, crashes: number }[], slot?: number | null, pid?: number | null, addresses?: readonly string[] | readonly { address: string, slots: readonly number[] }[], lateMs?: number, file?: string | null, bytes?: number | null, softBytes?: number | null, raisedBytes?: number | null, metric?: 'anon' | 'pss' | 'rss' | 'uss', anonBytes?: number | null, failures?: number, isReplaced?: boolean, orphan?: number, app?: string, named?: string, what?: string, stack?: string, connections?: number, capacity?: number, workers?: number, key?: string, missing?: string, desired?: number, limitBytes?: number | null, source?: 'cgroup v1' | 'cgroup v2' | 'machine' | null, freshBytes?: number, beside?: number, fitting?: number, usedBytes?: number, nextLookMs?: number, fd?: number, fdName?: string | null, address?: string | null, by?: string | null, forMs?: number, cpus?: number, min?: number, max?: number, asked?: number, busy?: number, most?: number, folder?: string, begun?: number, sessions?: number, chars?: number, pids?: readonly number[], commands?: readonly string[], heapLimitBytes?: number, flag?: string, header?: string, idleMs?: number, timeoutMs?: number, stream?: string, lost?: number, flags?: readonly string[], answers?: readonly string[], instead?: string, variables?: readonly { variable: string, meant: string }[], branch?: 'cluster.isMaster' | 'cluster.isPrimary' | 'throng\'s master', command?: string, was?: string, node?: string }
  heapdump: { slot: number | null, pid: number, reason: string, file: string, bytes: number, moved: number, pauseMs: number }
  'journal.begin': { why: string }
  'journal.end': { why: string }
  'journal.gap': { lines: number | null, from: number | null, to: number | null, why: string | null }
  'leak.begin': { slot: number, pid: number, by: 'budget' | 'requested', forMs: number }
  'leak.end': { found: readonly ({ at: { name: string, file: string, line: number }, callers: readonly { name: string, file: string, line: number }[], by: { name: string, file: string, line: number } | null, isGrowing: boolean, isSure: boolean, share: number, bytes: number, bytesPerRequest: number, low: number, high: number, samples: number, halves: readonly number[] })[], verdict: 'few' | 'fills' | 'grows' | 'none' | 'outside' | 'unread', requests: number, bytes: number, mostPerRequest: number, outside: { externalBytes: number, nativeBytes: number } | null, slot: number, pid: number | null, by: 'budget' | 'requested', tookMs: number, why: string | null }
  'leak.reading': { atMs: number, requests: number, rssBytes: number, heapTotalBytes: number, heapUsedBytes: number, externalBytes: number, pauseMs: number, slot: number, pid: number }
  'mold.exit': { pid: number | null, generation: number, code: number | null, signal: string | null, why: string | null }
  'mold.ready': { pid: number | null, generation: number, readyMs: number }
  'mold.spawn': { pid: number | null, generation: number }
  recycled: { readyMs: number | null, rssBefore: number | null, rssAfter: number | null, connections: number, inFlight: number, finished: number, aborted: number, moved: number, refused: number, takenBack: number, replayed: number, closedByClient: number, closedAfterResponse: number, closedIdle: number, cut: number, unacked: number, unaccounted: number, cuts: readonly ({ method: string | null, path: string | null, ageMs: number, remotePort: number | null, upgraded: boolean, why?: string, deaths?: number })[], unnamed?: number, unnamedStreams?: number, restarted?: Record<string, number>, lost: boolean, ended: 'crashed' | 'killed' | 'retired', reason: string, how: 'drain-first' | 'standby' | 'surge' | 'upgrade', drainMs: number, tookMs: number, slot: number | null, pid: number | null, oldPid: number }
  scaled: { drainMs: number, connections: number, inFlight: number, finished: number, aborted: number, moved: number, refused: number, takenBack: number, replayed: number, closedByClient: number, closedAfterResponse: number, closedIdle: number, cut: number, unacked: number, unaccounted: number, cuts: readonly ({ method: string | null, path: string | null, ageMs: number, remotePort: number | null, upgraded: boolean, why?: string, deaths?: number })[], unnamed?: number, unnamedStreams?: number, restarted?: Record<string, number>, lost: boolean, ended: 'crashed' | 'killed' | 'retired', slot: number, pid: null, oldPid: number, reason: string }
  stopped: { drainMs: number, connections: number, inFlight: number, finished: number, aborted: number, moved: number, refused: number, takenBack: number, replayed: number, closedByClient: number, closedAfterResponse: number, closedIdle: number, cut: number, unacked: number, unaccounted: number, cuts: readonly ({ method: string | null, path: string | null, ageMs: number, remotePort: number | null, upgraded: boolean, why?: string, deaths?: number })[], unnamed?: number, unnamedStreams?: number, restarted?: Record<string, number>, lost: boolean, ended: 'crashed' | 'killed' | 'retired', slot: number | null, pid: null, oldPid: number, reason: string }
  'worker.blocked': { request: string | null, requests: readonly { request: string, count: number }[] | null, stack: readonly string[] | null, slot: number | null, pid: number, blockedMs: number, inFlight: number }
  'worker.budget': { slot: number | null, pid: number, budget: { metric: 'anon' | 'pss' | 'rss' | 'uss', softBytes: number | null, hardBytes: number | null, samples: number, maxRequests: number | null, maxAgeMs: number | null } }
  'worker.children': { slot: number | null, pid: number | null, ended: number, killed: number, commands: readonly string[] }
  'worker.condemn': { cause?: string, figure?: number, most?: number, requests: number, silentMs: number, ageMs: number, slot: number | null, pid: number, reason: 'adopted' | 'age' | 'exception' | 'fds' | 'handles' | 'hard-rss' | 'heap' | 'lag' | 'protocol-error' | 'reload' | 'requested' | 'requests' | 'rss' | 'stuck' | 'unhealthy', metric: 'anon' | 'pss' | 'rss' | 'uss', bytes: number | null, softBytes: number | null, hardBytes: number | null }
  'worker.crash': { requestsInFlight: readonly { request: string, count: number }[], moved?: number, replayed?: number, answered?: number, cut?: number, ended?: number, cuts?: readonly ({ method: string | null, path: string | null, ageMs: number, remotePort: number | null, upgraded: boolean, why?: string, deaths?: number })[], unnamed?: number, unnamedStreams?: number, connections: number, inFlight: number, requests: number, killedFor: 'blocked' | 'kill-timeout' | 'no-account' | 'not-ready' | 'unstarted' | null, oomKilled: boolean, code: number | null, signal: string | null, error?: string, slot: number | null, pid: number }
  'worker.drain': { slot: number | null, pid: number, reason: string, connections: number, inFlight: number }
  'worker.exception': { listener?: string, isEnding?: boolean, stack: string, request: string | null, isAnswered: boolean, seen: number, name: string, message: string, slot: number | null, pid: number }
  'worker.health': { slot: number | null, pid: number, failures: number, why: string | null, tookMs: number }
  'worker.in-rotation': { why: string | null, moved: number, outMs: number, slot: number | null, pid: number, task: string }
  'worker.keep': { slot: number | null, pid: number, reason: 'adopted' | 'age' | 'exception' | 'fds' | 'handles' | 'hard-rss' | 'heap' | 'lag' | 'not-ready' | 'protocol-error' | 'reload' | 'requested' | 'requests' | 'rss' | 'scale' | 'stop' | 'stuck' | 'unhealthy' | 'upgrade' | null }
  'worker.lease': { slot: number, pid: number, waitedMs: number }
  'worker.memory': { slot: number | null, pid: number, upMs: number, liveBytes: number, markSweeps: number, requests: Record<string, number> }
  'worker.no-room': { slot: number, pid: number, how: string }
  'worker.not-ready': { slot: number | null, oldPid: number | null, why: string, failures: number, nextTryMs: number }
  'worker.orphaned': { slot: number | null, pid: number, oldPid: number, since: number, timeoutMs: number }
  'worker.out-of-rotation': { connections: number, inFlight: number, slot: number | null, pid: number, task: string }
  'worker.paused': { slot: number | null, pid: number, why: string, connections: number, inFlight: number }
  'worker.protocol-error': { type: string, flaw: string, slot: number | null, pid: number }
  'worker.ready': { oldPid: number | null, slot: number | null, pid: number, readyMs: number | null, addresses: readonly string[] }
  'worker.request': { reason: string | null, slot: number | null, pid: number }
  'worker.resumed': { slot: number | null, pid: number, why: string | null, outMs: number }
  'worker.retire': { connections: number, inFlight: number, requests: number, killedFor: 'blocked' | 'kill-timeout' | 'no-account' | 'not-ready' | 'unstarted' | null, oomKilled: boolean, code: number | null, signal: string | null, error?: string, slot: number | null, pid: number }
  'worker.revived': { slot: number | null, pid: number, oldPid: number, since: number, attempt: number, started: number }
  'worker.sample': { connections: number, streams: number, inFlight: number, elu: number, gc: { scavenges: { count: number, totalMs: number, longestMs: number }, markSweeps: { count: number, totalMs: number, longestMs: number } }, loopLagMs: number, rssBytes: number | null, anonBytes: number | null, pssBytes: number | null, ussBytes: number | null, meter: string | null, ageMs: number, requests: number, silentMs: number, requested: 'adopted' | 'exception' | 'protocol-error' | 'reload' | 'requested' | 'stuck' | null, heapUsedBytes?: number | null, fds?: number | null, handles?: number | null, heapLimitBytes?: number | null, fdLimit?: number | null, lagP99Ms?: number | null, healthFailures?: number | null, serverErrors?: number | null, responseP50Ms?: number | null, responseP99Ms?: number | null, slot: number | null, pid: number }
  'worker.spawn': { adopted?: boolean, slot: number | null, pid: number, generation: number, app: string, budget: { metric: 'anon' | 'pss' | 'rss' | 'uss', softBytes: number | null, hardBytes: number | null, samples: number, maxRequests: number | null, maxAgeMs: number | null } }
  'worker.standby': { slot: number | null, pid: number, readyMs: number | null, addresses: readonly string[] }
  'worker.threw': { where: unknown, error: unknown, slot: number | null, pid: number }
  'worker.unadopted': { slot: number | null, pid: number, oldPid: number, since: number, why: string }
  'worker.unrevived': { slot: number | null, pid: number, oldPid: number, since: number, attempt: number, why: string, isLast: boolean }
}

/** A line of the journal: of these events, by default of any. */
export type JournalLine<Events extends keyof JournalFields = keyof JournalFields> = {
  [Event in Events]: { v: number, t: number, event: Event } & JournalFields[Event]
}[Events]

/** A line that was read: of another version, or damaged, it may lack a field, or have another value there. */
export type ReadLine<Events extends keyof JournalFields = keyof JournalFields> = {
  [Field in { [Event in Events]: 'v' | 't' | 'event' | keyof JournalFields[Event] }[Events]]?: unknown
}

/** What is done with lines that are read, by event. */
export type LineHandlers = { readonly [Event in keyof JournalFields]?: (line: ReadLine<Event>) => void }
