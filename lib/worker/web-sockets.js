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

const http = require('node:http')
const { setImmediate, setTimeout } = require('node:timers')
const { callApp } = require('./call-app')
const { FrameBoundary } = require('./frame-boundary')
const { Overlap } = require('./overlap')
const { NOTHING_SAID, closeAtDrain } = require('./restart-close')
/** @import { Socket } from 'node:net' */
/** @import { Arrived } from '../features/migration/trails' */

const RESTART = 1012
const MOVED = 'moved'
const ANSWER_MS = 750 // to a close frame: a client that is gone does not; a drain waits for a second
const MESSAGES = new Set(['message', 'ping', 'pong'])

/**
 * @param {any} server @param {How} how @param {import('./restart-close').MovingApi} api
 * @throws {TypeError}
 */
function moveWebSockets (server, how, { movable, onMoved, onDrain, onAlone, said = NOTHING_SAID }) {
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
    said.restarted(/** @type {Socket} */ (socketOf.get(ws)), isLast)
    await Promise.resolve(callApp('beforeClose', () => beforeClose(ws))).catch(() => {}) // callApp() has told
    ws.close(RESTART, 'service restart')
    setTimeout(() => ws.terminate(), ANSWER_MS).unref()
  }
  /** WebSockets that come while this worker leaves for good are sent away. */
  let isLast = false
  onDrain(({ handoff }) => { isLast = !handoff })
  onAlone?.(() => { isLast = true })
  closeAtDrain({ onDrain, onAlone }, { all: () => [...open.keys()], canGo: ws => open.get(ws) === true, close })
  /** Of those that have come. @type {WeakMap<Socket, Overlap>} */
  const overlaps = new WeakMap()

  /** @param {WebSocket} ws @param {http.IncomingMessage} request @param {unknown[]} [more] of `connection` */
  function track (ws, request, more = []) {
    const { socket, url, rawHeaders, httpVersion } = request
    open.set(ws, false)
    socketOf.set(ws, socket)
    socket.once('close', () => open.delete(ws))
    if (isLast) setImmediate(close, ws)
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
        emitted < boundary.frames || overlaps.get(socket)?.isOver === false) return null
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
    const written = writeNothingOnce(socket, () => {
      if (!arrived) return
      overlaps.set(socket, new Overlap(socket, { arrived, close: (code, reason) => here?.close(code, reason) }))
    })
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

/**
 * The app's object stays open when its connection has gone, and what the app sends is passed on; see overlap.js.
 * @param {Socket} socket @param {() => void} onEnd called before its `close`
 * @returns {import('../features/migration/trails').Follow}
 */
function followed (socket, onEnd) {
  let onClose = () => {}
  const goOn = () => {
    Reflect.deleteProperty(socket, 'write')
    socket.removeListener('close', onClose)
  }
  return {
    begin (pass) {
      for (const name of /** @type {const} */ (['remoteAddress', 'localAddress'])) void socket[name] // is kept
      socket.write = (/** @type {any} */ chunk, /** @type {any} */ encoding, /** @type {any} */ callback = null) => {
        const [form, done] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, callback]
        pass(typeof chunk === 'string' ? Buffer.from(chunk, form) : Buffer.from(chunk))
        if (done) process.nextTick(done)
        return true
      }
      onClose = () => pass(null)
      socket.once('close', onClose)
    },
    back: goOn,
    end () {
      socket.removeListener('close', onClose)
      onEnd()
      socket.destroy()
    }
  }
}

/**
 * The response to the upgrade, which the client has had.
 * @param {Socket} socket @param {() => void} [done] called when it would have been sent
 * @returns {() => void} to be called when it would have been, at the latest
 */
function writeNothingOnce (socket, done) {
  const nothing = () => {
    Reflect.deleteProperty(socket, 'write')
    done?.()
    return true
  }
  socket.write = nothing
  return () => { if (socket.write === nothing) Reflect.deleteProperty(socket, 'write') }
}

/** The request. @param {Socket} socket @param {{ url: string, rawHeaders: string[], httpVersion: string }} head */
function requestOf (socket, { url, rawHeaders, httpVersion }) {
  const request = new http.IncomingMessage(socket)
  /** @type {Record<string, string>} */
  const headers = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toLowerCase()
    headers[name] = Object.hasOwn(headers, name)
      ? `${headers[name]}${name === 'cookie' ? '; ' : ', '}${rawHeaders[i + 1]}`
      : rawHeaders[i + 1]
  }
  return Object.assign(request, { method: 'GET', url, rawHeaders, httpVersion, headers, complete: true })
}

module.exports = { MOVED, moveWebSockets, followed, requestOf, writeNothingOnce }
