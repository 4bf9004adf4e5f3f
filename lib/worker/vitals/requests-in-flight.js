'use strict'

/**
 * Tells the primary which requests are in flight: all of them when this process exits by itself, with an exception,
 * say. It cannot when it is killed, so while the primary asks for it, each request is told as it begins, before the app
 * hears of it.
 */

const { performance } = require('node:perf_hooks')
const { MOST_REQUESTS } = require('../../core/envelope')
const { countRequests, requestName } = require('../../core/request-name')

const FRESH_MS = 500 // a request that was told so long ago is told again

/** @param {Pick<import('../enter').Parts, 'channel' | 'tracker'>} parts */
function tellRequestsInFlight ({ channel, tracker }) {
  let until = 0
  let freshUntil = 0
  /** @type {Set<string>} */
  const told = new Set()
  const tell = (/** @type {unknown} */ _, /** @type {import('../connections/connection').Exchange} */ { head }) => {
    const now = performance.now()
    if (now > until) return tracker.removeListener('request', tell)
    if (now > freshUntil) {
      freshUntil = now + FRESH_MS
      told.clear()
    }
    const request = requestName(head)
    if (told.has(request) || told.size >= MOST_REQUESTS) return
    told.add(request)
    channel.send('in-flight', { requests: [{ request, count: 1 }], isAll: false })
  }
  channel.on({
    'tell-requests': ({ forMs }) => {
      if (performance.now() > until) tracker.removeListener('request', tell).on('request', tell)
      until = performance.now() + forMs
    }
  })
  process.on('exit', () => {
    if (tracker.requests.inFlight > 0) {
      const exchanges = [...tracker.connections].flatMap(connection => connection.exchanges)
      const latestFirst = exchanges.sort((a, b) => b.number - a.number).map(({ head }) => head)
      channel.send('in-flight', { requests: countRequests(latestFirst, MOST_REQUESTS), isAll: true })
    }
  })
}

module.exports = { tellRequestsInFlight }
