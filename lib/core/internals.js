'use strict'

/**
 * Every internal of Node that recycle uses. Public API does not give access to a server's handle or to an idle
 * connection's. Each entry was checked on Node 20.20, 22.23, 24.21 and 26.10.
 *
 * | what                                   | used for                                                              |
 * |----------------------------------------|-----------------------------------------------------------------------|
 * | `net._createServerHandle()`            | primary: opens and binds a listening socket, as cluster does          |
 * | `net._createServerHandle().constructor` | http-warmup: the class of the handles of clients' connections        |
 * | `net._createServerHandle(fd)`          | primary: a listening socket that it has been given                    |
 * | `new ChildProcess()`                   | primary, as PID 1: whether Node announces the children that it starts |
 * | `ChildProcess.prototype.spawn()`       | primary: a worker that is forked or adopted gets a handle of its own  |
 * | `child_process._forkChild(fd)`         | orphan: a channel to the primary that adopts it                       |
 * | `handle.getpeername()`                 | primary: checks synchronously that a connection is established        |
 * | `cluster._getServer()` in a worker     | acceptor: net calls it for the handle of each `listen()`              |
 * | `server._handle`                       | app warm-up: the app's server has an address before it listens        |
 * | `handle.onconnection(err, client)`     | acceptor: passes a connection to net, as cluster's round robin does   |
 * | `socket._handle`, `handle.readStop()`  | hand-off: stops reading, takes the handle out of the socket           |
 * | `handle.close()`, `handle.reset()`     | tracker: net closes every socket by one of them                       |
 * | `kOnMessageComplete`                   | failover: the rest of a request's body has come                       |
 * | `parser.incoming.complete`             | failover: the body of a request has come to its end                   |
 * | `response._last`                       | failover: the connection closes behind it                             |
 * | `socket._writeGeneric()`, `_httpMessage` | failover: the last write of a response                              |
 * | `handle.bytesRead`, `bytesWritten`     | failover: what passed by this handle                                  |
 * | `handle.onread`                        | inbox: reads a connection that waits, which has no socket             |
 * | `handle.reading`                       | hand-off: net's flag that a handle is being read                      |
 * | `process.send(…, handle)`              | hand-off: a raw TCP handle is sent as `net.Native`, unread            |
 * | `socket._handle` of a `{ fd }`         | hand-off: the handle for a descriptor that came in a batch            |
 * | `internalMessage`, `NODE_…` messages   | channel: invisible to the app                                         |
 * | `onread` of a channel's `Pipe`         | primary: what a worker sends and Node cannot read is the worker's flaw |
 * | `writeUtf8String` of a `Pipe`, `kChannelHandle` | share-servers: a server that the app sends to a child        |
 * | `NODE_HANDLE` without a handle         | channel: a socket for which the receiver had no descriptor            |
 * | `socket._handle.fd`                    | admission: the number of descriptors in use                           |
 * | `server[http.server.connections]`      | tracker: tells a half-received head from an idle connection           |
 * | `socket.parser.getCurrentBuffer()`     | tracker: whether a pipelined request follows; sticky: a head's bytes  |
 * | `socket.parser.maxHeaderPairs`         | replay: whether the parser has left out headers                       |
 * | `kOnMessageBegin`, `kOnExecute`        | head-bytes: a head begins, a chunk is read                            |
 * | `socketOnError` listens to a socket    | head-bytes: its parser has refused nothing                            |
 * | `parser.onIncoming`                    | sticky: a head has ended                                              |
 * | `socket.push()`, `socket.parser` is set | preface: what the app reads before http has the socket        |
 * | `server._connections`, `_emitCloseIfDrained()` | inbox: counts adopted connections                             |
 * | `socket._server`                       | tracker: a probe is not counted                                       |
 * | `response.shouldKeepAlive`             | close-notice: makes Node send `Connection: close`                     |
 * | `response._header`                     | event streams; canary: a response without a body                      |
 * | `socket.destroySoon()`                 | lingering-close: how Node closes behind a response                    |
 * | `secure._parent`                       | tracker: the connection beneath a TLS socket                          |
 * | `server._getServerData()`, `_setServerData()` | acceptor: the same TLS ticket keys in every worker             |
 * | `stream._handle.setBlocking()`        | primary: its stdout and stderr never wait for their reader            |
 * | `process.stdout`, `stderr`: getters    | standard-streams: which of the two the app uses                       |
 * | `fs.write()`, `writeSync()`            | standard-streams: a log of the app's that cannot be written           |
 * | `socket.write()` beneath a session     | goaway: an HTTP/2 frame for which Node has no method                  |
 * | `read()`, `accept4()`, called by libuv | addon: what a client has sent; a lack of descriptors                  |
 * | `v8::Isolate::AddGCPrologueCallback()` | addon: counts collections; V8's public C++, if the process exports it |
 *
 * @typedef {{ address?: string, port?: number, family?: string }} Address
 * @typedef {object} Handle libuv's, of a socket or of a pipe, which may listen; numbers are its errors
 * @property {number} fd @property {number} bytesRead @property {number} bytesWritten @property {boolean} reading
 * @property {(fd: number) => number} open @property {(backlog: number) => number} listen
 * @property {((status: number, client: Handle) => void) | undefined} onconnection @property {() => number} readStart
 * @property {((this: Handle, bytes: ArrayBuffer | undefined) => void)} [onread] of a stream
 * @property {() => number} readStop @property {(done?: () => void) => void} close
 * @property {() => void} ref @property {() => void} unref
 * @property {(done?: () => void) => number} [reset] of a socket, as the next two
 * @property {(into: Address) => number} [getsockname] @property {(into: Address) => number} [getpeername]
 * @property {(mode: number) => number} [fchmod] of a pipe
 * @property {(isBlocking: boolean) => void} [setBlocking] of a stream that is written
 * @property {false} [isDescriptor] as a Descriptor's
 *
 * @typedef {{ onexit?: (code: number, signal: string) => void, close: () => void }} ProcessHandle of a ChildProcess
 *
 * @typedef {{ socket: Socket, incoming: import('node:http').IncomingMessage | null, maxHeaderPairs?: number,
 *   getCurrentBuffer?: () => Buffer, onIncoming: (request: import('node:http').IncomingMessage, keepAlive: boolean) =>
 *   number, constructor: Record<'kOnMessageBegin' | 'kOnMessageComplete' | 'kOnExecute', number>, [callback: number]:
 *   ((...args: unknown[]) => unknown) | null }} Parser http's, while a connection has it
 */

/** @import { Server, Socket } from 'node:net' */
/** @import { ServerResponse } from 'node:http' */

/**
 * @param {Server} server a listening http.Server @returns {{ idle?: () => Parser[] } | undefined} undefined if this
 *   Node has none
 */
function connectionsList (server) {
  const symbol = Object.getOwnPropertySymbols(server).find(s => s.description === 'http.server.connections')
  return symbol && Reflect.get(server, symbol)
}

/**
 * The sockets whose parser is between two requests; on Node 26 also those that have sent nothing yet.
 * @param {Server} server that listens or has listened; only http and https servers have such sockets
 * @returns {Socket[]}
 */
function betweenRequests (server) {
  return (connectionsList(server)?.idle?.() ?? []).map(({ socket }) => socket).filter(Boolean)
}

/** The bytes that the parser is processing. @param {Socket} socket @returns {Buffer | undefined} */
const currentChunk = socket => socket.parser?.getCurrentBuffer?.()

/** Node's index of a parser's callback. @type {number} */
let kOnMessageBegin

/** @param {Socket} socket @returns {boolean} the parser has not come to the end of the latest request */
const isWithinMessage = socket => socket.parser?.incoming?.complete === false

/**
 * To be called within a message.
 * @param {Socket} socket @param {() => void} ended called when the parser has come to its end, within the chunk that it
 *   parses
 */
function onMessageEnd (socket, ended) {
  const parser = /** @type {Parser} */ (socket.parser)
  const { kOnMessageComplete } = parser.constructor
  const { incoming, [kOnMessageComplete]: onComplete } = parser
  parser[kOnMessageComplete] = /** @this {unknown} */ function () {
    parser[kOnMessageComplete] = onComplete // Node uses its parsers again
    if (parser.incoming === incoming) ended()
    return onComplete?.call(this)
  }
}

/**
 * Node takes its own listener away as it tells the server of a `clientError`.
 * @param {Socket} socket that http reads @returns {boolean} what has come is no request, and the app has been told
 */
function isRefused (socket) {
  return !socket.listeners('error').some((/** @type {Function} */ { name }) => name === 'socketOnError')
}

/**
 * The names and values of a request's headers that the parser keeps: it leaves out those behind.
 * @param {Socket} socket @returns {number} 0: it keeps all
 */
const mostFieldsOf = socket => socket.parser?.maxHeaderPairs ?? 0

/**
 * Node takes it off a parser when its connection is done with it.
 * @param {Parser} parser http's, of a connection
 * @param {{ executed: () => void }} watcher `executed`: a chunk from the handle has been parsed
 */
function watchParser (parser, watcher) {
  const { kOnExecute } = parser.constructor
  const onExecute = /** @type {Function} */ (parser[kOnExecute])
  parser[kOnExecute] = (/** @type {unknown} */ result) => {
    watcher.executed()
    return onExecute(result)
  }
}

/**
 * Each message costs a call from the parser, as long as it is watched. Node takes it off the parser as well.
 * @param {Parser} parser @param {(() => void) | null} began called as the first byte of a message is parsed
 */
function watchBegin (parser, began) {
  kOnMessageBegin ??= parser.constructor.kOnMessageBegin
  parser[kOnMessageBegin] = began
}

/**
 * Takes the TCP or pipe handle out of a socket; unread bytes stay in the kernel. The app sees the socket close, as if
 * the client had left, and the handle keeps the connection. child_process does the same to a socket that it sends.
 * @param {Socket} socket @returns {Handle} the handle
 */
function detachHandle (socket) {
  const handle = takeHandle(socket)
  socket.destroy()
  return handle
}

/**
 * As detachHandle(), but the app goes on to see the socket as open.
 * @param {Socket} socket @returns {Handle} the handle
 */
function takeHandle (socket) {
  const handle = /** @type {Handle} */ (socket._handle)
  handle.readStop()
  handle.reading = false // else the next socket around this handle does not start to read
  socket._handle = null
  return handle
}

/** The socket goes on with the handle that was taken out of it. @param {Socket} socket @param {Handle} handle */
function returnHandle (socket, handle) {
  socket._handle = handle
  handle.reading = true
  handle.readStart()
}

/**
 * Reports when a connection's handle is closed, which is when its socket is destroyed. Unlike a listener on the socket,
 * the app cannot remove this. All handles share the same two functions: a closure for each would be measurable with a
 * connection per request.
 * @param {(handle: Handle, isReset: boolean) => void} closed called before it is
 * @returns {(handle: Handle) => boolean} watches a TCP or pipe handle; false: the handle is of another kind
 */
function handleWatcher (closed) {
  const { close, reset } = {
    /** @this {Handle} @param {() => void} [done] */
    close (done) {
      closed(this, false)
      return Object.getPrototypeOf(this).close.call(this, done)
    },
    /** @this {Handle} @param {() => void} [done] */
    reset (done) {
      closed(this, true)
      return Object.getPrototypeOf(this).reset.call(this, done)
    }
  }
  return handle => {
    if (typeof handle?.close !== 'function') return false
    if (handle.close === close) return true // the handle has come back to this worker
    if (Object.hasOwn(handle, 'close')) return false
    handle.close = close
    if (typeof handle.reset === 'function') handle.reset = reset
    return true
  }
}

/**
 * The self-test: what this Node lacks to move a connection. It runs for each server as it begins to listen. If
 * something is missing, the server's connections stay and are drained by `Connection: close`.
 * @param {Server} server a listening http.Server @param {Handle} handle prototype of its connections' handles
 * @returns {string | null} the first missing internal; null: none is missing
 */
function missingForHandoff (server, handle) {
  if (typeof connectionsList(server)?.idle !== 'function') return 'server[http.server.connections]'
  if (typeof handle.readStop !== 'function') return 'handle.readStop()'
  if (typeof server._connections !== 'number') return 'server._connections'
  if (typeof handle.close !== 'function') return 'handle.close()'
  return null
}

const kAway = Symbol('recycle.away') // of a server: how many of its connections are offered

/** @typedef {Server & { [kAway]?: number }} Counted */

/** @param {Counted} server @param {1 | -1} by a connection of it is offered, or is not any more */
function countAway (server, by) {
  server[kAway] = (server[kAway] ?? 0) + by
}

/**
 * The server would close one more. A connection that is offered may come back, and keeps its place until then.
 * @param {Counted} server @returns {boolean}
 */
function hasMost (server) {
  const { maxConnections, _connections, [kAway]: away = 0 } = server
  return maxConnections > 0 && _connections + away >= maxConnections
}

const EMPTY = /^content-length: *0\r/im
const NO_CHUNK = '0\r\n\r\n'
const EVENT_STREAM = /^content-type: *text\/event-stream/im

/**
 * @param {ServerResponse} response of HTTP/1, or a stream of HTTP/2
 * @returns {boolean} its head has been sent, and says that it is a stream of events
 */
function isEventStream (response) {
  if (response._header !== undefined) return response.headersSent && EVENT_STREAM.test(String(response._header))
  return String(response.sentHeaders?.['content-type']).startsWith('text/event-stream')
}

/**
 * @param {ServerResponse} response of HTTP/1, or a stream of HTTP/2
 * @param {number} sent bytes that its connection has been given since its request began, or more; NaN: not known
 * @returns {boolean} false: its head says that none follows, or nothing but the end of the chunks has
 */
function hasBody (response, sent) {
  const head = response._header ?? ''
  if (response.chunkedEncoding && sent <= head.length + NO_CHUNK.length) return false
  return !EMPTY.test(head) && response.sentHeaders?.['content-length'] !== '0'
}

module.exports = {
  hasBody, isEventStream, betweenRequests, isWithinMessage, isRefused, onMessageEnd,
  currentChunk, mostFieldsOf, watchBegin, watchParser, detachHandle, takeHandle, returnHandle, handleWatcher,
  missingForHandoff, countAway, hasMost
}
