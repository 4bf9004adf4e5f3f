'use strict'

/**
 * Every internal of Node that recycle touches, in one place. Public API does not reach beneath a listening server or an
 * idle connection, and that is where this project lives. Each entry was checked on Node 20.20, 22.23, 24.21 and 26.10.
 *
 * | what                                   | used for                                                              |
 * |----------------------------------------|-----------------------------------------------------------------------|
 * | `net._createServerHandle()`            | primary: opens and binds a listening socket (cluster's own way)       |
 * | `handle.getpeername()`                 | primary: is a connection established, in this very turn               |
 * | `cluster._getServer()` in a worker     | acceptor: net asks it for the handle of each `listen()`                   |
 * | `handle.onconnection(err, client)`     | acceptor: net accepts what its handle gives it, as cluster's round robin  |
 * | `socket._handle`, `handle.readStop()`  | hand-off: stops reading, takes the handle out of the socket           |
 * | `handle.close()`, `handle.reset()`     | tracker: net closes a socket by one of them, whatever its listeners are |
 * | `handle.reading`                       | hand-off: net's note that a handle is being read                      |
 * | `process.send(…, handle)`              | hand-off: a raw TCP handle travels as `net.Native`, unread            |
 * | `internalMessage`, `NODE_…` messages   | channel: invisible to the app                                            |
 * | `NODE_HANDLE` without a handle         | channel: a socket for which the receiver had no descriptor               |
 * | `socket._handle.fd`                    | admission: how many descriptors are taken                             |
 * | `server[http.server.connections]`      | tracker: the parser knows a half-received head from an idle connection|
 * | `socket.parser.getCurrentBuffer()`     | tracker: is a pipelined request behind this one                       |
 * | `server._connections`, `_emitCloseIfDrained()` | inbox: adopted connections count                              |
 * | `response.shouldKeepAlive`             | close-notice: `Connection: close`, as Node itself decides it              |
 * | `secure._parent`                       | tracker: the connection beneath a TLS socket                          |
 * | `server._getServerData()`, `_setServerData()` | acceptor: TLS ticket keys are the same in every worker             |
 * | `socket.write()` beneath a session     | goaway: an HTTP/2 frame that Node has no call for                     |
 */

/** @param {any} server a listening http.Server @returns {any} Node's ConnectionsList; undefined where it is gone */
function connectionsList (server) {
  const symbol = Object.getOwnPropertySymbols(server).find(s => s.description === 'http.server.connections')
  return symbol && server[symbol]
}

/**
 * The sockets whose parser is between two requests. On Node 26 it also names those that have sent nothing yet.
 *
 * @param {any} server one that listens or has; of others than http's and https' there are none
 * @returns {any[]} net.Socket
 */
function betweenRequests (server) {
  return (connectionsList(server)?.idle() ?? []).map((/** @type {any} */ parser) => parser.socket).filter(Boolean)
}

/**
 * The bytes that the parser is working on right now.
 *
 * @param {any} socket
 * @returns {Buffer | undefined}
 */
function currentChunk (socket) {
  return socket.parser?.getCurrentBuffer?.()
}

/**
 * Takes the TCP or pipe handle out of a socket, unread bytes left in the kernel. The socket closes for the app, as if
 * the client had left, and the connection lives on in the handle: child_process does the same to a socket it sends.
 *
 * @param {any} socket
 * @returns {any} the handle
 */
function detachHandle (socket) {
  const handle = socket._handle
  handle.readStop()
  handle.reading = false // net's own note; the next socket around this handle would believe that it is being read
  socket._handle = null
  socket.destroy()
  return handle
}

/**
 * Tells when a connection's handle is closed, which is when its socket is destroyed. The app has no part in that, while
 * it may take any listener off a socket. Every handle has the same two functions: a closure for each would be felt with a
 * connection per request.
 *
 * @param {(handle: any) => void} closed
 * @returns {(handle: any) => boolean} watches a TCP or pipe handle; false: it is of another kind
 */
function handleWatcher (closed) {
  const { close, reset } = {
    /** @this {any} @param {() => void} [done] */
    close (done) {
      closed(this)
      return Object.getPrototypeOf(this).close.call(this, done)
    },
    /** @this {any} @param {() => void} [done] */
    reset (done) {
      closed(this)
      return Object.getPrototypeOf(this).reset.call(this, done)
    }
  }
  return handle => {
    if (typeof handle?.close !== 'function') return false
    if (handle.close === close) return true // it has come back
    if (Object.hasOwn(handle, 'close')) return false
    handle.close = close
    if (typeof handle.reset === 'function') handle.reset = reset
    return true
  }
}

/**
 * The self-test: what this Node lacks of what moving a connection takes. Asked of each server as it begins to listen;
 * where something is missing its connections stay, and are drained by `Connection: close`.
 *
 * @param {any} server a listening http.Server
 * @param {any} handle what its connections' handles inherit from
 * @returns {string | null} the first thing missing; null: nothing is
 */
function missingForHandoff (server, handle) {
  if (typeof connectionsList(server)?.idle !== 'function') return 'server[http.server.connections]'
  if (typeof handle.readStop !== 'function') return 'handle.readStop()'
  if (typeof server._connections !== 'number') return 'server._connections'
  if (typeof handle.close !== 'function') return 'handle.close()'
  return null
}

module.exports = { betweenRequests, currentChunk, detachHandle, handleWatcher, missingForHandoff }
