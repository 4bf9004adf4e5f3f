'use strict'

/**
 * The one file that is named in a worker's execArgv (`--require`): it runs before the app, in the same process, and
 * changes nothing that the app could see, but for what is listed in core/internals.js.
 *
 * `--require` also fires in the app's threads and in children that it forks. So the first thing is to take the flag back
 * out of what such children inherit, and the second to leave unless this is a worker of ours.
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

  const { enableCompileCache, flushCompileCache } = require('./compile-cache')
  enableCompileCache(settings.compileCache)
  require('./rehearsal').rehearse()
  if (settings.collectsFirst) require('./memory').exposeGc()() // for the limits that V8 keeps after it; see core/gc.js
  const { Link } = require('./link')
  const { raiseShield } = require('./shield')
  const { Traffic } = require('./traffic')
  const { installGates } = require('./gates')
  const { Lobby } = require('./lobby')
  const { Handoff } = require('./handoff')
  const { Admission } = require('./admission')
  const { Post } = require('./post')
  const { Sharing } = require('./sharing')
  const { Aside } = require('./aside')
  const { Drain } = require('./drain')
  const { offerProfile } = require('./profile')
  const { startBeacon } = require('./beacon')
  const { offerApi } = require('./api')

  const link = new Link()
  const shield = raiseShield()
  const post = new Post(settings.isStandby)
  const traffic = new Traffic()
  const gates = installGates(link, gate => {
    traffic.watch(gate)
    gate.onListen = () => {
      admission.welcome(gate)
      setImmediate(flushCompileCache)
    }
    gate.onExhausted = () => admission.exhaust()
    gate.onClose = () => {
      lobby.close(0, gate) // as Node does with those that are idle
      admission.letGo()
    }
  })
  const admission = new Admission(link, gates, /** @returns {number} */ () => traffic.connections.size + lobby.guests.size, post)
  /** @type {import('./lobby').Lobby} */
  const lobby = new Lobby(link, gates, admission)
  const handoff = new Handoff(link, lobby, {
    onMoved () {
      sharing.onMoved()
      leaving().onMoved()
    },
    onBack: (guest, isStalled) => leaving().onBack(guest, isStalled),
    onUnacked: () => leaving().onUnacked()
  })
  const sharing = new Sharing({ link, traffic, lobby, handoff, gates })
  const aside = new Aside({ link, traffic, gates, lobby, handoff, admission, sharing })
  const leaving = () => aside.stage === 'gone' ? drain : aside
  /** @type {import('./drain').Drain} */
  const drain = new Drain({ traffic, gates, lobby, handoff, admission, sharing }, account => {
    isDrained = true
    flushCompileCache()
    beat()
    shield.lower()
    if (link.isUp) link.send('drained', { account })
    else leaveAlone(settings.killTimeoutMs)
  })
  const beat = startBeacon(settings.beatMs, { link, traffic, lobby, admission }, orphaned)

  traffic.on('connection', ({ socket }) => admission.gain(/** @type {any} */ (socket)._handle?.fd))
  traffic.on('gone', () => admission.lose())

  let isDrained = false
  let isOrphan = false
  /** The primary has died. Cluster's way is to exit at once and reset what is in flight; ours is to finish it first. */
  function orphaned () {
    if (isOrphan) return
    isOrphan = true
    link.expect(1)
    if (isDrained) return leaveAlone(settings.killTimeoutMs)
    aside.cancel()
    lobby.keepAll()
    handoff.relinquish()
    drain.begin({ reason: 'orphaned', deadlineMs: settings.drainTimeoutMs, lingerMs: settings.stopLingerMs, handoff: false })
  }

  const worker = /** @type {import('node:cluster').Worker} */ (cluster.worker)
  link.onDown = () => {
    worker.exitedAfterDisconnect = true
    orphaned()
  }
  link.on({
    drain (order) {
      link.expect(1) // it waits for its SIGTERM, though nothing else may be left to do
      aside.cancel()
      drain.begin(order)
    }
  })
  offerProfile(link)
  offerApi({ link, traffic, post })
  link.send('hello')
}

/** Nobody is there to end this process but itself. @param {number} killTimeoutMs */
function leaveAlone (killTimeoutMs) {
  setTimeout(() => process.exit(0), killTimeoutMs).unref()
  process.kill(process.pid, 'SIGTERM')
}
