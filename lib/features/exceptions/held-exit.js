'use strict'

/**
 * An app that listens for `uncaughtException` keeps the exception, and most such listeners end the process (Sentry's,
 * winston's, "log and exit"), which would cut the requests of others. So from then on process.exit() returns, the
 * app's server.close() leaves idle connections open, and the process ends when it has drained; a signal that it gives
 * itself begins the same. Where the drain does not begin in time it exits.
 *
 * A listener for `unhandledRejection` mostly logs, and the process lives on: its process.exit() returns for some
 * seconds alone.
 */

const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')

/** A worker holds these until it has drained. @type {ReadonlySet<string | number>} */
const SIGNALS = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'])
const WAIT_MS = 10_000 // for a replacement
const CLOSES_MS = 100 // for a listener that closes the app's server first, and exits behind the last response

/**
 * @param {Pick<import('../interface').WorkerKernel, 'state' | 'channel' | 'acceptors'>} kernel
 * @param {() => void} leave has this worker replaced; called once
 */
function holdExit ({ state, channel, acceptors }, leave) {
  const { exit, kill } = process
  let isKept = false
  let keptUntil = 0
  let isLeaving = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const begin = () => {
    if (isLeaving) return
    isLeaving = true
    timer = setTimeout(() => Reflect.apply(exit, process, []), WAIT_MS)
    leave()
  }

  const mayEnd = () => isKept || performance.now() < keptUntil

  /** @param {number | string | undefined} code */
  const held = code => {
    const isLast = state.current === 'held' || state.current === 'drained'
    if (!mayEnd() || isLast || !(channel.isUp || state.current === 'draining')) return exit(code)
    if (code !== undefined) process.exitCode = code
    begin()
  }
  process.exit = /** @type {typeof exit} */ (held)
  process.kill = (pid, signal = 'SIGTERM') => {
    if (Number(pid) === process.pid && SIGNALS.has(signal) && mayEnd()) begin()
    return kill(pid, signal)
  }

  return {
    get isLeaving () {
      return isLeaving
    },
    /** The app's listeners are about to be called. @returns {boolean} for the first time */
    keep () {
      if (isKept) return false
      isKept = true
      for (const acceptor of acceptors) acceptor.keepIdle()
      setTimeout(() => { if (![...acceptors].some(({ isOpen }) => isOpen)) begin() }, CLOSES_MS).unref()
      return true
    },
    /** @param {number} ms */
    keepFor (ms) {
      keptUntil = performance.now() + ms
    },
    /** The drain has begun: its deadline counts. */
    leave () {
      clearTimeout(timer)
    }
  }
}

module.exports = { holdExit }
