'use strict'

/**
 * In a worker: an exception that the app does not catch is answered for, and the worker goes on until it has been replaced. Whose code threw it is
 * told by an AsyncLocalStorage that each request enters. An app that listens for `uncaughtException` keeps the exception. A worker that does
 * not serve yet ends, as by Node.
 */

const { AsyncLocalStorage } = require('node:async_hooks')
const http = require('node:http')
const { describe } = require('./print')

const LONGEST = 200
const LONGEST_STACK = 2000
const LONGEST_TRACE = 8000
const BODY = 'Internal Server Error\n'

/** @typedef {import('../../worker/connections/connection').Exchange} Exchange */

/** @param {import('..').WorkerKernel} kernel @returns {import('..').WorkerPart} */
function surviveExceptions ({ channel, tracker, state }) {
  /** @type {AsyncLocalStorage<Exchange>} */
  const requests = new AsyncLocalStorage()
  const isOfItsOwnMode = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].some(flag => flag.startsWith('--unhandled-rejections'))
  tracker.on('request', (_, exchange) => requests.enterWith(exchange))

  // Added when Node is about to look for listeners, so that the app, and what counts them, sees none of ours.
  process.on('uncaughtExceptionMonitor', (_, origin) => {
    if (origin === 'unhandledRejection' && isOfItsOwnMode) return
    if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()) return
    process.once('uncaughtException', state.current === 'held' ? die : survive)
  })

  /** Node does the same, but prints it here: the workers of a fleet that cannot start all throw the same. @param {unknown} error */
  function die (error) {
    const trace = describe(error)
    if (channel.isUp && trace.length <= LONGEST_TRACE) channel.send('fatal', { trace })
    else process.stderr.write(trace)
    process.exit(1)
  }

  /** @param {unknown} error */
  function survive (error) {
    process.stderr.write(describe(error))
    const exchange = requests.getStore() ?? null
    const { name, message, stack } = error instanceof Error ? error : { name: 'a value', message: String(error), stack: '' }
    channel.send('uncaught', {
      name: String(name).slice(0, LONGEST),
      message: String(message).split('\n', 1)[0].slice(0, LONGEST),
      stack: String(stack).slice(0, LONGEST_STACK),
      request: exchange && `${exchange.head.method} ${exchange.head.url.split('?', 1)[0]}`.slice(0, LONGEST),
      isAnswered: exchange !== null && answer(exchange)
    })
  }

  return {}
}

/** @param {Exchange} exchange @returns {boolean} it got 500: nothing had been answered */
function answer ({ response }) {
  if (!(response instanceof http.ServerResponse)) return false
  if (response.headersSent || response.writableEnded || response.destroyed) return false
  const { writeHead, end } = http.ServerResponse.prototype // the app's own may throw again
  try {
    for (const header of response.getHeaderNames()) response.removeHeader(header)
    writeHead.call(response, 500, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(BODY), connection: 'close' })
    Reflect.apply(end, response, [BODY])
    return true
  } catch {
    return false // the app has made it unusable: the request is in flight like the others
  }
}

module.exports = { surviveExceptions }
