'use strict'

/**
 * Counts the requests of this worker by route. A request counts when its response has ended: by then a framework has
 * set the route that it found (Express: `request.route`; Fastify tells it by a diagnostics channel), and what the
 * request keeps is kept. This runs for every request.
 *
 * The number of routes is bounded. A path that was not found (404) makes no route of its own, else a scan for
 * vulnerable pages would fill the table.
 */

const diagnostics = require('node:diagnostics_channel')
const { MOST_ROUTES, LONGEST_ROUTE } = require('./bounds')
const { textHash, pathHash, pathTemplate } = require('./route-name')

const kPattern = Symbol('recycle.pattern')

class RouteCounter {
  /** In the order in which they came. */
  names = ['other']
  /** For each of these, since the start. */
  counts = [0]
  /** By the hash of method and path. @type {Map<number, number>} */
  #indices = new Map()

  /** @param {import('../../worker/connections/tracker').ConnectionTracker} tracker */
  constructor (tracker) {
    diagnostics.subscribe('tracing:fastify.request.handler:start', message => {
      const { request, route } = /** @type {any} */ (message)
      if (request?.raw) request.raw[kPattern] = route?.url
    })
    tracker.on('rest', (_, { head, response }) => {
      this.counts[this.#indexOf(head, response)]++
    })
  }

  /** @param {{ method: string, url: string }} head @param {any} response of HTTP/1, or an HTTP/2 stream */
  #indexOf ({ method, url }, response) {
    const { req: request } = response
    const found = request?.[kPattern] ?? request?.route?.path
    const pattern = typeof found === 'string' ? found : null
    const seed = textHash(method)
    const hash = pattern === null ? pathHash(url, seed) : textHash(pattern, pathHash(request.baseUrl ?? '', seed))
    const index = this.#indices.get(hash)
    if (index !== undefined) return index
    if (this.names.length === MOST_ROUTES || (pattern === null && response.statusCode === 404)) return 0
    const path = pattern === null ? pathTemplate(url) : `${request.baseUrl ? pathTemplate(request.baseUrl) : ''}${pattern}`
    this.#indices.set(hash, this.names.length)
    this.counts.push(0)
    return this.names.push(`${method} ${path}`.slice(0, LONGEST_ROUTE)) - 1
  }
}

module.exports = { RouteCounter }
