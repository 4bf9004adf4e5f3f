'use strict'

/**
 * In a worker: an exception that the app does not catch is answered for, and the worker goes on until it has been
 * replaced. Whose code threw it is told by an AsyncLocalStorage that each request enters; where the handler throws as
 * it is called, Node may have left that context when it tells. An app that listens for `uncaughtException` keeps the
 * exception (held-exit.js). A worker that does not serve yet, or has drained, ends, as by Node.
 *
 * Where the request is not known, each one in flight may be the one. As with a worker that dies, another worker has it
 * once (`deaths`); in the second it gets 500 just before it would be cut.
 */

const { AsyncLocalStorage } = require('node:async_hooks')
const { ServerResponse } = require('node:http')
const { clearTimeout, setTimeout } = require('node:timers')
const { requestName } = require('../../core/request-name')
const { printError } = require('../../worker/leaving/standard-streams')
const { LONGEST } = require('./bounds')
const { holdExit } = require('./held-exit')
const { describe, print } = require('./print')
/** @import { Exchange } from '../../worker/connections/connection' */

const { writeHead, end } = ServerResponse.prototype // what the app puts in their place may throw again
const BODY = 'Internal Server Error\n'
const AHEAD_MS = 100 // of the drain deadline
const ENDS_MS = 3000 // for a listener that sends a report before it ends the process

/**
 * @typedef {{ exchange: Exchange | null, method: string, url: string }} Current small, for a timer or promise of the
 *   app's may keep it for ever; without the exchange when that has ended
 */

/** @typedef {'uncaughtException' | 'unhandledRejection'} Event */

/** @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart} */
function surviveExceptions (kernel) {
  const { channel, tracker, state } = kernel
  /** @type {AsyncLocalStorage<Current>} */
  const requests = new AsyncLocalStorage()
  const isOfItsOwnMode = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].some(flag =>
    flag.startsWith('--unhandled-rejections'))
  /** Of the request whose handler may be running, in this turn. @type {Current | null} */
  let starting = null
  /**
   * Exceptions that have interrupted the queue of process.nextTick(): Node runs the rest of it only after the handler
   * of the next request, which must not be blamed for what throws there.
   */
  let interrupted = 0
  const forget = () => { starting = null }
  const settled = Promise.resolve() // queueMicrotask() makes an AsyncResource for each call
  tracker.requests.starting = ({ head }, exchange) => {
    /** @type {Current} */
    const current = { exchange, method: exchange.head.method, url: exchange.head.url }
    exchange.current = current
    requests.enterWith(current)
    if (interrupted > 0) return
    if (head?.whenParsed(forget) !== true) settled.then(forget)
    starting = current
  }
  kernel.currentExchange = () => requests.getStore()?.exchange ?? null
  const throwing = () => requests.getStore() ?? starting

  // Added when Node is about to look for listeners, so that the app, and what counts them, sees none of ours.
  process.on('uncaughtExceptionMonitor', (thrown, origin) => {
    if (origin === 'unhandledRejection' && isOfItsOwnMode) return
    if (process._exiting) return // an `exit` listener's: process.exit() would be given up for it
    const current = throwing()
    forget()
    interrupted++
    process.nextTick(() => interrupted--)
    if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()) {
      return leaveToApp(thrown, current)
    }
    const hasNothing = state.current === 'held' || state.current === 'drained'
    process.once('uncaughtException', hasNothing ? die : thrown => survive(thrown, current))
  })

  /**
   * The exception that the app's own listeners have had last.
   * @type {{ thrown: unknown, current: Current | null, event: Event }}
   */
  let kept = { thrown: null, current: null, event: 'uncaughtException' }
  /** Tells the first of them, once, where it has not ended the process. */
  let tellKept = () => {}
  const heldExit = holdExit(kernel, () => endFor(kept.thrown, kept.current, nameListener(kept.event)))

  const { emit } = process
  process.emit = (/** @type {string} */ event, /** @type {unknown[]} */ ...args) => {
    if (event === 'unhandledRejection' && process.listenerCount(event) > 0 && state.current !== 'held') {
      kept = { thrown: args[0], current: throwing(), event }
      heldExit.keepFor(ENDS_MS)
    }
    return Reflect.apply(emit, process, [event, ...args])
  }

  /** The app ends this process now, perhaps. @param {unknown} thrown @param {Current | null} current */
  function leaveToApp (thrown, current) {
    if (current?.exchange) tracker.witness?.threw(current.exchange.connection)
    if (state.current === 'held') return
    kept = { thrown, current, event: 'uncaughtException' }
    if (!heldExit.keep()) return
    const timer = setTimeout(() => tellKept(), ENDS_MS).unref()
    tellKept = () => {
      clearTimeout(timer)
      tellKept = () => {}
      if (heldExit.isLeaving) return
      tell(thrown, current, { isAnswered: false, listener: nameListener('uncaughtException'), isEnding: false })
    }
  }

  /** @param {unknown} thrown @param {Current | null} current @param {string | null} listener the app's that ends it */
  function endFor (thrown, current, listener) {
    if (!current?.exchange) for (const exchange of inFlight()) exchange.isSuspect = true
    const isAnswered = current?.exchange ? answer(current.exchange) : false
    tell(thrown, current, { isAnswered, listener, isEnding: true })
  }

  /**
   * @param {unknown} thrown @param {Current | null} current
   * @param {{ isAnswered: boolean, listener: string | null, isEnding: boolean }} more
   */
  function tell (thrown, current, more) {
    channel.send('uncaught', { ...describe(thrown), request: current ? requestName(current) : null, ...more })
  }

  /**
   * Node does the same, but prints it here: the workers of a fleet that cannot start all throw the same.
   * @param {unknown} thrown
   */
  function die (thrown) {
    const trace = print(thrown)
    if (channel.isUp && trace.length <= LONGEST.trace) channel.send('fatal', { trace })
    else printError(trace)
    process.exit(1)
  }

  /** @param {unknown} thrown @param {Current | null} current */
  function survive (thrown, current) {
    printError(print(thrown))
    endFor(thrown, current, null)
  }

  const inFlight = () => [...tracker.connections].flatMap(({ exchanges }) => exchanges)

  function answerSuspects () {
    for (const exchange of inFlight()) if (exchange.isSuspect && exchange.connection.deaths > 0) answer(exchange)
  }

  /** @type {NodeJS.Timeout | undefined} */
  let timer
  return {
    leave (deadlineMs) {
      tellKept()
      heldExit.leave()
      clearTimeout(timer)
      timer = setTimeout(answerSuspects, Math.max(0, deadlineMs - AHEAD_MS)).unref() // else it keeps the process
    }
  }
}

/** @param {Event} event @returns {string} the app's listener for exceptions, by its name or its beginning */
function nameListener (event) {
  const [listener] = process.listeners(/** @type {NodeJS.Signals} */ (event))
  if (!listener) return 'setUncaughtExceptionCaptureCallback()'
  return (listener.name || String(listener).replaceAll(/\s+/g, ' ')).slice(0, LONGEST.listener)
}

/** @param {Exchange} exchange @returns {boolean} it got 500: nothing had been answered */
function answer ({ response }) {
  try {
    if (!(response instanceof ServerResponse) || response.headersSent || response.writableEnded || response.destroyed) {
      return false
    }
    for (const header of response.getHeaderNames()) response.removeHeader(header)
    writeHead.call(response, 500,
      { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(BODY), connection: 'close' })
    Reflect.apply(end, response, [BODY])
    return true
  } catch {
    return false // the app has made it unusable: the request is in flight like the others
  }
}

module.exports = { part: surviveExceptions }
