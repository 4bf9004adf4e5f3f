'use strict'

/** @import { WorkerHandle } from '../primary/workers/worker-handle' */
/** @import { Acceptor } from '../worker/accepting/acceptor' */

/**
 * The contract between the kernel and a feature's parts, in the primary and in a worker.
 *
 * @typedef {object} PrimaryKernel what the primary gives to a feature
 * @property {import('../tables/options').Options} options
 * @property {import('../journal/events').Recording} record writes a line of the journal
 * @property {() => number} now monotonic, ms
 * @property {() => number} generation of the latest code
 * @property {<Value>(reading: Promise<Value>) => Promise<Value | null>} inTime null: the kernel has not returned from
 *   it in time
 * @property {() => boolean} leads whether this primary decides what the fleet is to be: no other one does, and it is
 *   not to stop
 * @property {Pick<import('../primary/workers/fleet').Fleet, 'desired' | 'isPinned' | 'wanted' | 'slots' | 'all' |
 *   'list' | 'serving'>} fleet
 * @property {import('../primary/parts').Resize} resize changes how many workers there are to be
 * @property {() => import('../core/memory-room').Memory | null} memory of the container, by the last look
 * @property {() => boolean} isSole whether this primary runs the fleet, and the workers of no other one are left
 * @property {() => Promise<void>} askLegacy has the predecessor's like, where workers of it are left, send what
 *   inherit() takes once more; resolves soon
 * @property {(fn: () => void) => void} onSole `fn` is called when that begins, where this primary has taken the fleet
 *   over
 * @property {(worker: WorkerHandle, by: string, why: string | null) => void} wish has this worker leave the rotation,
 *   or, where nothing else wants it out, return
 * @property {(worker: WorkerHandle, reason: import('.').Requested) => void} replace has this worker replaced
 * @property {Pick<import('../primary/recycling/reloading').Reloading, 'all' | 'try' | 'promote' | 'reject' |
 *   'failing'>} reloading
 * @property {(how: Record<string, any>) => Promise<string | undefined>} reload as the command
 * @property {import('../primary/succession/handover').Handover['begin']} succeed has another primary take the fleet
 *   over
 * @property {AbortSignal} stopping its reason is what ended the fleet
 * @property {(handle: WorkerHandle, how: string, request: string | null) => void} crashed counts as a crash: the
 *   fleet's status tells whether it crashes again and again; `request`: what has caused it
 * @property {(text: string) => void} print to stderr, whole lines
 * @property {(error: import('../core/errors').RecycleError) => void} abandon stops the fleet for an error
 * @property {() => boolean} hasServed some worker has
 * @property {import('../primary/workers/spawner').Spawner['startOriginal']} startOriginal starts a process of which
 *   workers are to be copies
 * @property {(original: { id: string, pid: number | null }) => void} ended such a process has
 * @property {() => boolean} hasSessions requests belong to sessions, each of which is one worker's
 * @property {(asked: Asked) => string | null} sessionOf null: the request belongs to none
 * @property {(dead: WorkerHandle, parcel: import('../tables/message').ParcelFields, socket: any, how?: { apart?:
 *   ReadonlySet<WorkerHandle>, lost?: (socket: any) => void }) => void} give has another worker go on with a connection
 *   of one that is gone; those of `apart` if no other one takes it; `lost` gets it if none does
 * @property {() => boolean} isStopping no worker will serve any more, nor of a primary that follows
 * @property {(slot: number) => void} collect has the worker of this slot collect its garbage, out of rotation, as a
 *   feature does it
 * @property {string[]} execArgv of the workers
 * @property {(worker: WorkerHandle) => void} keep a worker that is condemned stays in service
 * @property {(worker: WorkerHandle) => void} kill ends a worker that leaves: its event loop is blocked
 * @property {Pick<import('../primary/recycling/out-of-rotation').OutOfRotation, 'take' | 'request'>} outOfRotation has
 *   a worker do one of `tasks`
 * @property {(slot: number, variant?: import('../primary/workers/spawner').Variant | null) =>
 *   Promise<import('../primary/recycling/recycler').Recycled>} recycle has the worker of this slot replaced, by one
 *   with `variant`; resolves with the journal's `recycled`
 * @property {() => void} changed is to be called when what `beforeRecycle` says has changed
 * @property {import('../primary/measuring/sampler').Sampler['read']} read its size, now
 * @property {(worker: WorkerHandle) => import('../core/sample').Sample | null} sampleOf the latest
 * @property {(slot: number, suffix: string, how: { asked?: string, folder?: string }) => string} createFile makes a
 *   file that this user alone can read: `asked`, or one in the folder, named by slot, pid and time; throws
 *   RECYCLE_UNWRITABLE
 *
 * @typedef {object} PrimaryPart
 * @property {(ended: AbortSignal) => void} [begin] the fleet starts; `ended`: it has stopped, or another primary runs
 *   it
 * @property {(worker: WorkerHandle) => void} [connect] called with each worker that is spawned
 * @property {import('../primary/handoff/no-owners').Owners} [owners] of sessions
 * @property {import('../primary/workers/spawner').Source} [source] of workers
 * @property {(asked: Asked) => string | null} [sessionOf] this request belongs to
 * @property {(worker: Probed) => Probe} [probe] called with each worker that is ready, or stands by
 * @property {(worker: WorkerHandle, copy: import('../worker/connections/parcel').Copy, socket: any, key: string) =>
 *   void} [kept] a worker has adopted this connection, and has noted it by `copy`; takes the descriptor
 * @property {(worker: WorkerHandle, settled: (outcome: import('../core/account').Outcome) => void) => Promise<void> |
 *   null} [left] a worker is gone: calls `settled` with what has become of its connections, at once where they are few;
 *   null: it had none
 * @property {(worker: WorkerHandle) => Promise<unknown>} [beforeKill] what is still to be known of a worker that is to
 *   be killed; it resolves soon
 * @property {(hurried: AbortSignal) => Promise<unknown>} [beforeStop] what comes before a stop, while the fleet is in
 *   service; it resolves soon when `hurried`
 * @property {Record<string, (slot: number, how: any) => Promise<Record<string, any>>>} [commands] as `commands` names
 *   them
 * @property {Record<string, (how?: any) => Promise<Record<string, any>>>} [verbs] as `verbs` names them
 * @property {(how: Record<string, any>) => Promise<string | undefined> | null} [reload] reloads the fleet its own way,
 *   by kernel.reloading, and says what came of it; null: it does not want to. `how` has the arguments that `reload` of
 *   the feature names
 * @property {(worker: WorkerHandle, isGone: boolean) => void} [crashed] it has, or, where it is not gone, its app has
 *   not caught an exception
 * @property {(slot: number) => Promise<unknown>} [collect] has a worker collect its garbage, out of rotation
 * @property {BeforeRecycle} [beforeRecycle] what a condemned worker does before its recycle, out of rotation, one at a
 *   time
 * @property {(worker: WorkerHandle) => string | null} [causeOf] what is known of why a worker that is condemned has
 *   grown, in a few words
 * @property {() => any} [describe] plain data for status()
 * @property {() => Promise<string>} [scrape] more metrics, in Prometheus's text format
 * @property {() => Promise<string | null>} [bequeath] what the next primary's like is to have: called as that begins to
 *   lead, and when these workers are gone
 * @property {(text: string) => void} [inherit] takes that, in place of what came before
 * @property {() => void} [wake] the machine has slept: readings over that time say nothing
 *
 * @typedef {{ url: string, headers: Record<string, any>, socket: { remoteAddress?: string } }} Asked what is read of a
 *   request; headers by name in lower case
 *
 * @typedef {object} BeforeRecycle
 * @property {(worker: WorkerHandle) => 'due' | 'under way' | null} stateOf null: there is none, or it is over
 * @property {(worker: WorkerHandle) => Promise<void>} run one that is due
 * @property {boolean} [mayKeep] in place of its recycle, where that has it kept; also over the hard budget
 *
 * @typedef {object} Probed a worker
 * @property {WorkerHandle} handle
 * @property {number} pid
 * @property {() => Record<string, any>} latest its latest heartbeat
 * @property {() => number} upSince when it became ready: ms, by kernel.now()
 *
 * @typedef {object} Probe
 * @property {(at: number) => Record<string, any> | Promise<Record<string, any>>} read what is added to a sample
 *
 * @typedef {object} WorkerKernel what a worker gives to a feature
 * @property {import('../worker/channel').Channel} channel
 * @property {import('../worker/connections/tracker').ConnectionTracker} tracker
 * @property {import('../worker/state').WorkerState} state
 * @property {Set<Acceptor>} acceptors
 * @property {import('../worker/handoff/inbox').Inbox} inbox
 * @property {import('../worker/handoff/handoff').Handoff} handoff
 * @property {import('../worker/handoff/sender').Sender} sender
 * @property {import('../worker/leaving/emptying').Emptying} emptying
 * @property {(listener: (hasMarkSweep: boolean) => void) => void} onCollected after each collection
 * @property {() => number} oldBytes of V8's heap: what is young may be garbage since the last collection
 * @property {() => number} liveBytes the same, with memory outside the heap that its objects keep
 * @property {number} beatMs between two heartbeats
 * @property {(fn: () => unknown) => void} onDrain as in the worker API
 * @property {() => void} announceClose from here on each HTTP/1 response says that its connection closes
 * @property {typeof import('../worker/call-app').callApp} callApp
 * @property {typeof import('../worker/leaving/standard-streams').printError} printError to stderr; never throws
 * @property {() => ReturnType<typeof import('../worker/vitals/memory').collect>} collect frees what is not alive, and
 *   holds this thread until it is done
 * @property {() => import('../worker/connections/connection').Exchange | null} currentExchange whose code runs; a
 *   feature that is on sets it, or none
 *
 * @typedef {object} OriginalKernel what a process of which workers are copies gives to the feature
 * @property {() => Omit<ReturnType<typeof import('../worker/prepare').prepare>, 'enter'> & { becomeWorker: () => void
 *   }} prepare does what a worker does before it loads the app; `becomeWorker`: to be called in each copy
 * @property {typeof import('../worker/app-warmup').warmUpApp} warmUpApp
 * @property {typeof import('../worker/boot/compile-cache').flushCompileCache} flushCompileCache
 * @property {typeof import('../worker/vitals/memory').exposeGc} exposeGc
 *
 * @typedef {object} WorkerPart
 * @property {() => Record<string, any>} [figures] for the heartbeat: the fields of `beat`
 * @property {() => void} [beat] called after each heartbeat
 * @property {(acceptor: Acceptor) => void} [watch] called with each, before its server listens
 * @property {(deadlineMs: number) => void} [leave] called as this worker begins to drain
 * @property {() => void} [release] called when what the app does in onDrain() is done
 * @property {() => void} [endCalls] the primary has exited, and answers no more
 * @property {() => void} [adopted] another primary has this worker, and knows nothing of it yet
 * @property {() => Promise<unknown>} [drained] called when the drain is over; this process is kept until it resolves,
 *   or until the drain timeout
 * @property {Record<string, (fields: any) => Record<string, any>>} [tasks] done out of rotation, by message: each holds
 *   this thread, and returns the answer
 * @property {Record<string, (...args: any[]) => unknown>} [api] the functions that `api` names; calls made before this
 *   part was there follow
 */

module.exports = {}
