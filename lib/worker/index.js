'use strict'

/**
 * `require('recycle-supervisor/worker')`: what an app can ask of its supervisor, and be notified of. Outside a fleet
 * each function does nothing, so that an app needs no condition around it.
 */

const { version } = require('../../package.json')
const { findApi } = require('./api')
/** @import { Socket } from 'node:net' */

findApi()?.loaded?.(version)

/**
 * Asks for this worker to be replaced, as if it had crossed its budget: the replacement is ready first, and nothing is
 * dropped.
 * @param {string} [reason] for the journal
 */
function requestRecycle (reason) {
  findApi()?.requestRecycle(reason)
}

/**
 * Takes this worker out of the rotation for a while, to fill a cache, say: it gets no new connection, and its idle ones
 * move to other workers. What cannot move, such as a WebSocket, it serves on. The last worker in rotation stays in,
 * until another one is.
 * @param {string} [reason] for `recycle status` and the journal
 */
function pause (reason) {
  findApi()?.pause?.(reason)
}

/** Ends a pause(). */
function resume () {
  findApi()?.resume?.()
}

/**
 * Calls `fn` once, when this worker begins to drain. The app ends its WebSockets, subscriptions and jobs itself. With
 * `--sticky`, requests of this worker's sessions wait until the promise that `fn` returns is settled, for up to two
 * seconds.
 * @param {(about: { reason: string, deadlineMs: number, handoff: boolean }) => unknown} fn `deadlineMs`: milliseconds
 *   from now until what is still open is cut; `handoff`: connections can go to other workers, as they cannot at a stop;
 *   may return a promise
 */
function onDrain (fn) {
  findApi()?.onDrain?.(fn)
}

/**
 * With `--sticky`: the requests of this session reach this worker from now on, and later the workers that replace it.
 * For sessions that no response of this worker has begun.
 * @param {string} session as requests name it
 * @returns {Promise<void>} resolves when it holds: before that, the client must not be told of the session
 */
async function own (session) {
  await findApi()?.own?.(session)
}

/**
 * With `--sticky`: gives the state of a session to the worker that owns it now, which is this worker's replacement when
 * it is called in `onDrain()`. The requests of the session reach that worker afterwards.
 * @param {string} session as requests name it
 * @param {unknown} value what the structured clone algorithm can copy, up to 1 MB; or a function that returns it, which
 *   is called when no request of the session is in flight in this worker: until then the session stays here
 * @throws {Error} RECYCLE_SESSION_TOO_LARGE, or a DataCloneError
 */
function transfer (session, value) {
  findApi()?.transfer?.(session, value)
}

/**
 * With `--sticky`: calls `fn` for each state that another worker transfers to this one.
 * @template [Value=unknown] @param {(session: string, value: Value) => void} fn
 */
function onTransfer (fn) {
  findApi()?.onTransfer?.(fn)
}

/**
 * Keeps a connection in this worker: for authentication or other state that is tied to the connection (NTLM, say). When
 * the worker drains, a pinned connection is closed after its next response instead of being moved, and its request is
 * never handled by another worker.
 * @param {Socket} socket `request.socket`
 */
function pin (socket) {
  findApi()?.pin(socket)
}

/**
 * Says that the handler of this request may run once more, in another worker, whatever the request's method: where this
 * worker would have to cut it, and nothing has been answered, the request moves (`--replay`). It must have no body.
 * GET, HEAD and OPTIONS need no such call. The handler there finds how often this has happened in `request.replayed`;
 * here `close` is emitted, as if the client had left.
 * @param {import('node:http').ServerResponse} response
 */
function replayable (response) {
  findApi()?.replayable?.(response)
}

/**
 * Calls `fn` once, when this worker is ready and called to serve, before its first connection. What makes it ready,
 * such as listen(), must not wait for it. A standby has run the top of the app long before. What must not run in two
 * processes at a time begins in onLease().
 * @param {(about: { slot: number }) => void} fn `slot`: the worker's number, as RECYCLE_SLOT has it
 */
function onServe (fn) {
  findApi()?.onServe?.(fn)
}

/**
 * Calls `fn` once, when this worker alone has the number of its slot: the workers that had it before are gone, or have
 * ended what they did with it. For what must never run twice at a time: cron jobs, a consumer of a partition, ids made
 * of the number.
 * @param {(about: { slot: number }) => unknown} fn may return a function, or a promise of one, which is called when
 *   this worker drains; the next worker of the slot gets the lease when the promise that this returns is settled.
 *   Without one it gets it when this process has exited
 */
function onLease (fn) {
  findApi()?.onLease?.(fn)
}

/**
 * With `--fork mold`: calls `fn` in each worker when it has been forked, before it listens, in the order of the calls.
 * What workers cannot share is opened here: a connection, a log file, a generator of random numbers. Any other worker
 * does not call it.
 * @param {() => unknown} fn may return a promise, which is waited for
 */
function onFork (fn) {
  findApi()?.onFork?.(fn)
}

/**
 * With `--fork mold`: calls `fn` once, when the app has loaded and before workers are forked, so that they begin with
 * compiled code and full caches. What it opens must be closed again. Any other worker does not call it.
 * @param {() => unknown} fn may return a promise, which is waited for
 */
function warm (fn) {
  findApi()?.warm?.(fn)
}

/**
 * Adds a registry of the app's own to the metrics that the admin port serves, added up over the workers. That of
 * prom-client itself (`register`) is found without this call.
 * @param {{ getMetricsAsJSON: () => Promise<unknown[]> | unknown[] }} registry prom-client's
 */
function exposeMetrics (registry) {
  findApi()?.exposeMetrics?.(registry)
}

/**
 * Says that a connection whose protocol is the app's can go to another worker: one that has left HTTP by an upgrade, or
 * one of a `net` server. Its client notices nothing. Not of TLS.
 * @param {Socket} socket @param {string} kind which function takes it there, up to 100 characters; see onMoved()
 * @param {() => { state?: unknown, unread?: Buffer, onLeave?: () => void } | null} give called when this worker is
 *   ready to send it, again and again until it has gone: returns null where it cannot go now, as it is in the middle of
 *   something. `state`: what the structured clone algorithm can copy; `unread`: bytes that were read from the socket
 *   and not made use of; up to 1 MB each; `onLeave`: called when it goes, just before the socket is destroyed here, as
 *   if the client had left
 * @param {{ rebalance?: boolean }} [how] `rebalance`, true by default: it may also go while this worker stays, to even
 *   out what the workers do
 */
function movable (socket, kind, give, how = {}) {
  findApi()?.movable?.(socket, kind, give, how)
}

/**
 * Calls `fn` for each connection that another worker has given to this one by movable(). To be called as the app loads:
 * a worker without it takes none.
 * @template [State=unknown] @param {string} kind
 * @param {(socket: Socket, state: State, unread: Buffer) => void} fn `unread` comes before what the socket reads
 */
function onMoved (kind, fn) {
  findApi()?.onMoved?.(kind, fn)
}

/**
 * Has the WebSockets of this server go to another worker, between two messages, when this one leaves or has more than
 * its share. For the package ws, version 8.
 * @param {import('node:events').EventEmitter} server a WebSocketServer
 * @param {import('./websockets/web-sockets').How} [how]
 */
function webSockets (server, how = {}) {
  findApi()?.webSockets(server, how) // of the fleet's version, which the other workers have
}

/**
 * As webSockets(), for the clients of Socket.IO 4 that have a WebSocket: their ids, rooms and data are the same in the
 * other worker, as those of clients whose state is recovered. The server needs its option `connectionStateRecovery`.
 * @param {import('node:events').EventEmitter} io a Server, attached to its HTTP server
 * @param {{ rebalance?: boolean }} [how] as in movable() @throws {Error} where it is not, or has not that option
 */
function socketIO (io, how = {}) {
  findApi()?.socketIO(io, how)
}

module.exports = {
  movable, onMoved, webSockets, socketIO, exposeMetrics, requestRecycle, pause, resume, onDrain, onServe, onLease,
  onFork, warm, pin, replayable, own, transfer, onTransfer
}
