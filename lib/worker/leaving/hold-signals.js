'use strict'

/**
 * Ctrl-C reaches the whole process group, and systemd's default signals every process of a unit. A worker that exits then
 * drops its requests in flight. So until the primary has drained this worker, the terminating signals are held: the app's
 * listeners stay registered, and are not called.
 *
 * A listener of ours prevents the default action, which is to exit, and `process.emit` is replaced to hold the listeners'
 * calls; libraries such as signal-exit do the same.
 */

const HELD = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])
/** Verbs of the primary, which may reach every process of a unit, and Node's own, which opens an inspector: the app's listeners alone have them. */
const WITHOUT_DEFAULT = /** @type {const} */ (['SIGUSR1', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU'])

function holdSignals () {
  let isHeld = true
  let heard = () => {}
  const emit = process.emit
  const ours = () => {}
  /** @type {any} */
  const held = function (/** @type {any} */ event, /** @type {any[]} */ ...args) {
    if (isHeld && HELD.includes(event)) return true
    try {
      return Reflect.apply(emit, process, [event, ...args])
    } finally {
      if (event === 'SIGTERM') heard()
    }
  }
  // Node binds `process.emit` when a signal's first listener is added, so earlier listeners are added again.
  const earlier = HELD.map(signal => /** @type {const} */ ([signal, process.rawListeners(signal)]))
  for (const signal of HELD) process.removeAllListeners(signal)
  process.emit = held
  for (const [signal, listeners] of earlier) {
    process.on(signal, ours)
    for (const listener of listeners) process.on(signal, /** @type {NodeJS.SignalsListener} */ (listener))
  }

  for (const signal of WITHOUT_DEFAULT) process.on(signal, ours)

  // An app that removes all listeners of a signal removes ours too.
  process.on('removeListener', (/** @type {any} */ event, /** @type {unknown} */ listener) => {
    if (listener === ours && (isHeld || WITHOUT_DEFAULT.includes(event))) process.on(event, ours)
  })

  return {
    /**
     * From here on a signal calls the app's listeners, or has its default action.
     *
     * @param {() => void} done called behind the app's listeners for SIGTERM, where it has any. It is no listener itself: some count them
     *   to tell whether they are alone, and must end the process
     */
    release (done) {
      isHeld = false
      heard = done
      for (const signal of HELD) process.removeListener(signal, ours)
    }
  }
}

module.exports = { holdSignals }
