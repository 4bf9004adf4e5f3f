'use strict'

/**
 * A small HTTP server in the primary. It answers GET on a few paths and refuses everything else at little cost. Its
 * limits bound the connections and the time that clients can take; no connection keeps the process alive.
 *
 * @typedef {Record<string, (response: Response) => void | Promise<void>>} Routes by path
 */

const http = require('node:http')
const { isLoopback } = require('../../core/loopback')
/** @import { IncomingMessage as Request, ServerResponse as Response } from 'node:http' */

const MAX_CONNECTIONS = 64
const REQUEST_MS = 3000 // that a request may take to come
const LIMITS = Object.freeze({
  maxHeaderSize: 8192,
  headersTimeout: REQUEST_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 500,
  insecureHTTPParser: false
})
const SILENT_MS = 15_000 // on a connection, in either direction

/**
 * @param {Routes} routes
 * @param {{ host: string, isPublic: boolean }} about `host`: its address; `isPublic`: any Host header is accepted
 * @returns {http.Server} not listening yet
 */
function createServer (routes, { host, isPublic }) {
  const server = http.createServer(LIMITS, (request, response) => {
    response.on('error', () => response.destroy())
    const refusal = refuse(request, routes, { host, isPublic })
    if (refusal) return answer(response, refusal.status, refusal.text, refusal.headers)
    const route = async () => routes[pathOf(request)](response)
    route().catch(error => {
      process.emitWarning(error)
      if (response.headersSent) response.destroy()
      else answer(response, 500, 'internal error\n')
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = SILENT_MS
  server.on('checkContinue',
    (request, response) => answer(response, 417, 'a request must not have a body\n', { connection: 'close' }))
  server.on('connection', socket => socket.unref())
  server.unref()
  return server
}

/** @param {Response} response @param {number} status @param {string} text @param {Record<string, string>} [headers] */
function answer (response, status, text, headers = {}) {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers
  })
  response.end(text)
}

/**
 * @param {Request} request @param {Routes} routes @param {{ host: string, isPublic: boolean }} about
 * @returns {{ status: number, text: string, headers?: Record<string, string> } | null}
 */
function refuse (request, routes, { host, isPublic }) {
  if (!isPublic && !isOurName(request.headers.host, host)) {
    return { status: 421, text: 'the Host header must be a name of this machine, such as localhost\n' }
  }
  if (Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined) {
    return { status: 413, text: 'a request must not have a body\n', headers: { connection: 'close' } }
  }
  if (!Object.hasOwn(routes, pathOf(request))) {
    return { status: 404, text: `not found; the paths are ${Object.keys(routes).join(', ')}\n` }
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, text: 'only GET and HEAD are allowed\n', headers: { allow: 'GET, HEAD' } }
  }
  return null
}

/**
 * Protects against DNS rebinding: a foreign page may have its own name resolve to this machine, and read the answers,
 * but its requests carry that name in the Host header.
 * @param {string | undefined} asked the Host header @param {string} host on which the server listens
 */
function isOurName (asked, host) {
  if (asked === undefined) return true // HTTP/1.0; browsers always send the header
  const name = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::\d*)?$/.exec(asked)?.groups
  const given = name?.v6 ?? name?.name ?? ''
  return isLoopback(given) || given.toLowerCase() === host.toLowerCase()
}

/** @param {Request} request */
const pathOf = ({ url = '' }) => url.split('?', 1)[0]

module.exports = { REQUEST_MS, createServer, answer }
