'use strict'

/**
 * WebSockets of the package ws that go to another worker. They go between two messages: what of the next frame has come
 * goes along, and where a message has come in part, or is still to be inflated or sent, the connection stays for the
 * moment. Nothing that is private to ws is used: the frames' boundaries are found by the bytes, and the other worker
 * makes its WebSocket by handleUpgrade() of the client's own request, whose response is not sent again.
 *
 * @typedef {import('node:events').EventEmitter & Record<'readyState' | 'OPEN' | 'bufferedAmount', number> &
 *   Record<'protocol' | 'extensions', string> & { close: (code?: number, reason?: string) => void,
 *   terminate: () => void }} WebSocket of ws, as far as it is used here
 *
 * @typedef {Record<'url' | 'httpVersion' | 'protocol' | 'extensions', string> & { state: unknown, rawHeaders: string[]
 *   }} Kept what goes with one
 *
 * @typedef {object} How
 * @property {(ws: any, ...more: any[]) => unknown} [save] the state of this WebSocket, which the structured clone
 *   algorithm can copy; null: it cannot go now. Called just before it goes; `more`: what `connection` was emitted with
 *   behind the request
 * @property {(ws: any, state: any, request: import('node:http').IncomingMessage) => void} [load] takes one that has
 *   come, instead of the listeners of `connection`; without it they are called, and find the state as `request.state`
 * @property {(ws: any) => unknown} [beforeClose] is called with one that cannot go, as at a stop, just before it is
 *   closed with 1012 (service restart); may return a promise
 * @property {boolean} [rebalance] false: they go only when their worker leaves, and not for the load of the workers
 * @property {string} [name] of a second server in the same app
 */

const { setImmediate, setTimeout } = require('node:timers')
const { callApp } = require('../call-app')
const { FrameBoundary } = require('./frame-boundary')
const { MOVED, followed, requestOf, skipResponse } = require('./moved-socket')
const { overlaps } = require('./overlap')
const { closeAtDrain } = require('./restart-close')
/** @import http from 'node:http' */
/** @import { Socket } from 'node:net' */
/** @import { Arrived } from '../../features/migration/trails' */

const RESTART = 1012
const ANSWER_MS = 750 // to a close frame: a client that is gone does not; a drain waits for a second
const MESSAGES = new Set(['message', 'ping', 'pong'])

/**
 * @param {any} server @param {How} how @param {import('./restart-close').MovingApi} api
 * @throws {TypeError}
 */
function moveWebSockets (server, how, { movable, onMoved, onDrain, onAlone, said }) {
  const { save = () => undefined, load, beforeClose = () => {}, rebalance, name = 'ws' } = how
  if (typeof server?.handleUpgrade !== 'function' || !server.options) {
    throw new TypeError('webSockets() takes a WebSocketServer of the package ws; ' +
      `it is ${typeof server === 'object' ? 'another object' : String(server)}`)
  }
  const kind = `websocket ${name}`
  const { options } = server
  /** Of requests that are being answered: what was negotiated. @type {WeakMap<http.IncomingMessage, string[]>} */
  const answers = new WeakMap()
  if (options.perMessageDeflate) { // a window of earlier messages cannot go to another process
    const given = options.perMessageDeflate === true ? {} : options.perMessageDeflate
    options.perMessageDeflate = { ...given, serverNoContextTakeover: true, clientNoContextTakeover: true }
  }
  server.on('headers',
    (/** @type {string[]} */ headers, /** @type {http.IncomingMessage} */ request) => answers.set(request, headers))
  server.prependListener('connection', (/** @type {[WebSocket, http.IncomingMessage, ...unknown[]]} */
    ...[ws, request, ...more]) => track(ws, request, more))

  /** All that are open, and whether each can go to another worker. @type {Map<WebSocket, boolean>} */
  const open = new Map()
  /** @type {WeakMap<WebSocket, Socket>} */
  const socketOf = new WeakMap()
  const closing = new WeakSet()
  const close = async (/** @type {WebSocket} */ ws) => {
    if (ws.readyState !== ws.OPEN || closing.has(ws)) return
    closing.add(ws)
    said.restarted(/** @type {Socket} */ (socketOf.get(ws)), isLast())
    await Promise.resolve(callApp('beforeClose', () => beforeClose(ws))).catch(() => {}) // callApp() has told
    ws.close(RESTART, 'service restart')
    setTimeout(() => ws.terminate(), ANSWER_MS).unref()
  }
  const isLast =
    closeAtDrain({ onDrain, onAlone }, { all: () => [...open.keys()], canGo: ws => open.get(ws) === true, close })

  /** @param {WebSocket} ws @param {http.IncomingMessage} request @param {unknown[]} [more] of `connection` */
  function track (ws, request, more = []) {
    const { socket, url, rawHeaders, httpVersion } = request
    open.set(ws, false)
    socketOf.set(ws, socket)
    socket.once('close', () => open.delete(ws))
    if (isLast()) setImmediate(close, ws)
    // The other worker could not emit `connection` with these
    if (more.length > 0 && !load) return said.stays(socket, 'arguments')
    const isStateless = (answers.get(request) ?? []).every(line => !/^sec-websocket-extensions:/i.test(line) ||
      (/server_no_context_takeover/.test(line) && /client_no_context_takeover/.test(line)))
    if (!isStateless) return said.stays(socket, 'compression')
    const boundary = new FrameBoundary()
    let emitted = 0
    let hasGone = false
    const { emit } = ws
    ws.emit = (/** @type {string} */ event, /** @type {unknown[]} */ ...args) => { // the app may remove any listener
      if (MESSAGES.has(event)) emitted++
      else if (event === 'close' && hasGone) args = [RESTART, Buffer.from(MOVED)]
      return Reflect.apply(emit, ws, [event, ...args])
    }
    socket.prependListener('data', (/** @type {Buffer} */ chunk) => said.heard(socket, boundary.push(chunk)))
    const isMovable = movable(socket, kind, () => {
      const unread = boundary.rest
      if (ws.readyState !== ws.OPEN || ws.bufferedAmount > 0 || socket.readableLength > 0 || unread === null ||
        emitted < boundary.frames || overlaps(socket)) return null
      const state = save(ws, ...more)
      if (state === null) return null
      return {
        state: { state, url, rawHeaders, httpVersion, protocol: ws.protocol, extensions: ws.extensions },
        unread,
        follow: followed(socket, () => { hasGone = true })
      }
    }, { rebalance, end: () => setImmediate(close, ws) })
    open.set(ws, isMovable !== false)
  }

  onMoved(kind, (/** @type {Socket} */ socket, /** @type {Kept} */ {
    state, url, rawHeaders, httpVersion, protocol, extensions
  }, /** @type {Buffer} */ unread, /** @type {Arrived | null} */ arrived) => {
    const request = requestOf(socket, { url, rawHeaders, httpVersion })
    const { headers } = request
    if (!server.shouldHandle(request)) return socket.destroy() // other code
    const { verifyClient } = options
    /** @type {WebSocket | null} */
    let here = null
    const written = skipResponse(socket, arrived, { close: (code, reason) => here?.close(code, reason) })
    options.verifyClient = null // it was let in
    request.headers = { ...headers }
    if (protocol) request.headers['sec-websocket-protocol'] = protocol
    else delete request.headers['sec-websocket-protocol']
    try {
      server.handleUpgrade(request, socket, unread, (/** @type {WebSocket} */ ws) => {
        here = ws
        request.headers = headers
        // Other code
        if (ws.protocol !== protocol || ws.extensions !== extensions) return ws.close(RESTART, 'other extensions')
        if (!load) return server.emit('connection', ws, Object.assign(request, { state }))
        track(ws, request)
        load(ws, state, request)
      })
    } finally {
      options.verifyClient = verifyClient
      written()
    }
  })
}

module.exports = { moveWebSockets }
