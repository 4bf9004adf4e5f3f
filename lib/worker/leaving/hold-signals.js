'use strict'

/**
 * Ctrl-C reaches the whole process group, and systemd's default signals every process of a unit. A worker that exits then
 * drops its requests in flight. So until the primary has drained this worker, the terminating signals are held: the app's
 * listeners stay registered, and are not called; but those for SIGTERM are as soon as only streams are left, which the app has to end.
 *
 * A listener of ours prevents the default action, which is to exit, and `process.emit` is replaced to hold the listeners'
 * calls; libraries such as signal-exit do the same.
 *
 * A signal that the app gives itself, by process.kill() or process.emit(), is no accident: it wants to leave. So it is replaced,
 * and the signal is delivered when it has drained, in place of the primary's SIGTERM.
 */

const { constants: { signals: NUMBERS } } = require('node:os')
const { setImmediate } = require('node:timers')
const { callApp } = require('../call-app')

const HELD = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])
/** Verbs of the primary, which may reach every process of a unit, and Node's own, which opens an inspector: the app's listeners alone have them. */
const WITHOUT_DEFAULT = /** @type {const} */ (['SIGUSR1', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU'])

function holdSignals () {
  let isHeld = true
  let heard = () => {}
  /** What the app has given itself, while it was held. @type {NodeJS.Signals | null} */
  let own = null
  /** The app has been told ahead, and is not told again. */
  let isTold = false
  /** @type {(signal: string) => boolean} whether this worker is to be replaced for it; else the signal is delivered at once */
  let askToLeave = () => false
  const { emit, kill } = process
  const ours = () => {}

  const release = () => {
    isHeld = false
    for (const signal of HELD) if (own === null || own === 'SIGTERM' || signal !== 'SIGTERM') process.removeListener(signal, ours)
  }

  /** @param {NodeJS.Signals} signal @param {() => unknown} deliver */
  const take = (signal, deliver) => {
    if (own !== null) return
    if (askToLeave(signal)) {
      own = signal
    } else {
      release()
      deliver()
    }
  }

  const pass = (/** @type {any} */ event, /** @type {any[]} */ args) => {
    const isLast = event === (own ?? 'SIGTERM')
    try {
      return (isLast && isTold) || Reflect.apply(emit, process, [event, ...args])
    } finally {
      if (isLast) heard()
    }
  }

  /** What Node calls for a signal. @type {any} */
  const fromKernel = (/** @type {any} */ event, /** @type {any[]} */ ...args) => {
    if (isHeld && HELD.includes(event)) return true
    if (event !== 'SIGTERM' || own === null || own === 'SIGTERM' || !process.listeners(event).includes(ours)) return pass(event, args)
    process.removeListener(event, ours)
    return kill(process.pid, own)
  }

  // Node binds `process.emit` when a signal's first listener is added, so earlier listeners are added again.
  const listen = (/** @type {NodeJS.Signals} */ signal) => {
    const { emit } = process
    process.emit = fromKernel
    process.on(signal, ours)
    process.emit = emit
  }
  const earlier = HELD.map(signal => /** @type {const} */ ([signal, process.rawListeners(signal)]))
  for (const signal of HELD) process.removeAllListeners(signal)
  process.emit = /** @type {any} */ (/** @type {any} */ event, /** @type {any[]} */ ...args) => {
    if (!isHeld || !HELD.includes(event)) return pass(event, args)
    const isListenedTo = process.listenerCount(event) > 1
    if (isListenedTo) take(event, () => pass(event, args))
    return isListenedTo
  }
  process.kill = (pid, signal = 'SIGTERM') => {
    const own = HELD.find(held => held === signal || NUMBERS[held] === signal)
    if (!isHeld || Number(pid) !== process.pid || !own) return kill(pid, signal)
    take(own, () => kill(pid, signal))
    return true
  }
  for (const [signal, listeners] of earlier) {
    listen(signal)
    for (const listener of listeners) process.on(signal, /** @type {NodeJS.SignalsListener} */ (listener))
  }

  for (const signal of WITHOUT_DEFAULT) process.on(signal, ours)

  // An app that removes all listeners of a signal removes ours too.
  process.on('removeListener', (/** @type {any} */ event, /** @type {unknown} */ listener) => {
    if (listener === ours && (isHeld || WITHOUT_DEFAULT.includes(event))) listen(event)
  })

  return {
    /** @param {typeof askToLeave} fn called when the app gives itself a signal */
    onOwn (fn) {
      askToLeave = fn
    },

    /** Calls the app's listeners for SIGTERM, or for what it has given itself, ahead and once. @returns {boolean} it has any, and they are called now */
    tell () {
      const signal = own ?? 'SIGTERM'
      if (isTold || !isHeld || process.listenerCount(signal) < 2) return false
      isTold = true
      for (const listener of process.rawListeners(signal)) {
        if (listener !== ours) setImmediate(callApp, signal, () => Reflect.apply(listener, process, [signal, NUMBERS[signal]]))
      }
      return true
    },

    /**
     * From here on a signal calls the app's listeners, or has its default action.
     *
     * @param {() => void} done called behind the app's listeners for SIGTERM, or for what it has given itself, where it has any. It is no listener itself: some count them
     *   to tell whether they are alone, and must end the process
     */
    release (done) {
      heard = done
      release()
    }
  }
}

module.exports = { holdSignals }
