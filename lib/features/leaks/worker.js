'use strict'

/**
 * In a worker: after a collection, notes how much memory is alive and how many requests of each route there have
 * been, for the primary to find out which of them grow together (route-memory.js). Only after a collection
 * does the heap say anything of what is kept.
 */

const diagnostics = require('node:diagnostics_channel')
const { performance } = require('node:perf_hooks')
const { MOST_ROUTES, LONGEST_ROUTE } = require('./bounds')
const { textHash, pathHash, pathTemplate } = require('./route-name')

/** @typedef {{ upMs: number, liveBytes: number, markSweeps: number, requests: number[] }} Point see feature.js */

class LiveMemory {
  /** @type {Point | null} */
  #next = null
  #sentAt = -Infinity
  #namesSent = 0
  #markSweeps = 0
  #marksSent = 0

  /** @param {import('../interface').WorkerKernel} kernel */
  constructor ({ channel, tracker, onCollected, liveBytes, beatMs }) {
    this.channel = channel
    this.liveBytes = liveBytes
    this.everyMs = 2 * beatMs
    this.routes = new RouteCounter(tracker)
    onCollected(hasMarkSweep => this.#look(hasMarkSweep))
  }

  /** Sends what was noted last. A mark-sweep is never left out: it alone frees what has become old. */
  beat () {
    const point = this.#next
    if (point === null || (point.markSweeps === this.#marksSent &&
      performance.now() - this.#sentAt < this.everyMs)) return
    const { names } = this.routes
    this.channel.send('memory', { ...point, routes: names.slice(this.#namesSent, point.requests.length) })
    this.#namesSent = point.requests.length
    this.#marksSent = point.markSweeps
    this.#sentAt = performance.now()
    this.#next = null
  }

  /** @param {boolean} hasMarkSweep */
  #look (hasMarkSweep) {
    if (hasMarkSweep) this.#markSweeps++
    // That of a mark-sweep is to be sent first
    if (this.#next !== null && this.#next.markSweeps > this.#marksSent && !hasMarkSweep) return
    this.#next = {
      upMs: Math.round(performance.now()),
      liveBytes: this.liveBytes(),
      markSweeps: this.#markSweeps,
      requests: [...this.routes.counts]
    }
  }
}

/**
 * Counts the requests of this worker by route. A request counts when its response has ended: by then a framework has
 * set the route that it found (Express: `request.route`; Fastify tells it by a diagnostics channel), and what the
 * request keeps is kept. This runs for every request.
 *
 * The number of routes is bounded. A path that was not found (404) makes no route of its own, else a scan for
 * vulnerable pages would fill the table.
 */

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

module.exports = { LiveMemory, RouteCounter }
