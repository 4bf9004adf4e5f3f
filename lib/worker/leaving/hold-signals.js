'use strict'

/**
 * Ctrl-C reaches the whole process group, and systemd's default signals every process of a unit. A worker that heeded
 * that would leave with requests in flight, whatever the primary had in mind. So until the primary has drained this
 * worker, the terminating signals are held off: the app's own listeners stay registered, and simply do not hear them.
 *
 * A listener of ours keeps the default action (death) away, and `process.emit` is where a listener's call can be held;
 * libraries such as signal-exit do the same.
 */

const HELD = /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])

function holdSignals () {
  let raised = true
  const emit = process.emit
  const ours = () => {}
  /** @type {any} */
  const held = function (/** @type {any} */ event, /** @type {any[]} */ ...args) {
    if (raised && HELD.includes(event)) return true
    return Reflect.apply(emit, process, [event, ...args])
  }
  // Node binds `process.emit` as it is when a signal's first listener comes, so those who came before us come again.
  const earlier = HELD.map(signal => /** @type {const} */ ([signal, process.rawListeners(signal)]))
  for (const signal of HELD) process.removeAllListeners(signal)
  process.emit = held
  for (const [signal, listeners] of earlier) {
    process.on(signal, ours)
    for (const listener of listeners) process.on(signal, /** @type {NodeJS.SignalsListener} */ (listener))
  }

  // An app that takes all listeners off takes ours along, which keeps death away.
  const putBack = (/** @type {any} */ event, /** @type {unknown} */ listener) => { if (raised && listener === ours) process.on(event, ours) }
  process.on('removeListener', putBack)

  return {
    /** From here on a signal does what the app says, or what it does to any process. */
    release () {
      raised = false
      process.removeListener('removeListener', putBack)
      for (const signal of HELD) process.removeListener(signal, ours)
    }
  }
}

module.exports = { holdSignals }
