'use strict'

/**
 * Clients that have begun a request, or a TLS handshake, and do not go on: port scanners, broken clients. The app has
 * seen nothing of what they have sent, and where the connection cannot move to a sibling, a drain would wait for it to
 * the deadline. A request is answered as Node does when its head takes too long.
 */

const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')
/** @import { Connection } from '../connections/connection' */

const SILENT_MS = 1500
const TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

/** Bytes that each had sent when it last went on. @type {WeakMap<Connection, { bytes: number, since: number }>} */
const lastSeen = new WeakMap()

/** To be called for each such connection at an interval. @param {Connection} connection */
function closeIfSilent (connection) {
  const now = performance.now()
  const { socket: { bytesRead: bytes } } = connection
  const seen = lastSeen.get(connection)
  if (seen?.bytes !== bytes) lastSeen.set(connection, { bytes, since: now })
  else if (now - seen.since >= SILENT_MS) {
    setImmediate(() => { // behind a poll for I/O: what this thread has been too busy to read is no silence
      if (connection.isUnseen && connection.socket.bytesRead === bytes) end(connection)
    })
  }
}

/** @param {Connection} connection */
function end (connection) {
  const { top, top: { parser } } = connection
  connection.fate ??= 'closedIdle'
  // Of TLS, or the rest of a body whose request is answered
  if (!parser || parser.incoming?.complete === false) return top.destroy()
  top.end(TIMEOUT)
  top.destroySoon()
}

module.exports = { closeIfSilent }
