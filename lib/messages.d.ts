// Made by npm run schema.

/** worker → primary: fields by message; lib/tables/message.js says what they mean. */
export interface FromWorker {
  move: { id: number, parcel: { key: string, leftMs: number | null, bytes?: string, preface?: string, replayed?: number, deaths?: number, session?: string, isOwned?: boolean, load?: number, byLoad?: boolean, row?: number, counted?: number[], kind?: string, state?: string, isFollowed?: boolean } }
  moved: { id: number, ok: boolean, row?: number, pid?: number, isStalled?: boolean, isOwner?: boolean, isMissing?: boolean }
  behind: { id: number, bytes?: string, mark?: number, isOver?: boolean, isEnded?: boolean }
  ahead: { id: number, mark: number | null }
  batching: object
  batch: { number: number, messages: object[] }
  hello: { heapLimitBytes: number, version: string, inspectorPort: number | null }
  listen: { id: number, key: string, query: { address: string | null, asked?: string | null, port: number | null, addressType: number | null, fd?: number | null, flags?: number | null, readableAll?: boolean, writableAll?: boolean, umask?: number, uid?: number, gid?: number }, data?: { ticketKeys: string, options?: string, isOpaque?: boolean } }
  listening: { key: string, missing: string | null, isClosed?: boolean }
  beat: { requests: number, inFlight: number, connections: number, lasting: number, streams: number, elu: number, cpuUs: number, movable: number, gc: { scavenges: { count: number, totalMs: number, longestMs: number }, markSweeps: { count: number, totalMs: number, longestMs: number } }, loopLagMs: number, inspectorPort: number | null, flexible: boolean, ceiling: number | null, heapUsedBytes?: number | null, heapLimitBytes?: number | null, lagP99Ms?: number | null, handles?: number, serverErrors?: number, responseP50Ms?: number | null, responseP99Ms?: number | null, noteBytes?: number }
  exception: { error: string }
  tell: Record<string, any>
  requested: { reason?: string | null }
  pause: { reason?: string | null, isOver?: boolean }
  'in-flight': { requests: { request: string, count: number }[], isAll: boolean }
  full: { isAtCeiling: boolean, isOver?: boolean }
  answer: { id: number, why: string | null, isSkipped?: boolean, moved?: number, tookMs?: number, pauseMs?: number, before?: { rssBytes: number, heapUsedBytes: number, externalBytes: number }, after?: { rssBytes: number, heapUsedBytes: number, externalBytes: number }, listeners?: number, bytes?: number, isTls?: boolean }
  drained: { account: import('./core/account').Account }
  own: { id: number, session: string }
  forget: { session: string }
  tally: { requests: number, found: number, begun: number, most: number, which: number }
  transfer: { session: string, value: string }
  transferred: { except: string[] }
  where: { stack: string[], request: string | null, serial: number | null, requests: { request: string, count: number }[] }
  memory: { upMs: number, liveBytes: number, markSweeps: number, requests: number[], routes: string[] }
  'leak-reading': { requests: number, rssBytes: number, heapTotalBytes: number, heapUsedBytes: number, externalBytes: number, growth: string | null }
  uncaught: { name: string, message: string, stack: string, request: string | null, isAnswered: boolean, listener: string | null, isEnding: boolean }
  fatal: { trace: string }
  lease: { held?: number, isOver?: boolean }
  'app-metrics': { json: string | null }
  'proxy-idle': { header: string, idleMs: number, timeoutMs: number }
  observe: { counts: { requests: number, connections: number, squares: number, of: { errors: number, unfinished: number, refusals: number, empty: number, slowMedian: number, slowTail: number }, ofSquares: { errors: number, unfinished: number, refusals: number, empty: number, slowMedian: number, slowTail: number }, ofProducts: { errors: number, unfinished: number, refusals: number, empty: number, slowMedian: number, slowTail: number }, times: Record<string, number>, busyMs: number, memory: { ramps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, sweeps: { groups: number, n: number, nn: number, k: number, kk: number, kn: number }, last: { requests: number, liveBytes: number } | null, lastSweep: { requests: number, liveBytes: number } | null } } }
}

/** primary → worker. */
export interface FromPrimary {
  move: { id: number, parcel: { key: string, leftMs: number | null, bytes?: string, preface?: string, replayed?: number, deaths?: number, session?: string, isOwned?: boolean, load?: number, byLoad?: boolean, row?: number, counted?: number[], kind?: string, state?: string, isFollowed?: boolean } }
  moved: { id: number, ok: boolean, row?: number, pid?: number, isStalled?: boolean, isOwner?: boolean, isMissing?: boolean }
  behind: { id: number, bytes?: string, mark?: number, isOver?: boolean, isEnded?: boolean }
  ahead: { id: number, mark: number | null }
  batching: object
  batch: { number: number, messages: object[] }
  do: Record<string, any>
  answer: { id: number, errno: number, data?: { ticketKeys: string, options?: string, isOpaque?: boolean }, isQueued?: boolean }
  legacy: { number: number, text: string }
  stopping: object
  drain: { reason: string, deadlineMs: number, lingerMs: number | null, handoff: boolean, replayAfterMs: number | null, isSucceeded?: boolean }
  forget: { session: string | null, ifUnused?: boolean }
  transfer: { session: string, value: string }
  lease: { slot: number }
  'app-metrics': object
  observe: { thresholds: { medianMs: number, tailMs: number } | null, isOver?: boolean }
}

/** What the primary has a worker do, by verb. */
export interface Does {
  serve: { slot: number }
  shut: object
  'leave-rotation': { deadlineMs: number, handoff: boolean, replayAfterMs: number | null, isPatient?: boolean }
  collect: object
  signal: { signal: string }
  profile: { durationMs: number, file: string }
  rejoin: object
  accept: { key: string }
  acceptLimit: { limit: number }
  share: { load: number, most: number, count: number, streams: number }
  'tell-requests': { forMs: number }
  heapdump: { file: string }
  probe: object
  'leak-reading': { isWhole: boolean }
  duplicates: object
  'announce-close': object
}

/** What a worker answers to a call that it has done, by verb. */
export interface Answers {
  serve: object
  shut: object
  'leave-rotation': { moved: number, tookMs: number }
  collect: { pauseMs: number, before: { rssBytes: number, heapUsedBytes: number, externalBytes: number }, after: { rssBytes: number, heapUsedBytes: number, externalBytes: number } }
  signal: { listeners: number }
  profile: { bytes: number, tookMs: number }
  heapdump: { bytes: number, pauseMs: number }
  probe: { isTls: boolean }
  'leak-reading': { pauseMs: number }
}

/** A primary → its successor; lib/tables/primary-message.js says what they mean. */
export interface FromPredecessor {
  move: { id: number, parcel: { key: string, leftMs: number | null, bytes?: string, preface?: string, replayed?: number, deaths?: number, session?: string, isOwned?: boolean, load?: number, byLoad?: boolean, row?: number, counted?: number[], kind?: string, state?: string, isFollowed?: boolean } }
  moved: { id: number, ok: boolean, row?: number, pid?: number, isStalled?: boolean, isOwner?: boolean, isMissing?: boolean }
  behind: { id: number, bytes?: string, mark?: number, isOver?: boolean, isEnded?: boolean }
  ahead: { id: number, mark: number | null }
  batching: object
  batch: { number: number, messages: object[] }
  socket: Record<string, any>
  begin: { addresses: string[], workers: number | null, generation?: number }
  go: { workers: number | null, isPinned?: boolean }
  legacy: { feature: string, text: string, isLast?: boolean }
  abort: { why: string }
  stopping: object
  left: object
  sessions: { slots: number[], sessions: { session: string, slot: number }[] }
  transfer: { session: string, value: string }
  transferred: { slot: number, except: string[] }
}

/** A primary → its predecessor. */
export interface FromSuccessor {
  move: { id: number, parcel: { key: string, leftMs: number | null, bytes?: string, preface?: string, replayed?: number, deaths?: number, session?: string, isOwned?: boolean, load?: number, byLoad?: boolean, row?: number, counted?: number[], kind?: string, state?: string, isFollowed?: boolean } }
  moved: { id: number, ok: boolean, row?: number, pid?: number, isStalled?: boolean, isOwner?: boolean, isMissing?: boolean }
  behind: { id: number, bytes?: string, mark?: number, isOver?: boolean, isEnded?: boolean }
  ahead: { id: number, mark: number | null }
  batching: object
  batch: { number: number, messages: object[] }
  hello: { version: number, moves?: number, recycle: string, node: string, readyTimeoutMs: number }
  booted: { done: number, of: number }
  prepared: object
  serving: { addresses: string[], workers: { slot: number, pid: number }[] }
  legacy: object
  stopping: object
  abort: { why: string }
}

/** What is done at messages, by type; what came with one is checked by its kind. */
export type Hearers<Messages> = { readonly [Type in keyof Messages]?: (fields: Messages[Type], handle?: import('./core/internals').Handle) => void }

/** What is asked and not answered. */
export type Orders = Omit<Does, keyof Answers>

/** What does what is asked, by the verb of a call, which is answered once. */
export type Doers = {
  readonly [Verb in keyof Answers]?:
    (fields: Does[Verb], answer: (answer: Answered<Verb>) => void, socket?: import('./core/internals').Handle) => void
}

/** The fields of a call that was done, or why it was not. */
export type Answered<Verb extends keyof Answers> =
  Answers[Verb] & { why: null } | { why: string, isSkipped?: boolean, moved?: number }
