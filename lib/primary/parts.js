'use strict'

/**
 * Puts the parts of the primary together; it is the only file that knows all of them.
 *
 *     every interval   sampler.look() ─▶ condemned ─┐
 *     commands         desired ─────────────────────┼─▶ reconciler: plan() ─▶ steps: boot, recycle, retire, account
 *     workers          ready, gone, requests ───────┘
 */

const { Adoption } = require('./adoption/adoption')
const { now } = require('./clock')
const { Commands } = require('./commands')
const { Failures } = require('./failures')
const { RunningFeatures } = require('./features')
const { Balancer } = require('./handoff/balancer')
const { HandoffLedger } = require('./handoff/ledger')
const { heedWorkers } = require('./heed-workers')
const { Legacy } = require('./legacy')
const { AutoSize } = require('./measuring/auto-size')
const { MemoryWatch } = require('./measuring/memory-watch')
const { Sampler } = require('./measuring/sampler')
const { Reconciler } = require('./reconciler')
const { Recycler } = require('./recycling/recycler')
const { Reloading } = require('./recycling/reloading')
const { Rotation } = require('./recycling/rotation')
const { Shutdown } = require('./recycling/shutdown')
const { Rounds } = require('./rounds')
const { ListeningSockets } = require('./sockets/listening-sockets')
const { Departure } = require('./succession/departure')
const { Handover } = require('./succession/handover')
const { Succession } = require('./succession/succession')
const { Survivors } = require('./survivors')
const { Tasks } = require('./tasks')
const { Tenure } = require('./tenure')
const { Warnings } = require('./warnings')
const { Children } = require('./workers/children')
const { CrashWatch } = require('./workers/crash-watch')
const { Fleet } = require('./workers/fleet')
const { Lifecycle } = require('./workers/lifecycle')
const { resizing } = require('./workers/resize')
const { SlotAddresses } = require('./workers/slot-addresses')
const { Spawner } = require('./workers/spawner')

/** @typedef {ReturnType<typeof assembleParts>} Parts */

/**
 * @param {import('./supervisor').Given} given
 * @param {Pick<import('./part').Deps, 'record' | 'abandon'> & { onMessage: (about: { slot: number | null, pid: number,
 *   message: unknown }) => void }} hooks `onMessage` takes what the app sends by `process.send`
 */
function assembleParts ({ app, args, options, outputs, meter, inherited, takeover = null }, { onMessage, ...hooks }) {
  const { record } = hooks
  const fleet = new Fleet()
  const tenure = new Tenure(takeover)
  const failures = new Failures({ fleet, tenure, ...hooks })
  const tasks = new Tasks(failures)
  const rounds = new Rounds(tenure)
  const { changed, until } = rounds
  const resize = resizing({ fleet, record, changed })
  const listeningSockets = new ListeningSockets({ inherited, record })
  const survivors = new Survivors(options)
  const first = { options, fleet, tasks, tenure, record, takeover, warnings: new Warnings(record) }
  /** Complete before a feature calls any that is not among the first. @type {any} */
  const parts = { ...first, now }
  /** @type {RunningFeatures} */
  const features = new RunningFeatures(parts)
  const { owners, source } = features
  const spawner = new Spawner(app, args, options,
    { outputs, survivors, record, source, isServing: takeover !== null })
  const memoryWatch = new MemoryWatch(first)
  const autoSize = new AutoSize({ ...first, resize })
  const measures = { meter, memoryWatch, autoSize }
  /** @type {import('./part').Deps} */
  const deps = { ...first, ...hooks, features, spawner, ...measures, changed, until, resize, listeningSockets }

  const legacy = new Legacy({ ...deps, survivors })
  const sampler = new Sampler(deps)
  const reloading = new Reloading({ ...deps, sampler, legacy })
  const children = new Children(deps)
  const ledger = new HandoffLedger({ fleet, tenure, owners, copies: features.copies })
  const balancer = new Balancer({ ...deps, ledger })
  const crashWatch = new CrashWatch(deps)
  const lifecycle = new Lifecycle({ ...deps, crashWatch, slotAddresses: new SlotAddresses(deps) })
  const rotation = new Rotation(deps)
  const recycler = new Recycler({ ...deps, lifecycle, sampler })
  const adoption = new Adoption({ ...deps, recycler, survivors, legacy })
  const shutdown = new Shutdown(deps)
  const departure = new Departure({ ...deps, recycler })
  const handover = new Handover({ ...deps, legacy, ledger, departure })
  const succession = takeover && new Succession({ ...deps, takeover, lifecycle, adoption, ledger, legacy })
  const commands = new Commands({ ...deps, recycler, reloading, sampler })
  const reconciler = new Reconciler({ ...deps, lifecycle, rotation, recycler, sampler, rounds })
  legacy.count('moves', ledger.totals)
  legacy.count('recycles', recycler.totals)

  const all = {
    ...{ ...deps, now, onMessage, failures, survivors, legacy, sampler, reloading, children },
    ...{ ledger, balancer, crashWatch, lifecycle, rotation, recycler, adoption, shutdown, departure, handover },
    ...{ succession, commands, reconciler }
  }
  lifecycle.on('spawned', heedWorkers(all))
  return /** @type {typeof all} */ (Object.assign(parts, all))
}

module.exports = { assembleParts }
