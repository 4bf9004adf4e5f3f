'use strict'

/**
 * In a worker: after a collection, notes how much memory is alive and how many requests of each route there have
 * been, for the primary to find out which of them grow together (route-memory.js). Only after a collection
 * does the heap say anything of what is kept.
 */

const diagnostics = require('node:diagnostics_channel')
const { performance } = require('node:perf_hooks')
const { liveBytes } = require('../../worker/vitals/gc-pauses')
const { MOST_ROUTES, LONGEST_ROUTE } = require('./bounds')

/** @typedef {{ upMs: number, liveBytes: number, markSweeps: number, requests: number[] }} Point see feature.js */

class LiveMemory {
  /** @type {Point | null} */
  #next = null
  #sentAt = -Infinity
  #namesSent = 0
  #markSweeps = 0
  #marksSent = 0

  /** @param {import('../interface').WorkerKernel} kernel */
  constructor ({ channel, tracker, onCollected, beatMs }) {
    this.channel = channel
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
      liveBytes: liveBytes(),
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
    const path = pattern === null
      ? pathTemplate(url)
      : `${request.baseUrl ? pathTemplate(request.baseUrl) : ''}${pattern}`
    this.#indices.set(hash, this.names.length)
    this.counts.push(0)
    return this.names.push(`${method} ${path}`.slice(0, LONGEST_ROUTE)) - 1
  }
}

/**
 * The route of a request as far as its URL tells: the path without its query, with a placeholder for each part that
 * looks like an id, so that /users/17 and /users/18 are one route. A worker counts by a hash of it for every request,
 * and makes the text once for each route: the hash is computed in one pass, and allocates nothing.
 */

const PLACEHOLDER = ':id'
const LONGEST_PATH = 120 // characters that are looked at
const LONGEST_WORD = 32
const SHORTEST_HEX = 8
const SHORTEST_MIXED = 16

const SLASH = 47
const DOT = 46
const QUESTION = 63
const NUMBER_SIGN = 35
const PRIME = 16777619 // of FNV-1a
const ID = 0x1d

/** @param {string} text @param {number} [seed] the hash of what comes before @returns {number} 32 bits */
function textHash (text, seed = PRIME) {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME)
  return hash
}

/**
 * The same for two URLs of one template.
 * @param {string} url as the first line of a request has it @param {number} seed @returns {number} 32 bits
 */
function pathHash (url, seed) {
  const length = Math.min(url.length, LONGEST_PATH)
  let hash = seed
  let before = seed
  let from = 0
  let digits = 0
  let letters = 0
  let others = 0
  for (let at = 0; at <= length; at++) {
    const code = at < length ? url.charCodeAt(at) : QUESTION
    if (code >= 48 && code <= 57) digits++
    else if (code === SLASH || code === DOT || code === QUESTION || code === NUMBER_SIGN) {
      if (isId(at - from, digits, letters, others)) hash = Math.imul(before ^ ID, PRIME)
      if (code === QUESTION || code === NUMBER_SIGN) return hash
      before = hash = Math.imul(hash ^ code, PRIME)
      from = at + 1
      digits = letters = others = 0
      continue
    } else if ((code >= 97 && code <= 102) || (code >= 65 && code <= 70)) letters++
    else if (code !== 45 && code !== 95 && code !== 44 && code !== 58) others++ // - _ , : may stand between digits
    hash = Math.imul(hash ^ code, PRIME)
  }
  return hash
}

/** @param {string} url @returns {string} */
function pathTemplate (url) {
  const [path] = url.slice(0, LONGEST_PATH).split(/[?#]/)
  return path.replace(/[^/.]+/g, part => {
    const count = (/** @type {RegExp} */ kind) => part.match(kind)?.length ?? 0
    return isId(part.length, count(/\d/g), count(/[a-f]/gi), count(/[^\da-f,:_-]/gi)) ? PLACEHOLDER : part
  }) || '/'
}

/**
 * A number, a date, a UUID, a hexadecimal id, or any long word. "v2", "oauth2" and "facade" are none.
 * @param {number} length of a part between slashes and dots
 * @param {number} digits @param {number} letters those of hexadecimal numbers
 * @param {number} others all but these and - _ , :
 */
function isId (length, digits, letters, others) {
  if (length > LONGEST_WORD) return true
  if (digits === 0) return false
  if (others > 0) return digits > 1 && length >= SHORTEST_MIXED
  return letters === 0 || length >= SHORTEST_HEX
}

/** @param {import('../interface').WorkerKernel} kernel */
const part = kernel => new LiveMemory(kernel)

module.exports = { part, RouteCounter, pathHash, pathTemplate, textHash }
