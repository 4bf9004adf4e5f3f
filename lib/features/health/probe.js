'use strict'

/**
 * A probe of one worker:
 *
 *     primary ── GET <path> ──▶ near end ═══ far end ──▶ the worker's HTTP server, as a connection that it has accepted
 *
 * The kernel's queue and the other workers have no part in it.
 */

const http = require('node:http')
const tls = require('node:tls')
/** @import { Descriptor } from '../../native/descriptor' */
/** @import { Handle } from '../../core/internals' */
/** @import { Socket } from 'node:net' */
/** @import { WorkerHandle } from '../../primary/workers/worker-handle' */
/** @import { Found } from './primary' */

const MOST_BYTES = 10_240 // of the body that are read, as in Kubernetes

/**
 * @param {WorkerHandle} handle @param {{ near: Socket, far: Handle | Descriptor }} pair
 * @param {{ path: string, timeoutMs: number, cancel: AbortController }} how `cancel`: the worker leaves
 * @returns {Promise<Found>}
 */
async function probe (handle, pair, { path, timeoutMs, cancel }) {
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    cancel.abort()
  }, timeoutMs)
  const found = await attempt(handle, pair, { path, timeoutMs, signal: cancel.signal })
  clearTimeout(deadline)
  return cancel.signal.aborted && !isLate ? { status: null, why: 'the worker leaves', isSkipped: true } : found
}

/**
 * @param {WorkerHandle} handle @param {{ near: Socket, far: Handle | Descriptor }} pair
 * @param {{ path: string, timeoutMs: number, signal: AbortSignal }} how @returns {Promise<Found>}
 */
async function attempt (handle, { near, far }, { path, timeoutMs, signal }) {
  near.on('error', () => {}) // the request's has it
  try {
    const answer = await handle.call('probe', {}, timeoutMs, far)
    far.close() // the worker has its own copy: from here on it alone ends the connection
    if (answer.why !== null) return { status: null, why: answer.why, isSkipped: answer.isSkipped === true }
    return { status: await request(near, { path, isTls: answer.isTls, signal }), why: null }
  } catch (error) {
    return {
      status: null, why: signal.aborted ? `no response within ${timeoutMs} ms` : /** @type {Error} */ (error).message
    }
  } finally {
    far.close()
    near.destroy()
  }
}

/** @param {Socket} socket @param {{ path: string, isTls: boolean, signal: AbortSignal }} how @returns its status */
function request (socket, { path, isTls, signal }) {
  const connection = isTls ? tls.connect({ socket, rejectUnauthorized: false, servername: 'localhost' }) : socket
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', 'user-agent': 'recycle-health', accept: '*/*', connection: 'close' }
    http.get({ createConnection: () => connection, path, headers, signal }, response => {
      const { statusCode = 0 } = response
      let bytes = 0
      response.on('data', chunk => { if ((bytes += chunk.length) > MOST_BYTES) resolve(statusCode) })
      response.on('close', () => resolve(statusCode))
      response.on('error', () => resolve(statusCode)) // the rest of it did not come in time
    }).on('error', reject)
  })
}

module.exports = { probe }
