'use strict'

/**
 * Ctrl-C reaches the whole process group, and systemd's default signals every process of a unit. A worker that exits
 * then drops its requests in flight. So until the primary has drained this worker, the terminating signals are held:
 * the app's listeners stay registered, and are not called; but those for SIGTERM are as soon as only streams are left,
 * which the app has to end.
 *
 * A listener of ours prevents the default action, which is to exit, and `process.emit` is replaced to hold the
 * listeners' calls; libraries such as signal-exit do the same.
 *
 * A signal that the app gives itself, by process.kill() or process.emit(), is no accident: it wants to leave. So it is
 * replaced, and the signal is delivered when it has drained, in place of the primary's SIGTERM.
 *
 * An app that was written for pm2 listens for SIGINT, or for the message 'shutdown', and not for SIGTERM, others for
 * SIGQUIT: it is told by that instead. One that listens for none of them ends by process.exit(), so that its `exit`
 * listeners run: what a logger has not written yet, a lock file.
 */

const { constants: { signals: NUMBERS } } = require('node:os')
const { setImmediate } = require('node:timers')
const { callApp } = require('../call-app')

const HELD = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'])
/** Signals by which an app may end, the first that it listens for before the others. */
const ENDING = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGQUIT'])
/**
 * Verbs of the primary, which may reach every process of a unit, and Node's own, which opens an inspector: the app's
 * listeners alone have them.
 */
const WITHOUT_DEFAULT = /** @type {const} */ (['SIGUSR1', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU'])

const SHUTDOWN = 'shutdown'

function holdSignals () {
  let isHolding = true
  let heard = () => {}
  let onHeld = (/** @type {string} */ signal) => {}
  /**
   * The signal that ends the app in place of SIGTERM: one that it has given itself, while it was held, or listens for.
   * @type {NodeJS.Signals | 'message' | null}
   */
  let own = null
  /** The app has been told ahead, and is not told again. */
  let isTold = false
  /** @type {(signal: string) => boolean} this worker is to be replaced for it; else the signal is delivered at once */
  let askToLeave = () => false
  const { emit, kill } = process
  const ours = () => {}

  const listens = (/** @type {string} */ signal) =>
    process.listeners(/** @type {NodeJS.Signals} */ (signal)).some(listener => listener !== ours)
  const ending = () => own ?? ENDING.find(listens) ??
    (process.listeners('message').some(isForShutdown) ? 'message' : 'SIGTERM')

  /** @param {NodeJS.Signals | 'message'} event */
  const callListeners = event => {
    const args = event === 'message' ? [SHUTDOWN] : [event, NUMBERS[event]]
    const listeners = process.rawListeners(event).filter(listener => listener !== ours)
    for (const listener of listeners) setImmediate(callApp, event, () => Reflect.apply(listener, process, args))
    return listeners.length
  }

  /** @param {boolean} [isPlanned] it has drained */
  const release = (isPlanned = false) => {
    isHolding = false
    const isAnswered = own !== null && (own !== 'SIGTERM' || (isPlanned && !listens('SIGTERM'))) // in its place
    for (const signal of HELD) if (signal !== 'SIGTERM' || !isAnswered) process.removeListener(signal, ours)
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

  const pass = (/** @type {unknown} */ event, /** @type {unknown[]} */ args) => {
    const isLast = event === (own ?? 'SIGTERM') && (event !== 'message' || args[0] === SHUTDOWN)
    try {
      return (isLast && isTold) || Reflect.apply(emit, process, [event, ...args])
    } finally {
      if (isLast) heard()
    }
  }

  /** The listener that Node calls for a signal. @type {any} */
  const fromKernel = (/** @type {any} */ event, /** @type {unknown[]} */ ...args) => {
    if (isHolding && HELD.includes(event)) {
      onHeld(event)
      return true
    }
    if (event !== 'SIGTERM' || own === null || !process.listeners(event).includes(ours)) return pass(event, args)
    process.removeListener(event, ours)
    if (own === 'SIGTERM') return listens(event) ? pass(event, args) : process.exit()
    return own === 'message' ? pass('message', [SHUTDOWN]) : kill(process.pid, own)
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
  process.emit = (/** @type {any} */ event, /** @type {unknown[]} */ ...args) => {
    if (!isHolding || !HELD.includes(event)) return pass(event, args)
    const isListenedTo = process.listenerCount(event) > 1
    if (isListenedTo) take(event, () => pass(event, args))
    return isListenedTo
  }
  process.kill = (pid, signal = 'SIGTERM') => {
    const own = HELD.find(held => held === signal || NUMBERS[held] === signal)
    if (!isHolding || Number(pid) !== process.pid || !own) return kill(pid, signal)
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
    if (listener === ours && (isHolding || WITHOUT_DEFAULT.includes(event))) listen(event)
  })

  return {
    /** @param {typeof onHeld} fn called with each signal from outside that is held */
    onHeld (fn) {
      onHeld = fn
    },

    /** @param {typeof askToLeave} fn called when the app gives itself a signal */
    onOwn (fn) {
      askToLeave = fn
    },

    /** Calls the app's listeners for what ends it, ahead and once. @returns {boolean} it has any, called now */
    tell () {
      const event = ending()
      if (isTold || !isHolding || !listens(event)) return false
      isTold = true
      callListeners(event)
      return true
    },

    /**
     * Calls the app's listeners for a signal that the primary passes on.
     * @param {NodeJS.Signals} signal @returns {number} how many there are
     */
    deliver: signal => callListeners(signal),

    /**
     * From here on a signal calls the app's listeners, or has its default action.
     * @param {() => void} done called behind the app's listeners for what ends it, where it has any. It is no listener
     *   itself: some count them to tell whether they are alone, and must end the process
     */
    release (done) {
      own = ending()
      heard = done
      release(true)
    }
  }
}

/**
 * Others listen for messages of the app's own, and would not end the worker for this one, or would throw: it then ends
 * by the signal. A bound function hides its source.
 * @param {Function} listener
 */
const isForShutdown = listener => /['"`]shutdown['"`]/.test(Function.prototype.toString.call(listener))

module.exports = { holdSignals }
