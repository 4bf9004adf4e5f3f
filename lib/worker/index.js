'use strict'

/**
 * `require('recycle-supervisor/worker')`: what an app may tell its supervisor, and hear from it. Outside a fleet
 * everything here does nothing, so that an app needs no condition around it.
 */

const { findApi } = require('./api')

/**
 * Asks for this worker to be replaced, as if it had crossed its budget: the replacement is ready first, and nothing is
 * dropped.
 *
 * @param {string} [reason] for the journal
 */
function requestRecycle (reason) {
  findApi()?.requestRecycle(reason)
}

/**
 * Calls `fn` once, when this worker begins to drain. WebSockets, subscriptions and jobs are the app's own to end.
 *
 * @param {(about: { reason: string, deadlineMs: number }) => void} fn `deadlineMs`: milliseconds from now until what is
 *   still open is cut
 */
function onDrain (fn) {
  if (findApi()) process.once(/** @type {any} */ ('recycle:drain'), fn)
}

/**
 * Keeps a connection in this worker: for authentication or other state that is tied to the connection (NTLM, say). When
 * the worker drains, a pinned connection is closed after its next response instead of being moved.
 *
 * @param {import('node:net').Socket} socket `request.socket`
 */
function pin (socket) {
  findApi()?.pin(socket)
}

/**
 * Calls `fn` once, when this worker has its slot: at once in most, and in a standby when it is called to serve, before
 * its first connection. What one worker of the fleet is to do alone, cron jobs say, begins here and not at the top of
 * the app, which a standby has run long before.
 *
 * @param {(about: { slot: number }) => void} fn `slot`: the worker's number, as RECYCLE_SLOT has it
 */
function onServe (fn) {
  findApi()?.onServe?.(fn)
}

module.exports = { requestRecycle, onDrain, onServe, pin }
