'use strict'

const { createHistogram, performance } = require('node:perf_hooks')
const { isEventStream } = require('../../core/internals')

const PERIOD_MS = 1000 // as often as the live page looks

/**
 * In a worker: counts responses with 5xx, and measures the times of responses second by second. A stream of
 * events has no time, and a response that was not finished neither a status nor a time.
 * @param {Pick<import('../interface').WorkerKernel, 'tracker'>} kernel @returns {import('../interface').WorkerPart}
 */
function measureResponses ({ tracker }) {
  const times = createHistogram() // µs
  let serverErrors = 0
  let since = performance.now()
  /** Of the latest whole period. @type {(number | null)[]} */
  let [responseP50Ms, responseP99Ms] = [null, null]
  tracker.on('rest', (connection, { response, since }) => {
    if (connection.isForeign || response.writableFinished === false) return
    if ((response.statusCode ?? response.sentHeaders?.[':status']) >= 500) serverErrors++
    if (!isEventStream(response)) times.record(Math.max(1, Math.round((performance.now() - since) * 1000)))
  })
  return {
    figures () {
      if (performance.now() - since >= PERIOD_MS) {
        since = performance.now();
        [responseP50Ms, responseP99Ms] = [50, 99].map(p => times.count === 0 ? null : times.percentile(p) / 1000)
        times.reset()
      }
      return { serverErrors, responseP50Ms, responseP99Ms }
    }
  }
}

module.exports = { part: measureResponses }
