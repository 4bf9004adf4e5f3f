'use strict'

/**
 * Makes this process a worker of the fleet: what prepare.js must leave to each worker for itself. It is the only file
 * that knows all parts of a worker.
 *
 * @typedef {object} Parts
 * @property {Channel} channel @property {WorkerState} state
 * @property {import('./connections/tracker').ConnectionTracker} tracker
 * @property {Set<import('./accepting/acceptor').Acceptor>} acceptors @property {Admission} admission
 * @property {Inbox} inbox @property {Handoff} handoff @property {Sender} sender @property {Emptying} emptying
 */

const { setImmediate, setTimeout } = require('node:timers')
const { inspect } = require('node:util')
const { getHeapStatistics } = require('node:v8')
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { version } = require('../../package.json')
const { workerPartOf } = require('../features/by-name')
const { Admission } = require('./accepting/admission')
const { flushCompileCache } = require('./boot/compile-cache')
const { Loads } = require('./connections/loads')
const { LONGEST_ERROR } = require('../core/envelope')
const { callApp, onThrown } = require('./call-app')
const { Handoff } = require('./handoff/handoff')
const { Inbox } = require('./handoff/inbox')
const { offerRebalance } = require('./handoff/rebalance')
const { Sender } = require('./handoff/sender')
const { GcPauses } = require('./vitals/gc-pauses')
const { inspectorPort, startHeartbeat } = require('./vitals/heartbeat')
const { offerProfile } = require('./vitals/profile')
const { tellRequestsInFlight } = require('./vitals/requests-in-flight')
const { Deadline } = require('./leaving/deadline')
const { Drain } = require('./leaving/drain')
const { holdDisconnect } = require('./leaving/hold-disconnect')
const { Emptying } = require('./leaving/emptying')
const { offerOutOfRotation } = require('./leaving/out-of-rotation')
const { Orphan } = require('./orphan')
const { WorkerState } = require('./state')
/** @import { Channel } from './channel' */

const LONGEST_MS = 2 ** 31 - 1 // of a timer

/**
 * @param {import('./prepare').Prepared} prepared @param {Channel} channel
 * @param {import('./prepare').Settings} settings
 */
function enter ({ tracker, listenHook, signals, api, streams }, channel, settings) {
  const { acceptors } = listenHook
  const state = new WorkerState('held')
  const admission = new Admission({ channel, state, acceptors, tracker })
  const inbox = new Inbox({ tracker })
  const handoff = new Handoff({ channel, state, acceptors, admission, tracker, inbox })
  const sender = new Sender({ tracker, handoff })
  const emptying = new Emptying({ tracker, acceptors, sender })
  const deadline = new Deadline()
  /** @type {Parts} */
  const parts = { channel, state, tracker, acceptors, admission, inbox, handoff, sender, emptying }
  const drain = new Drain({ ...parts, signals, api }, async account => {
    if (!channel.isUp) orphan.end()
    flushCompileCache()
    await deadline.orAt(api.drained())
    await deadline.orAt(Promise.all(features.map(part => part.drained?.())))
    await streams.flushed() // before the signal that ends this process
    beat()
    // A handler that does not exit ends this worker by leaving nothing to be done
    signals.release(() => admission.letGo())
    if (channel.isUp) giveAccount(account)
    else exitAlone(settings.killTimeoutMs)
  })
  let isGiven = false
  const giveAccount = (/** @type {import('../core/account').Account} */ account) => {
    isGiven = true
    channel.send('drained', { account })
  }
  offerRebalance(parts)
  offerProfile(channel)
  tellRequestsInFlight(parts)
  const pauses = new GcPauses(work => tracker.once('request', work))
  const kernel = {
    ...parts,
    beatMs: settings.beatMs,
    onCollected: pauses.onCollected.bind(pauses),
    onDrain: api.onDrain,
    callApp,
    currentExchange: () => null
  }
  const features = Object.entries(settings.features).map(([name, own]) => workerPartOf(name)(kernel, own))
  const rotation = offerOutOfRotation(parts, Object.assign({}, ...features.map(({ tasks }) => tasks)))
  const none = Object.fromEntries(settings.api.map(name => [name, () => {}])) // of features that are off
  api.extend(Object.assign(none, ...features.map(({ api }) => api)))
  const beat = startHeartbeat(settings, { ...parts, loads: new Loads(tracker), pauses, features })

  channel.answer({
    signal: ({ signal }, answer) =>
      answer({ why: null, listeners: signals.deliver(/** @type {NodeJS.Signals} */ (signal)) }),
    serve ({ slot }, answer) {
      orphan.slot = slot
      if (state.isServing) return answer({ why: null }) // another primary had called it
      if (!['held', 'out'].includes(state.current)) return answer({ why: `this worker is ${state.current}` })
      state.become('serving')
      api.assign(slot)
      admission.open(() => answer({ why: null }))
    },
    shut (_, answer) {
      if (state.current === 'leaving') emptying.retract() // the order to drain follows
      if (state.canBecome('shut')) state.become('shut')
      admission.shut()
      answer({ why: null })
    }
  })
  channel.on({
    drain: order => {
      deadline.set(order.deadlineMs)
      const released = Promise.resolve().then(() => api.drained()) // when the drain has begun
      for (const part of features) part.leave?.(order.deadlineMs, released)
      drain.begin(order)
    }
  })
  process.on('exit', () => {
    const account = drain.closeAccount()
    if (account && !isGiven) giveAccount(account)
  })
  const leaveAlone = () => {
    handoff.endAlone()
    deadline.set(settings.drainTimeoutMs)
    drain.begin({
      reason: 'orphaned', deadlineMs: settings.drainTimeoutMs, lingerMs: settings.stopLingerMs, handoff: false,
      replayAfterMs: null
    })
  }
  /** The primary has exited. Cluster would exit at once and reset what is in flight. */
  const onDown = () => {
    /** @type {import('node:cluster').Worker} */ (cluster.worker).exitedAfterDisconnect = true
    if (state.current === 'drained') return exitAlone(settings.killTimeoutMs)
    for (const part of features) part.endCalls?.()
    const livesOn = state.current !== 'held' && !isStopping && orphan.begin()
    if (livesOn) handoff.waitAlone()
    handoff.endAll(drain.isSucceeded)
    if (!livesOn) return leaveAlone()
    rotation.rejoin() // for all that it can know, no other worker serves
    if (isLeaving()) drain.wait(LONGEST_MS) // until the orphan's time is up
    else if (state.isServing) admission.standAlone()
  }
  channel.onDown = onDown
  let isStopping = false
  channel.on({
    stopping: () => { isStopping = true },
    legacy: ({ number, text }) => { orphan.legacy = { number, text } }
  })
  const isLeaving = () => state.current === 'draining'
  const orphan = new Orphan({
    settings: settings.orphan,
    listenHook,
    isLeaving,
    leave: leaveAlone,
    adopted (fd) {
      channel.rebind(fd, onDown)
      Object.assign(cluster.worker ?? {}, { exitedAfterDisconnect: undefined })
      holdOwnDisconnect()
      greet()
      channel.askAgain()
      listenHook.announce(channel)
      for (const part of features) part.adopted?.()
      handoff.endAlone(true)
    }
  })
  signals.onHeld(signal => orphan.onSignal(signal))

  const greet = () => channel.send('hello',
    { heapLimitBytes: getHeapStatistics().heap_size_limit, version, inspectorPort: inspectorPort() })
  let hasAsked = false
  /** @param {string} reason @returns {boolean} this worker leaves first */
  const askToLeave = reason => {
    if (state.current === 'held') return false // it has no client
    if (!hasAsked && !['draining', 'drained'].includes(state.current)) channel.send('requested', { reason })
    return (hasAsked = true)
  }
  signals.onOwn(signal => askToLeave(`the app has given itself ${signal}`))
  const holdOwnDisconnect = holdDisconnect(call =>
    channel.isUp && state.current !== 'drained' && askToLeave(`the app has called ${call}`))
  streams.onTrouble(trouble => channel.send('tell', { of: 'output', ...trouble }))
  onThrown(thrown => channel.send('tell', { of: 'threw', ...thrown }))
  process.on('uncaughtExceptionMonitor', error => {
    if (state.current === 'held') channel.send('exception', { error: sayError(error).slice(0, LONGEST_ERROR) })
  })
  api.connect(channel)
  listenHook.connect(channel, acceptor => {
    tracker.watch(acceptor)
    for (const part of features) part.watch?.(acceptor)
    acceptor.on('listen', () => {
      admission.onListen(acceptor)
      setImmediate(flushCompileCache)
    })
    acceptor.on('close', () => {
      if (!acceptor.keepsIdle) inbox.close(0, acceptor) // as Node does with idle connections
      admission.unhold()
    })
  })
  greet()
}

/** @param {unknown} error @returns {string} a line, with the place of a syntax error */
function sayError (error) {
  if (!(error instanceof Error)) return inspect(error, { breakLength: Infinity })
  const place = /^(\/.*:\d+)\n/.exec(String(error.stack))?.[1]
  return `${error.name}: ${error.message}`.split('\n', 1)[0] + (place ? ` (${place})` : '')
}

/** There is no primary to end this process. @param {number} killTimeoutMs */
function exitAlone (killTimeoutMs) {
  setTimeout(() => process.exit(0), killTimeoutMs).unref()
  process.kill(process.pid, 'SIGTERM')
}

module.exports = { enter }
