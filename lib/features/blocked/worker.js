'use strict'

/**
 * In a worker: says where its event loop is blocked. The primary asks by SIGURG, which a process that does not listen
 * for it ignores; the addon has tell() called from within whatever JavaScript runs. Native code (execSync, pbkdf2Sync)
 * says nothing.
 */

const { constants: { signals } } = require('node:os')
const { countRequests, requestName } = require('../../core/request-name')
const { loadInterrupt } = require('./interrupt')

const { captureStackTrace } = Error // the app may replace it

/**
 * @param {import('../interface').WorkerKernel} kernel
 * @param {Record<'mostFrames' | 'longestFrame' | 'mostRequests', number>} settings
 * @returns {import('../interface').WorkerPart}
 */
function tellWhereBlocked (kernel, { mostFrames, longestFrame, mostRequests }) {
  const { channel, tracker } = kernel
  let isTelling = false
  const tell = () => {
    if (isTelling) return // asked again within this
    isTelling = true
    try {
      tellOnce()
    } finally {
      isTelling = false
    }
  }
  const tellOnce = () => {
    const exchanges = [...tracker.connections].flatMap(connection => connection.exchanges)
    const own = kernel.currentExchange()
    const current = own !== null && exchanges.includes(own) ? own : exchanges.length === 1 ? exchanges[0] : null
    channel.sendAside('where', {
      stack: stackOf(tell, mostFrames).map(frame => frame.slice(0, longestFrame)),
      request: current && requestName(current.head),
      serial: [...tracker.connections].find(({ exchanges }) =>
        current && exchanges.includes(current))?.copy?.serial ?? null,
      requests: countRequests(exchanges.sort((a, b) => b.number - a.number).map(({ head }) => head), mostRequests)
    })
  }
  loadInterrupt().addon?.onSignal(signals.SIGURG, tell)
  return {}
}

/**
 * @param {Function} below its callers are wanted @param {number} most
 * @returns {string[]} frames as Node.js words them, by the source maps if it uses those
 */
function stackOf (below, most) {
  const { stackTraceLimit, prepareStackTrace } = Error
  /** @type {{ stack?: unknown }} */
  const here = {}
  try {
    Error.stackTraceLimit = most
    Error.prepareStackTrace = /** @type {any} */ (undefined) // the app's own may give anything
    captureStackTrace(here, below)
    // Without a regular expression: the app may be about to read RegExp.$1
    return String(here.stack).split('\n    at ').slice(1, most + 1).map(frame => frame.split('\n', 1)[0])
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    Error.prepareStackTrace = prepareStackTrace
  }
}

module.exports = { part: tellWhereBlocked, stackOf }
