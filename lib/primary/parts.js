'use strict'

/**
 * Puts the parts of the primary together; it is the only file that knows all of them.
 *
 *     every interval   sampler.look() ─▶ condemned ─┐
 *     commands         desired ─────────────────────┼─▶ reconciler: plan() ─▶ steps: boot, recycle, retire, account
 *     workers          ready, gone, requests ───────┘
 */

const { RecycleError } = require('../core/errors')
const { Adoption } = require('./adoption/adoption')
const { now } = require('./clock')
const { Commands } = require('./commands')
const { Failures } = require('./failures')
const { RunningFeatures } = require('./features')
const { heedWorkers } = require('./heed-workers')
const { Balancer } = require('./handoff/balancer')
const { HandoffLedger } = require('./handoff/ledger')
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
const { Rounds } = require('./rounds')
const { Legacy } = require('./legacy')
const { ListeningSockets } = require('./sockets/listening-sockets')
const { Survivors } = require('./survivors')
const { Tasks } = require('./tasks')
const { Tenure } = require('./tenure')
const { Handover } = require('./succession/handover')
const { Succession } = require('./succession/succession')
const { Children } = require('./workers/children')
const { CrashWatch } = require('./workers/crash-watch')
const { Fleet } = require('./workers/fleet')
const { Lifecycle } = require('./workers/lifecycle')
const { kill } = require('./workers/retirement')
const { Spawner } = require('./workers/spawner')
/** @import { Options } from '../tables/options' */
/** @import { WorkerHandle } from './workers/worker-handle' */

/**
 * @typedef {object} Given
 * @property {string} app as given
 * @property {string[]} args
 * @property {Options} options
 * @property {import('./outputs').Outputs} outputs
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
 * @property {RunningFeatures} features
 * @property {Spawner} spawner
 * @property {Given['meter']} meter
 * @property {Tasks} tasks
 * @property {Tenure} tenure
 * @property {Rounds['changed']} changed to be called when a fact has changed, or what is desired
 * @property {Rounds['until']} until
 * @property {Resize} resize changes how many workers there are to be
 * @property {WeakMap<WorkerHandle, import('./measuring/figures').Figures>} figures of those that have been ready
 * @property {MemoryWatch} memoryWatch of the container
 * @property {import('./succession/takeover').Takeover | null} takeover of another primary's fleet
 * @property {ListeningSockets} listeningSockets
 * @property {Hooks['record']} record
 * @property {Hooks['look']} look
 * @property {Hooks['abandon']} abandon
 * @property {AutoSize} autoSize
 * @property {(freshBytes: number | null) => void} fresh hears of what each worker takes when it is new; that may change
 *   budgets
 *
 * @typedef {{ leaveFirst?: readonly number[], busy?: number, requestsPerSecond?: number }} Resizing `leaveFirst`: slots
 *   in the order in which they are given up; `busy`: what the load is
 * @typedef {(workers: number, reason: string, how?: Resizing) => void} Resize
 * @typedef {ReturnType<typeof assembleParts>} Parts
 */

/** @param {Given} given @param {Hooks} hooks */
function assembleParts ({ app, args, options, outputs, meter, inherited, takeover = null }, hooks) {
  const { record, look, abandon, onMessage } = hooks
  const tenure = new Tenure(takeover)
  const fleet = new Fleet()
  const failures = new Failures({
    record, abandon, mustEnd: () => !tenure.hasBegun || fleet.list().every(({ isNew }) => isNew)
  })
  const tasks = new Tasks((name, error) => failures.note(name, error))
  const rounds = new Rounds(tenure)
  const { changed, until } = rounds
  /** @type {Resize} */
  const resize = (workers, reason, { leaveFirst, ...fields } = {}) => {
    const from = fleet.desired
    fleet.resize(workers, leaveFirst)
    record('fleet.scale', { from, to: workers, reason, slots: fleet.wanted, ...fields })
    changed()
  }
  const listeningSockets = new ListeningSockets({ inherited, record })
  const survivors = new Survivors(options)
  /** Parts as features have them: complete before one of them calls any. */
  const parts = /** @type {any} */ ({ options, fleet, tasks, tenure, record, now, takeover })
  /** @type {RunningFeatures} */
  const features = new RunningFeatures(parts)
  const { owners, source } = features
  const spawner = new Spawner(app, args, options, { outputs, survivors, record, source })
  /** @type {Deps['figures']} */
  const figures = new WeakMap()
  const memoryWatch = new MemoryWatch({ options, fleet, figures, record, container: new Container() })
  const autoSize = new AutoSize({ options, fleet, isAsked: takeover !== null, resize, record })
  const fresh = autoSize.observe.bind(autoSize)
  const means = { options, fleet, spawner, meter, tasks, tenure, listeningSockets, figures, memoryWatch, autoSize }
  /** @type {Deps} */
  const deps = { ...means, features, takeover, record, look, abandon, changed, until, resize, fresh }

  const legacy = new Legacy({ ...deps, survivors })
  const outOfRotation = new OutOfRotation(deps)
  const reloading = new Reloading(deps)
  const sampler = new Sampler(deps)
  const children = new Children(deps)
  const ledger = new HandoffLedger({ fleet, tenure, owners, copies: features })
  const balancer = new Balancer({ ...deps, ledger })
  const crashWatch = new CrashWatch(deps)
  const lifecycle = new Lifecycle({ ...deps, crashWatch })
    .on('spawned', handle => heed(handle))
    .on('hopeless', details => abandon(new RecycleError('RECYCLE_APP_DIES', details)))
  const rotation = new Rotation(deps)
  const cpuProfiles = new CpuProfiles(deps)
  const recycler = new Recycler({ ...deps, lifecycle, sampler })
  const adoption = new Adoption({ ...deps, recycler, survivors, legacy })
  const shutdown = new Shutdown(deps)
  const departure = new Departure({ ...deps, recycler })
  const handover = new Handover({ ...deps, legacy, ledger, owners, departure }).on('resumed', changed)
  const succession = takeover && new Succession({ ...deps, takeover, lifecycle })
  const commands = new Commands({ ...deps, recycler, reloading, cpuProfiles })
  const reconciler = new Reconciler({ ...deps, lifecycle, outOfRotation, recycler, sampler, rounds })

  legacy.count('moves', ledger.totals)
  legacy.count('recycles', recycler.totals)
  if (takeover) {
    takeover.on('sole', () => adoption.begin())
    ledger.connectPeer(takeover.predecessor)
    owners.succeed(takeover)
    takeover.greet({ ...deps, legacy })
  }

  const own = { onMessage, owners, survivors, legacy, adoption, failures, now, crashWatch }
  const steps = { reconciler, reloading, outOfRotation, rotation, children, sampler, ledger, balancer, lifecycle }
  const all = {
    ...deps,
    ...own,
    ...steps,
    ...{ recycler, shutdown, departure, handover, succession, commands },
    /** Ends a worker that leaves: its event loop is blocked. @param {WorkerHandle} handle */
    kill (handle) {
      tasks.run('kill', () => kill(handle, 'blocked', features))
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
