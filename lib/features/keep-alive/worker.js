'use strict'

/**
 * In a worker: gives each HTTP server the timeout, at its first connection, when the app has had its say. What the app
 * sets later holds, as it is the server's own property.
 */

const http = require('node:http')
const { performance } = require('node:perf_hooks')
/** @import { Connection } from '../../worker/connections/connection' */
/** @import { WorkerKernel, WorkerPart } from '../interface' */

const NODES = new http.Server() // has Node's defaults
const SHORT_MS = 5000 // Node's default before 26
// A proxy that gives up in time, after 4 s say, sends nothing on a connection that has been idle for longer
const IDLE_MS = 0.9 * SHORT_MS
const HEADERS = ['X-Forwarded-For', 'Via', 'Forwarded']
const MARGIN_MS = 1000

/** @param {WorkerKernel} kernel @param {{ timeoutMs: number | null }} settings @returns {WorkerPart} */
function keepAlive ({ channel, tracker, beatMs }, { timeoutMs }) {
  if (timeoutMs !== null) {
    const seen = new WeakSet()
    tracker.on('connection', ({ acceptor: { server } }) => {
      if (!seen.has(server)) extend(server, timeoutMs)
      seen.add(server)
    })
  }
  let isOver = timeoutMs !== null || NODES.keepAliveTimeout !== SHORT_MS
  let isLooking = false

  /** Requests are looked at while there is a connection that is, or by the next beats will be, idle for so long. */
  function beat () {
    if (isOver) return
    const since = performance.now() - IDLE_MS + 2 * beatMs
    let isWanted = false
    for (const { idleSince, exchanges } of tracker.connections) {
      isWanted = idleSince !== null && idleSince < since && exchanges.length === 0
      if (isWanted) break
    }
    if (isWanted !== isLooking) tracker[isWanted ? 'on' : 'removeListener']('request', look)
    isLooking = isWanted
  }

  /** @param {Connection} connection @param {unknown} exchange @param {http.IncomingMessage} request */
  function look ({ idleSince, acceptor }, exchange, request) {
    const idleMs = idleSince === null ? 0 : performance.now() - idleSince
    if (idleMs < IDLE_MS) return
    const { keepAliveTimeout } = /** @type {http.Server} */ (acceptor.server)
    const header = keepAliveTimeout === SHORT_MS &&
      HEADERS.find(name => request.headers[name.toLowerCase()] !== undefined)
    if (!header) return
    isOver = true
    tracker.removeListener('request', look)
    channel.send('proxy-idle', { header, idleMs, timeoutMs: keepAliveTimeout })
  }
  return { beat }
}

/**
 * A server that is not Node's HTTP server has no such timeout. The time for a head does not count while a connection is
 * idle between two requests; but a proxy opens connections ahead of its requests, and these it closes.
 * @param {import('node:http').Server} server @param {number} timeoutMs
 */
function extend (server, timeoutMs) {
  if (server.keepAliveTimeout !== NODES.keepAliveTimeout) return
  server.keepAliveTimeout = timeoutMs
  if (server.headersTimeout !== NODES.headersTimeout) return
  server.headersTimeout = Math.max(
    server.headersTimeout, Math.min(timeoutMs + MARGIN_MS, server.requestTimeout || Infinity)
  )
}

module.exports = { part: keepAlive, extend }
