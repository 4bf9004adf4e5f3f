'use strict'

/**
 * Puts the parts of the primary together; it is the only file that knows all of them.
 *
 *     every interval   sampler.look() ─▶ condemned ─┐
 *     commands         desired ─────────────────────┼─▶ reconciler: plan() ─▶ steps: boot, recycle, retire, account
 *     workers          ready, gone, requests ───────┘
 */

const path = require('node:path')
const { RecycleError } = require('../core/errors')
const { Adoption } = require('./adoption/adoption')
const { now } = require('./clock')
const { Commands } = require('./commands')
const { Failures } = require('./failures')
const { RunningFeatures } = require('./features')
const { heedWorkers } = require('./heed-workers')
const { Balancer } = require('./handoff/balancer')
const { HandoffLedger } = require('./handoff/ledger')
const { formatOf } = require('./log')
const { AutoSize } = require('./measuring/auto-size')
const { Container } = require('./measuring/container')
const { MemoryWatch } = require('./measuring/memory-watch')
const { Sampler } = require('./measuring/sampler')
const { Reconciler } = require('./reconciler')
const { CpuProfiles } = require('./recycling/cpu-profiles')
const { Departure } = require('./succession/departure')
const { OutOfRotation } = require('./recycling/out-of-rotation')
const { Rotation } = require('./recycling/rotation')
const { Recycler } = require('./recycling/recycler')
const { Reloading } = require('./recycling/reloading')
const { Shutdown } = require('./recycling/shutdown')
const { ListeningSockets } = require('./sockets/listening-sockets')
const { Tasks } = require('./tasks')
const { Tenure } = require('./tenure')
const { Handover } = require('./succession/handover')
const { programOnDisk, whyNoRevival } = require('./succession/program')
const { Succession } = require('./succession/succession')
const { Children } = require('./workers/children')
const { CrashWatch } = require('./workers/crash-watch')
const { Fleet } = require('./workers/fleet')
const { Lifecycle } = require('./workers/lifecycle')
const { kill } = require('./workers/retirement')
/** @import { Options } from '../tables/options' */
/** @import { Spawner } from './workers/spawner' */
/** @import { WorkerHandle } from './workers/worker-handle' */

/**
 * @typedef {object} Given
 * @property {Options} options
 * @property {Spawner} spawner
 * @property {ReturnType<typeof import('./measuring/meter').pickMeter>} meter
 * @property {import('./sockets/inherited-sockets').InheritedSockets} [inherited]
 * @property {import('./succession/takeover').Takeover | null} [takeover] of a running fleet
 *
 * @typedef {object} Hooks
 * @property {import('../journal/events').Recording} record writes a line of the journal
 * @property {(at?: { requestedAlone?: boolean }) => void} look judges the workers
 * @property {(error: RecycleError) => void} abandon stops the fleet for an error
 * @property {(message: { slot: number | null, pid: number, message: unknown }) => void} onMessage takes what the app
 *   sends by `process.send`
 *
 * @typedef {object} Deps what all parts may take
 * @property {Options} options
 * @property {Fleet} fleet
 * @property {Spawner} spawner
 * @property {Given['meter']} meter
 * @property {Tasks} tasks
 * @property {Tenure} stopping its reason is what ended the fleet, or RECYCLE_STOPPED
 * @property {() => void} changed to be called when a fact has changed, or what is desired
 * @property {Resize} resize changes how many workers there are to be
 * @property {(isSo: () => boolean) => Promise<void>} until resolves when it is so
 * @property {(handle: WorkerHandle) => import('./measuring/figures').Figures | null} figuresOf
 * @property {(handle: WorkerHandle) => boolean} wasOomKilled to be called once, when it is gone
 * @property {() => import('../core/memory-room').Memory | null} memory of the container, by the last look
 * @property {() => boolean} isFollower another primary runs the fleet: workers stand by in their slots
 * @property {ListeningSockets} listeningSockets
 * @property {Hooks['record']} record
 * @property {Hooks['look']} look
 * @property {Hooks['abandon']} abandon
 * @property {AutoSize} autoSize
 * @property {(freshBytes: number | null) => void} fresh hears of what each worker takes when it is new; that may change
 *   budgets
 *
 * @typedef {(workers: number, reason: string, how?: { leaveFirst?: readonly number[] } & Record<string, any>) => void}
 *   Resize `leaveFirst`: slots in the order in which they are given up; what else there is goes into the journal
 * @typedef {ReturnType<typeof assembleParts>} Parts
 */

/** @param {Given} given @param {Hooks} hooks */
function assembleParts ({ options, spawner, meter, inherited, takeover = null }, { record, look, abandon, onMessage }) {
  const fleet = new Fleet()
  const isFollower = () => takeover !== null && !takeover.isLeading
  const isSole = () => takeover?.isSole ?? true
  const failures = new Failures({
    record, abandon, mustEnd: () => isFollower() || fleet.list().every(({ isNew }) => isNew)
  })
  const tasks = new Tasks((name, error) => failures.note(name, error))
  const stopping = new Tenure()
  const listeningSockets = new ListeningSockets({ inherited, record })
  const memory = () => memoryWatch.latest
  /** @type {Resize} */
  const resize = (workers, reason, { leaveFirst, ...fields } = {}) => {
    const from = fleet.desired
    fleet.resize(workers, leaveFirst)
    record('fleet.scale', { from, to: workers, reason, slots: fleet.wanted, ...fields })
    changed()
  }
  const autoSize = new AutoSize({ options, fleet, isAsked: takeover !== null, resize, record })
  /** @type {Reconciler} */
  const reconciler = assembleReconciler()
  const changed = () => reconciler.changed()
  const until = (/** @type {() => boolean} */ isSo) => reconciler.until(isSo)
  const figuresOf = (/** @type {WorkerHandle} */ handle) => sampler.figuresOf(handle)
  const wasOomKilled = (/** @type {WorkerHandle} */ handle) => memoryWatch.wasOomKilled(handle)
  const means = { options, fleet, spawner, meter, tasks, stopping, listeningSockets, record, memory, autoSize }
  const calls = {
    changed, resize, until, figuresOf, wasOomKilled, isFollower, look, abandon, fresh: autoSize.observe.bind(autoSize)
  }
  /** @type {Deps} */
  const deps = { ...means, ...calls }

  const outOfRotation = new OutOfRotation({ ...deps, hasSessions: () => features.hasSessions })
  const reloading = new Reloading(deps)
  /** Parts as features have them: complete before one of them calls any. */
  const parts = /** @type {any} */ ({ ...deps, now, takeover })
  /** @type {RunningFeatures} */
  const features = new RunningFeatures(parts)
  const sampler = new Sampler({ ...deps, features })
  const memoryWatch = new MemoryWatch({ ...deps, container: new Container() })
  const children = new Children(deps)
  const { owners } = features
  const isEnding = () => stopping.aborted && handover.receivers.length === 0 // else those of the next primary serve
  const receivers = () => fleet.serving().concat(/** @type {any} */ (handover.receivers))
  /** @type {HandoffLedger} */
  const ledger = new HandoffLedger(receivers, sender =>
    fleet.successorOf(sender), owners, sender => fleet.isLeavingGap(sender), isEnding)
  ledger.onKept = (handle, copy, socket, key) => features.kept(handle, copy, socket, key)
  const balancer = new Balancer({ ...deps, ledger })
  const crashWatch = new CrashWatch({ ...deps, features })
  const lifecycle = new Lifecycle({ ...deps, crashWatch, settle: (handle, settled) => features.left(handle, settled) })
    .on('spawned', handle => heed(handle))
    .on('hopeless', details => abandon(new RecycleError('RECYCLE_APP_DIES', details)))
  const rotation = new Rotation(deps)
  const cpuProfiles = new CpuProfiles(deps)
  const recycler = new Recycler({ ...deps, lifecycle, sampler })
  const shutdown = new Shutdown(deps)
  const departure = new Departure({ ...deps, sampler })
  /** @type {Handover} */
  const handover = new Handover({ ...deps, features, ledger, owners, departure, isSole }).on('resumed', changed)
  const succession = takeover && new Succession({ ...deps, takeover, lifecycle })
  /** @type {Commands} */
  const commands = new Commands({ ...deps, recycler, reloading, cpuProfiles, features })

  spawner.source = features.source
  spawner.warn = fields => { record('fleet.warning', fields) }
  const adoption = new Adoption({ ...deps, recycler })
  spawner.takeOrphan = slot => adoption.take(slot)
  spawner.orphanSettings = () => {
    const { key, identity } = adoption
    const { orphanTimeoutMs: timeoutMs, journal } = options
    if (key === null || timeoutMs === 0) return null
    const { node, args, cwd } = programOnDisk()
    const revive = options.revive && whyNoRevival() === null ? { node, args, cwd } : null
    const writes = { journal: journal && path.resolve(journal), log: formatOf(options) }
    return { identity, timeoutMs, ...writes, primary: process.pid, revive }
  }
  takeover?.on('sole', () => adoption.begin())
  if (takeover) {
    ledger.connectPeer(takeover.predecessor)
    owners.succeed(takeover)
    takeover.greet({ ...deps, features })
  }

  function assembleReconciler () {
    return new Reconciler({
      options,
      fleet,
      tasks,
      stopping,
      steps: {
        boot: ({ slot }) => recycler.boot(slot),
        recycle: ({ slot, how, hasNoRoom }) => recycler.recycle(slot, how, hasNoRoom),
        condemn: async ({ slot }) => {
          sampler.condemnAhead(/** @type {WorkerHandle} */ (fleet.slots.get(slot)?.incumbent))
          changed()
        },
        wait: ({ slot }) => recycler.waitForRoom(slot),
        'before-recycle': ({ slot }) =>
          features.beforeRecycle(/** @type {WorkerHandle} */ (fleet.slots.get(slot)?.incumbent)),
        rejoin: () => outOfRotation.rejoin(),
        'scale-away': ({ slot }) => recycler.scaleAway(slot),
        close: async ({ slot }) => lifecycle.close(slot),
        'boot-standby': () => recycler.bootStandby(),
        'retire-standby': ({ handle, reason }) => recycler.retireStandby(handle, reason)
      },
      figuresOf: handle => sampler.figuresOf(handle),
      taskOf: handle => features.taskOf(handle),
      canForesee: () => !features.mayKeep,
      memory,
      atFirst: () => autoSize.atFirst,
      canStandBy: () => lifecycle.canStandBy
    })
  }

  const all = {
    ...deps,
    onMessage,
    owners,
    adoption,
    failures,
    now,
    takeover,
    isSole,
    isEnding,
    leads: () => !isFollower() && !stopping.aborted,
    reconciler,
    reloading,
    outOfRotation,
    rotation,
    children,
    sampler,
    memoryWatch,
    ledger,
    balancer,
    lifecycle,
    recycler,
    features,
    crashWatch,
    shutdown,
    departure,
    handover,
    succession,
    commands,
    /** Ends a worker that leaves: its event loop is blocked. @param {WorkerHandle} handle */
    kill (handle) {
      tasks.run('kill', () => kill(handle, 'blocked'))
    },
    /** Has this worker replaced. @param {WorkerHandle} handle @param {import('../features').Requested} reason */
    replace (handle, reason) {
      handle.condemnation.request(reason)
      look({ requestedAlone: true })
    }
  }
  /** @type {(handle: WorkerHandle) => void} */
  const heed = heedWorkers(all)
  return /** @type {typeof all} */ (Object.assign(parts, all))
}

module.exports = { assembleParts }
