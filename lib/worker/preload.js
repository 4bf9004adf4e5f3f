'use strict'

/**
 * Named in a worker's execArgv (`--require`): it runs before the app, in the same process. What it changes there is listed
 * in core/internals.js.
 *
 * `--require` also applies to the app's threads and to children that it forks. So the flag is removed from what they
 * inherit, and nothing is done unless this is a worker of ours.
 */

const { setImmediate, setTimeout } = require('node:timers')
const { isMainThread } = require('node:worker_threads')
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))

const at = process.execArgv.indexOf(__filename)
if (at > 0) process.execArgv.splice(at - 1, 2)

const settings = process.env.RECYCLE_WORKER
if (settings && isMainThread && cluster.isWorker) enter(JSON.parse(settings))

/** @param {{ isStandby: boolean, compileCache: string | null, collectsFirst: boolean, beatMs: number, drainTimeoutMs: number, stopLingerMs: number, killTimeoutMs: number }} settings */
function enter (settings) {
  delete process.env.RECYCLE_WORKER

  const { enableCompileCache, flushCompileCache } = require('./boot/compile-cache')
  enableCompileCache(settings.compileCache)
  require('./boot/http-warmup').warmUpHttp()
  if (settings.collectsFirst) require('./health/memory').exposeGc()() // for the limits that V8 keeps after it; see core/gc.js
  const { Channel } = require('./channel')
  const { holdSignals } = require('./leaving/hold-signals')
  const { ConnectionTracker } = require('./connections/tracker')
  const { hookListen } = require('./accepting/listen-hook')
  const { Inbox } = require('./handoff/inbox')
  const { Handoff } = require('./handoff/handoff')
  const { Admission } = require('./accepting/admission')
  const { SlotAssignment } = require('./boot/slot')
  const { Rebalance } = require('./handoff/rebalance')
  const { OutOfRotation } = require('./leaving/out-of-rotation')
  const { Drain } = require('./leaving/drain')
  const { offerProfile } = require('./health/profile')
  const { startHeartbeat } = require('./health/heartbeat')
  const { offerApi } = require('./api')

  const channel = new Channel()
  const signals = holdSignals()
  const assignment = new SlotAssignment(settings.isStandby)
  const tracker = new ConnectionTracker()
  const acceptors = hookListen(channel, acceptor => {
    tracker.watch(acceptor)
    acceptor.onListen = () => {
      admission.onListen(acceptor)
      setImmediate(flushCompileCache)
    }
    acceptor.onExhausted = () => admission.exhaust()
    acceptor.onClose = () => {
      inbox.close(0, acceptor) // as Node does with idle connections
      admission.unhold()
    }
  })
  const admission = new Admission(channel, acceptors, /** @returns {number} */ () => tracker.connections.size + inbox.entries.size, assignment)
  /** @type {import('./handoff/inbox').Inbox} */
  const inbox = new Inbox(channel, acceptors, admission)
  const handoff = new Handoff(channel, inbox, {
    onMoved () {
      rebalance.onMoved()
      leaving().onMoved()
    },
    onBack: (entry, isStalled) => leaving().onBack(entry, isStalled),
    onUnacked: () => leaving().onUnacked()
  })
  const rebalance = new Rebalance({ channel, tracker, inbox, handoff, acceptors })
  const outOfRotation = new OutOfRotation({ channel, tracker, acceptors, inbox, handoff, admission, rebalance })
  const leaving = () => outOfRotation.stage === 'gone' ? drain : outOfRotation
  /** @type {import('./leaving/drain').Drain} */
  const drain = new Drain({ tracker, acceptors, inbox, handoff, admission, rebalance }, account => {
    isDrained = true
    flushCompileCache()
    beat()
    signals.release()
    if (channel.isUp) channel.send('drained', { account })
    else leaveAlone(settings.killTimeoutMs)
  })
  const beat = startHeartbeat(settings.beatMs, { channel, tracker, inbox, admission }, orphaned)

  tracker.on('connection', ({ socket }) => admission.gain(/** @type {any} */ (socket)._handle?.fd))
  tracker.on('gone', () => admission.lose())

  let isDrained = false
  let isOrphan = false
  /** The primary has exited. Cluster would exit at once and reset what is in flight; here it is finished first. */
  function orphaned () {
    if (isOrphan) return
    isOrphan = true
    channel.expect(1)
    if (isDrained) return leaveAlone(settings.killTimeoutMs)
    outOfRotation.cancel()
    inbox.keepAll()
    handoff.relinquish()
    drain.begin({ reason: 'orphaned', deadlineMs: settings.drainTimeoutMs, lingerMs: settings.stopLingerMs, handoff: false })
  }

  const worker = /** @type {import('node:cluster').Worker} */ (cluster.worker)
  channel.onDown = () => {
    worker.exitedAfterDisconnect = true
    orphaned()
  }
  channel.on({
    drain (order) {
      channel.expect(1) // it waits for SIGTERM, and nothing else may keep the process alive
      outOfRotation.cancel()
      drain.begin(order)
    }
  })
  offerProfile(channel)
  offerApi({ channel, tracker, assignment })
  channel.send('hello')
}

/** There is no primary to end this process. @param {number} killTimeoutMs */
function leaveAlone (killTimeoutMs) {
  setTimeout(() => process.exit(0), killTimeoutMs).unref()
  process.kill(process.pid, 'SIGTERM')
}
